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
shares by some standard errors over these rows, chance may explain the gain, and the probabilities
are the shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import root
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from giantstep.errors import NotConvergedError
from giantstep.estimator.parts import beyond
from giantstep.estimator.recipe import Recipe


def bounded_log(
    probability: Float[np.ndarray, "*n"], least: float = 1e-6
) -> Float[np.ndarray, "*n"]:
    """log p, of probabilities below ``least`` that of ``least``."""
    return np.log(np.maximum(probability, least))


def _centred_log(probability: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    """Bounded logarithms, of mean zero in each row."""
    logarithms = bounded_log(probability)
    return logarithms - logarithms.mean(axis=1, keepdims=True)


@dataclass(frozen=True)
class Linear:
    """Linear logistic regression of some of the classes; without a model all are as probable."""

    model: LogisticRegression | None
    classes: int

    def logits(self, x: Float[np.ndarray, "n c"]) -> Float[np.ndarray, "n k"]:
        """Log-probabilities of all classes, of mean zero in each row."""
        probability = np.zeros((len(x), self.classes))
        if self.model is not None:
            probability[:, self.model.classes_] = self.model.predict_proba(x)
        return _centred_log(probability)


def fit_logistic(
    x: Float[np.ndarray, "n c"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
    classes: int,
    strengths: Sequence[float],
) -> list[Linear]:
    """Logistic regressions of class numbers, one for each inverse penalty in rising order."""
    if len(np.unique(place)) < 2 or x.shape[1] == 0:
        return [Linear(None, classes)] * len(strengths)
    models, start = [], None
    for strength in strengths:
        model = LogisticRegression(C=strength, max_iter=10_000, warm_start=True)
        if start is not None:
            model.coef_, model.intercept_ = start
        model.fit(x, place, sample_weight=weight)
        start = model.coef_.copy(), model.intercept_.copy()
        models.append(Linear(model, classes))
    return models


def log_losses(
    probability: Float[np.ndarray, "n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
) -> Float[np.ndarray, " n"]:
    """Weighted - log of the probability of the class that came, row by row.

    scikit-learn's log_loss is their mean, with no bound on the loss of a single row.
    """
    return -weight * bounded_log(probability[np.arange(len(place)), place])


def evidence(
    scores: Float[np.ndarray, "n k"],
    frequency: Float[np.ndarray, " k"],
    logits: Float[np.ndarray, "n k"],
    least: float = 0.1,
) -> Float[np.ndarray, "3 n k"]:
    """What scores, their logarithms and the linear regression say beyond the class shares.

    least -> score, as a share of its class's frequency, below which a logarithm is that of it.
    """
    shares = _centred_log(frequency[None])
    logarithms = _centred_log(np.maximum(scores, least * frequency))
    return np.stack([scores - frequency, logarithms - shares, logits - shares])


def probabilities(
    parts: Float[np.ndarray, "q n k"],
    theta: Float[np.ndarray, " q"],
    frequency: Float[np.ndarray, " k"],
) -> Float[np.ndarray, "n k"]:
    """Class shares that are moved by the weighed evidence."""
    return softmax(np.log(frequency) + np.tensordot(theta, parts, 1), axis=1)


def calibrate(
    parts: Float[np.ndarray, "q n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
    frequency: Float[np.ndarray, " k"],
    recipe: Recipe,
) -> Float[np.ndarray, " q"]:
    """The weights theta >= 0 of least log loss; 0 where chance may explain what they gain."""
    theta = np.zeros(len(parts))
    used = list(range(len(parts)))
    while used:
        theta[:] = 0.0
        theta[used] = _least_loss(parts[used], place, weight, frequency, recipe.calibration_rows)
        if theta.min() >= 0.0:
            break
        used.remove(int(np.argmin(theta)))
        theta[:] = 0.0
    losses = [
        log_losses(probabilities(parts, weights, frequency), place, weight)
        for weights in (np.zeros(len(parts)), theta)
    ]
    sure = beyond(losses[0] - losses[1], recipe.calibration_errors)
    return theta if sure else np.zeros(len(parts))


def _least_loss(
    parts: Float[np.ndarray, "q n k"],
    place: Int[np.ndarray, " n"],
    weight: Float[np.ndarray, " n"],
    frequency: Float[np.ndarray, " k"],
    prior: float,
) -> Float[np.ndarray, " q"]:
    """The weights of least log loss, with a ridge of ``prior`` rows on parts of size one."""
    size = np.sqrt(np.mean(parts**2, axis=(1, 2)))
    size[size == 0] = 1.0
    parts = parts / size[:, None, None]
    share = weight / weight.sum()
    ridge = prior / len(place)
    came = np.eye(parts.shape[2])[place]

    def gradient(theta: Float[np.ndarray, " q"]) -> Float[np.ndarray, " q"]:
        chance = probabilities(parts, theta, frequency)
        return np.einsum("qnk,nk,n->q", parts, chance - came, share) + ridge * theta

    def curvature(theta: Float[np.ndarray, " q"]) -> Float[np.ndarray, "q q"]:
        chance = probabilities(parts, theta, frequency)
        mean = np.einsum("qnk,nk->qn", parts, chance)
        squares = np.einsum("qnk,rnk,nk,n->qr", parts, parts, chance, share, optimize=True)
        return squares + ridge * np.eye(len(theta)) - (mean * share) @ mean.T

    # The loss is convex: where its gradient vanishes it is least.
    solution = root(gradient, np.zeros(len(parts)), jac=curvature, tol=1e-13)
    if not np.abs(solution.fun).max() < 1e-9:
        raise NotConvergedError(f"the calibration did not converge: {solution.message}")
    return solution.x / size
