"""Probabilities of classes: a logistic regression of all coordinates, and scores calibrated by it.

The probabilities are softmax_k(log f_k + sum_q theta_q evidence_qk), f_k the share of class k among
the labels.  The evidence is what each of three things says beyond these shares:

    s_k - f_k            the score of class k, an estimate of its probability by least squares;
    log s_k - log f_k    so that a score that is a probability already stays one;
    l_k - log f_k        l_k the log-probability of the linear logistic regression, whose shape
                         suits classes that lie side by side.

The weights theta_q >= 0 are those of least log loss on rows that no model saw.  They are not below
zero: a fold lacks the rows that it leaves out, and sees a class the less the more of it came there,
so that on noise a regression of the fold has a negative weight.  Where they do not gain on the
shares by SURE standard errors over these rows, chance may explain the gain, and the probabilities
are the shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression

from giantstep.estimator.parts import beyond

STRENGTHS = tuple(10.0**power for power in range(-3, 2))
"""Inverse penalties of the logistic regression: the optimum is flat."""

LEAST_PROBABILITY = 1e-6
"""Probability at least of which a logarithm is taken."""

LEAST_SHARE = 0.1
"""Score at least, as a share of the frequency of its class, of which a logarithm is taken."""

PRIOR = 1.0
"""Penalty of a calibration, in rows: classes that are apart on all rows are no certainty."""

SURE = 2.0
"""Standard errors by which evidence must gain on the class shares: on labels that depend on
nothing, 60 draws of 100 to 400 rows gained 1.7 of them at most."""

NEWTON_STEPS = 50
"""Newton steps at most; some eight suffice."""


@dataclass(frozen=True)
class Linear:
    """Linear logistic regression of some of the classes; without a model all are as probable."""

    model: LogisticRegression | None
    classes: int

    def logits(self, x: Float[np.ndarray, "n c"]) -> Float[np.ndarray, "n k"]:
        """Log-probabilities of all classes, of mean zero in each row."""
        found = np.full((len(x), self.classes), LEAST_PROBABILITY)
        if self.model is not None:
            found[:, self.model.classes_] = self.model.predict_proba(x)
        return _centred_log(found)


def fit_logistic(
    x: Float[np.ndarray, "n c"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
    classes: int,
    *,
    strengths: Sequence[float] = STRENGTHS,
) -> list[Linear]:
    """Logistic regressions of class numbers, one for each strength in rising order."""
    if len(np.unique(place)) < 2 or x.shape[1] == 0:
        return [Linear(None, classes)] * len(strengths)
    found, start = [], None
    for strength in strengths:
        model = LogisticRegression(C=strength, max_iter=10_000, warm_start=True)
        if start is not None:
            model.coef_, model.intercept_ = start
        model.fit(x, place, sample_weight=weight)
        start = model.coef_.copy(), model.intercept_.copy()
        found.append(Linear(model, classes))
    return found


def row_losses(
    probability: Float[np.ndarray, "n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
) -> Float[np.ndarray, " n"]:
    """Weighted - log of the probability of the class that came, row by row."""
    seen = probability[np.arange(len(place)), place]
    return -weight * np.log(np.maximum(seen, LEAST_PROBABILITY))


def log_loss(
    probability: Float[np.ndarray, "n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
) -> float:
    """Weighted mean of - log of the probability of the class that came."""
    return float(row_losses(probability, place, weight).sum() / weight.sum())


def softmax(logits: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    """Probabilities in proportion to exp of the logits."""
    found = np.exp(logits - logits.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def evidence(
    scores: Float[np.ndarray, "n k"],
    frequency: Float[np.ndarray, " k"],
    logits: Float[np.ndarray, "n k"],
) -> Float[np.ndarray, "3 n k"]:
    """What scores, their logarithms and the linear regression say beyond the class shares."""
    known = _centred_log(frequency[None])
    logarithms = _centred_log(np.maximum(scores, LEAST_SHARE * frequency))
    return np.stack([scores - frequency, logarithms - known, logits - known])


def probabilities(
    parts: Float[np.ndarray, "q n k"],
    theta: Float[np.ndarray, " q"],
    frequency: Float[np.ndarray, " k"],
) -> Float[np.ndarray, "n k"]:
    """Class shares that are moved by the weighed evidence."""
    return softmax(np.log(frequency) + np.tensordot(theta, parts, 1))


def _centred_log(probability: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    found = np.log(np.maximum(probability, LEAST_PROBABILITY))
    return found - found.mean(axis=1, keepdims=True)


def calibrate(
    parts: Float[np.ndarray, "q n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
    frequency: Float[np.ndarray, " k"],
) -> Float[np.ndarray, " q"]:
    """The weights theta >= 0 of least log loss; 0 where chance may explain what they gain."""
    theta = np.zeros(len(parts))
    used = list(range(len(parts)))
    while used:
        theta[:] = 0.0
        theta[used] = _least_loss(parts[used], place, weight, frequency)
        if theta.min() >= 0.0:
            break
        used.remove(int(np.argmin(theta)))
        theta[:] = 0.0
    losses = [
        row_losses(probabilities(parts, weights, frequency), place, weight)
        for weights in (np.zeros(len(parts)), theta)
    ]
    return theta if beyond(losses[0] - losses[1], SURE) else np.zeros(len(parts))


def _least_loss(
    parts: Float[np.ndarray, "q n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
    frequency: Float[np.ndarray, " k"],
) -> Float[np.ndarray, " q"]:
    """The weights of least log loss, with a ridge of PRIOR rows on parts of size one."""
    size = np.sqrt(np.mean(parts**2, axis=(1, 2)))
    size[size == 0] = 1.0
    parts = parts / size[:, None, None]
    share = weight / weight.sum()
    ridge = PRIOR / len(place)
    came = np.eye(parts.shape[2])[place]

    def loss(theta: Float[np.ndarray, " q"]) -> float:
        found = probabilities(parts, theta, frequency)
        return log_loss(found, place, weight) + ridge * float(theta @ theta) / 2

    theta = np.zeros(len(parts))
    for _ in range(NEWTON_STEPS):
        found = probabilities(parts, theta, frequency)
        gradient = np.einsum("qnk,nk,n->q", parts, found - came, share) + ridge * theta
        mean = np.einsum("qnk,nk->qn", parts, found)
        curvature = np.einsum("qnk,rnk,nk,n->qr", parts, parts, found, share, optimize=True)
        curvature += ridge * np.eye(len(theta)) - (mean * share) @ mean.T
        step = np.linalg.solve(curvature, gradient)
        # The loss is convex: a step that is short enough lowers it.
        length, before = 1.0, loss(theta)
        while loss(theta - length * step) > before and length > np.finfo(float).eps:
            length /= 2
        theta = theta - length * step
        if float(gradient @ step) < 1e-12:  # twice what is left to gain
            break
    return theta / size
