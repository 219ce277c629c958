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
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

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
    mean over outputs too; ``penalty`` is absolute, ``relative`` over the mean eigenvalue.
    """

    weights: Float[np.ndarray, "p m"]
    intercept: Float[np.ndarray, " m"]
    residual: Float[np.ndarray, "n m"]
    error: float
    penalty: float
    relative: float

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
    label_mean = weight @ y / n
    rows = _Rows(_held(features, root, p), (y - label_mean) * root, root)
    mean, covariance, cross = _moments(rows, p)
    # Where all features are constant any penalty leaves the mean.
    scale = max(float(np.trace(covariance)) / max(p, 1), np.finfo(float).tiny / PENALTIES[0])
    judged = min(n, max(judged_per_feature * p, least_judged))
    solve = _at_one_penalty if len(penalties) == 1 and p else _at_best_penalty
    weights, kept, freedoms, best = solve(
        rows, mean, covariance, cross, penalties * scale, list(blocks(judged, p))
    )
    residual = np.empty_like(y)
    residual[:judged] = kept / root[:judged]
    # Weighted, for rows of any weight: 1 - w h, h the mean leverage of a row of weight one.
    mean_leverage = (1.0 + freedoms) / n
    for block in blocks(n - judged, p):
        beyond = slice(judged + block.start, judged + block.stop)
        e = rows.labels[beyond] - rows.features(beyond) @ weights + root[beyond] * (mean @ weights)
        residual[beyond] = e / (1.0 - weight[beyond, None] * mean_leverage) / root[beyond]
    return Ridge(
        weights=weights,
        intercept=label_mean - mean @ weights,
        residual=residual,
        error=float(weight @ np.einsum("im,im->i", residual, residual)) / (n * m),
        penalty=float(penalties[best] * scale),
        relative=float(penalties[best]),
    )


@dataclass(frozen=True)
class _Rows:
    """Features, centred labels and ones, all times the roots of the weights."""

    features: Features
    labels: Float[np.ndarray, "n m"]
    root: Float[np.ndarray, "n 1"]

    def own_leverage(self, block: slice) -> Float[np.ndarray, " b"]:
        """The leverage of the fitted mean."""
        # Without the only row of its weight there is nothing to predict: at most this leverage.
        return np.minimum(self.root[block, 0] ** 2 / len(self.root), 1.0 - 1e-12)


def _moments(
    rows: _Rows, p: int
) -> tuple[Float[np.ndarray, " p"], Float[np.ndarray, "p p"], Float[np.ndarray, "p m"]]:
    """Mean and covariance of the features, and their covariance with the labels."""
    n, m = rows.labels.shape
    total, gram, cross = np.zeros(p), np.zeros((p, p)), np.zeros((p, m))
    for block in blocks(n, p):
        phi = rows.features(block)
        total += rows.root[block, 0] @ phi
        gram += phi.T @ phi
        cross += phi.T @ rows.labels[block]
    mean = total / n
    return mean, gram / n - np.outer(mean, mean), cross / n


Solved = tuple[Float[np.ndarray, "p m"], Float[np.ndarray, "j m"], float, int]
"""Weights, leave-one-out residuals of the judged rows, freedoms, and which penalty was chosen."""


def _at_best_penalty(
    rows: _Rows,
    mean: Float[np.ndarray, " p"],
    covariance: Float[np.ndarray, "p p"],
    cross: Float[np.ndarray, "p m"],
    penalties: Float[np.ndarray, " q"],
    judged: list[slice],
) -> Solved:
    """The penalty of least leave-one-out error, all from one eigendecomposition."""
    n = len(rows.root)
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, 0.0)
    shrunk = 1.0 / (values + penalties[:, None])
    # (outputs, penalties, p); the centred labels need no mean taken off the features here
    fitted = shrunk * (vectors.T @ cross).T[:, None, :]
    offset = mean @ vectors
    parts = []
    for block in judged:
        turned = rows.features(block) @ vectors
        turned -= rows.root[block] * offset
        labels = rows.labels[block].T[:, None, :]
        parts.append(left_out(turned.T, labels, shrunk / n, fitted, rows.own_leverage(block)))
    best = int(np.argmin(np.sum([np.einsum("mqi,mqi->q", e, e) for e in parts], axis=0)))
    kept = np.concatenate([part[:, best].T for part in parts])
    return vectors @ fitted[:, best].T, kept, float(np.sum(values * shrunk[best])), best


def _at_one_penalty(
    rows: _Rows,
    mean: Float[np.ndarray, " p"],
    covariance: Float[np.ndarray, "p p"],
    cross: Float[np.ndarray, "p m"],
    penalties: Float[np.ndarray, " 1"],
    judged: list[slice],
) -> Solved:
    """The only penalty, by a Cholesky factor: a third of the work of all penalties.

    Where all features are constant up to rounding there is no such factor.
    """
    n, p = len(rows.root), len(mean)
    factor, failed = dpotrf(covariance + penalties[0] * np.eye(p), lower=1)
    if failed:
        return _at_best_penalty(rows, mean, covariance, cross, penalties, judged)
    inverse, _ = dtrtri(factor, lower=1)
    weights = inverse.T @ (inverse @ cross)
    parts = []
    for block in judged:
        centred = rows.features(block) - rows.root[block] * mean
        residual = rows.labels[block] - centred @ weights
        half = dtrmm(1.0, inverse, centred.T, lower=1, overwrite_b=1)
        leverage = np.einsum("pi,pi->i", half, half) / n + rows.own_leverage(block)
        parts.append(residual / (1.0 - leverage)[:, None])
    freedoms = p - float(penalties[0]) * float(np.einsum("ij,ij->", inverse, inverse))
    return weights, np.concatenate(parts), freedoms, 0


def _held(features: Features, root: Float[np.ndarray, "n 1"], p: int) -> Features:
    """Features times the roots of the weights; those of one block are kept."""
    n = len(root)

    def rooted(block: slice) -> Float[np.ndarray, "b p"]:
        part = features(block)
        return part if equal else part * root[block]

    # Weights that are equal are ones: their mean is one.
    equal = bool(np.ptp(root) == 0.0)
    return rooted(slice(0, n)).__getitem__ if len(list(blocks(n, p))) == 1 else rooted
