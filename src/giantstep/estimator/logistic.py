"""Probabilities of classes: a logistic regression of all coordinates, and scores calibrated by it.

The probabilities are softmax_k(sum_f theta_f feature_fk), one weight theta_f for all classes:

    s_k      the score of class k, an estimate of its probability by least squares;
    log s_k  so that a score that is a probability already stays one;
    l_k      the log-probability of the linear logistic regression, whose shape suits classes that
             lie side by side.

Three weights on rows that no model saw cannot make much of chance, however many the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression

STRENGTHS = tuple(10.0**power for power in range(-3, 2))
"""Inverse penalties of the logistic regression: the optimum is flat."""

LEAST_PROBABILITY = 1e-6
"""Probability at least of which a logarithm is taken."""

LEAST_SHARE = 0.1
"""Score at least, as a share of the frequency of its class, of which a logarithm is taken."""

PRIOR = 1.0
"""Penalty of a calibration, in rows: classes that are apart on all rows are no certainty."""

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


def log_loss(
    probability: Float[np.ndarray, "n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
) -> float:
    """Mean of - log of the probability of the class that came."""
    seen = probability[np.arange(len(place)), place]
    return float(weight @ -np.log(np.maximum(seen, LEAST_PROBABILITY)) / weight.sum())


def softmax(logits: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    """Probabilities in proportion to exp of the logits."""
    found = np.exp(logits - logits.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def features(
    scores: Float[np.ndarray, "n k"],
    frequency: Float[np.ndarray, " k"],
    logits: Float[np.ndarray, "n k"],
) -> Float[np.ndarray, "3 n k"]:
    """What the calibration weighs: scores, their logarithms, and the linear regression."""
    return np.stack([scores, _centred_log(np.maximum(scores, LEAST_SHARE * frequency)), logits])


def _centred_log(probability: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    found = np.log(np.maximum(probability, LEAST_PROBABILITY))
    return found - found.mean(axis=1, keepdims=True)


def calibrate(
    parts: Float[np.ndarray, "f n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
) -> Float[np.ndarray, " f"]:
    """The weights theta of least log loss, with a ridge of PRIOR rows on parts of size one."""
    size = np.sqrt(np.mean(parts**2, axis=(1, 2)))
    size[size == 0] = 1.0
    parts = parts / size[:, None, None]
    share = weight / weight.sum()
    ridge = PRIOR / len(place)
    came = np.eye(parts.shape[2])[place]

    def loss(theta: Float[np.ndarray, " f"]) -> float:
        found = softmax(np.tensordot(theta, parts, 1))
        return log_loss(found, place, weight) + ridge * float(theta @ theta) / 2

    theta = np.zeros(len(parts))
    for _ in range(NEWTON_STEPS):
        found = softmax(np.tensordot(theta, parts, 1))
        gradient = np.einsum("fnk,nk,n->f", parts, found - came, share) + ridge * theta
        mean = np.einsum("fnk,nk->fn", parts, found)
        curvature = np.einsum("fnk,gnk,nk,n->fg", parts, parts, found, share, optimize=True)
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
