"""Ridge regression on features that come in blocks, its penalty chosen by leave-one-out.

min over a, c of sum_i w_i |y_i - c - phi_i . a|^2 / n + penalty |a|^2, for several outputs at once.
With centred features the Gram matrix Phi^T W Phi / n = V diag(values) V^T serves every penalty, and
the residual of row i when it is left out is (y_i - yhat_i)/(1 - h_i), h_i its leverage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.blocks import blocks
from giantstep.problem.penalties import penalty_grid
from giantstep.simulation.readout import left_out

PENALTIES = penalty_grid(powers=(-6, 2), count=11)
"""Penalties tried, relative to the mean eigenvalue.

They are fewer than the 40 of theory and simulation: a fit of the regressor makes tens of such
regressions, and the error is flat around its minimum.  With another grid every score changes.
"""

Features = Callable[[slice], Float[np.ndarray, "b p"]]


@dataclass(frozen=True)
class Ridge:
    """A fitted ridge regression: weights, intercept, and what leave-one-out says of it.

    ``residual`` -> y less the prediction without the row itself; ``error`` -> its mean square, the
    mean over outputs too; ``penalty`` is absolute.
    """

    weights: Float[np.ndarray, "p m"]
    intercept: Float[np.ndarray, " m"]
    residual: Float[np.ndarray, "n m"]
    error: float
    penalty: float

    def __call__(self, features: Float[np.ndarray, "b p"]) -> Float[np.ndarray, "b m"]:
        return features @ self.weights + self.intercept


def fit_ridge(
    features: Features,
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    p: int,
    penalties: Float[np.ndarray, " q"] = PENALTIES,
    *,
    judged_per_feature: int = 20,
    least_judged: int = 1_000,
) -> Ridge:
    """The ridge regression with the least leave-one-out error.

    features -> the rows of a slice as features; where there is more than one slice it is called
    two or three times for each, so that memory holds one block.  The penalty is chosen on the
    first judged_per_feature p rows, or on least_judged; the leverage of further rows, a twentieth
    or less, is taken as its mean.
    """
    n, m = y.shape
    root = np.sqrt(weight)[:, None]
    scaled = _held(features, root, p)
    label_mean = weight @ y / n
    labels = (y - label_mean) * root
    mean, values, vectors, projected = _decomposed(scaled, labels, root, p)
    # Where all features are constant any penalty leaves the mean.
    scale = max(float(values.sum()) / max(p, 1), np.finfo(float).tiny / PENALTIES[0])
    shrunk = 1.0 / (values + penalties[:, None] * scale)
    # (outputs, penalties, p); the centred labels need no mean taken off the features here
    fitted = shrunk * projected.T[:, None, :]
    offset = mean @ vectors

    def judged_residuals(block: slice) -> Float[np.ndarray, "m q b"]:
        turned = (scaled(block) @ vectors - root[block] * offset).T
        # Without the only row of its weight there is nothing to predict: at most this leverage.
        alone = np.minimum(weight[block] / n, 1.0 - 1e-12)
        return left_out(turned, labels[block].T[:, None, :], shrunk / n, fitted, alone)

    judged = min(n, max(judged_per_feature * p, least_judged))
    parts = [judged_residuals(block) for block in blocks(judged, p)]
    best = int(np.argmin(np.sum([np.einsum("mqi,mqi->q", e, e) for e in parts], axis=0)))
    weights = vectors @ fitted[:, best].T
    residual = np.empty_like(y)
    residual[:judged] = np.concatenate([part[:, best].T for part in parts]) / root[:judged]
    # Weighted, for rows of any weight: 1 - w h, h the mean leverage of a row of weight one.
    mean_leverage = (1.0 + float(np.sum(values * shrunk[best]))) / n
    for block in blocks(n - judged, p):
        beyond = slice(judged + block.start, judged + block.stop)
        e = labels[beyond] - scaled(beyond) @ weights + root[beyond] * (mean @ weights)
        residual[beyond] = e / (1.0 - weight[beyond, None] * mean_leverage) / root[beyond]
    error = float(weight @ np.einsum("im,im->i", residual, residual)) / (n * m)
    penalty = float(penalties[best] * scale)
    return Ridge(weights, label_mean - mean @ weights, residual, error, penalty)


def _decomposed(
    scaled: Features, labels: Float[np.ndarray, "n m"], root: Float[np.ndarray, "n 1"], p: int
) -> tuple[np.ndarray, ...]:
    """Mean of the features, eigenvalues and -vectors of their covariance, labels along these."""
    n, m = labels.shape
    total, gram, cross = np.zeros(p), np.zeros((p, p)), np.zeros((p, m))
    for block in blocks(n, p):
        phi = scaled(block)
        total += root[block, 0] @ phi
        gram += phi.T @ phi
        cross += phi.T @ labels[block]
    mean = total / n
    values, vectors = np.linalg.eigh(gram / n - np.outer(mean, mean))
    return mean, np.maximum(values, 0.0), vectors, vectors.T @ (cross / n)


def _held(features: Features, root: Float[np.ndarray, "n 1"], p: int) -> Features:
    """Features times the roots of the weights; those of one block are kept."""
    n = len(root)
    if len(list(blocks(n, p))) == 1:
        return (features(slice(0, n)) * root).__getitem__
    return lambda block: features(block) * root[block]
