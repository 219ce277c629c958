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

from giantstep.estimator.rows import blocks
from giantstep.simulation.readout import left_out

PENALTIES = np.logspace(-6, 2, 11)
"""Penalties tried, relative to the mean eigenvalue: the optimum is flat."""

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
) -> Ridge:
    """The ridge regression with the least leave-one-out error.

    features -> the rows of a slice as features; where there is more than one slice it is called
    three times for each, so that memory holds one block.
    """
    n, m = y.shape
    parts = list(blocks(n, p))
    root = np.sqrt(weight)[:, None]
    if len(parts) == 1:
        # One block is kept, and read three times.
        held = features(parts[0]) * root

        def scaled(block: slice) -> Float[np.ndarray, "b p"]:
            return held
    else:

        def scaled(block: slice) -> Float[np.ndarray, "b p"]:
            return features(block) * root[block]

    label_mean = weight @ y / n
    labels = (y - label_mean) * root
    total, gram, cross = np.zeros(p), np.zeros((p, p)), np.zeros((p, m))
    for block in parts:
        phi = scaled(block)
        total += root[block, 0] @ phi
        gram += phi.T @ phi
        cross += phi.T @ labels[block]
    mean = total / n
    values, vectors = np.linalg.eigh(gram / n - np.outer(mean, mean))
    values = np.maximum(values, 0.0)
    # Where all features are constant any penalty leaves the mean.
    scale = max(float(values.sum()) / max(p, 1), np.finfo(float).tiny / PENALTIES[0])
    shrunk = 1.0 / (values + penalties[:, None] * scale)
    # (outputs, penalties, p); the centred labels need no mean taken off the features here
    fitted = shrunk * (vectors.T @ (cross / n)).T[:, None, :]
    offset = mean @ vectors

    def residuals(block: slice, chosen: slice) -> Float[np.ndarray, "m q b"]:
        turned = (scaled(block) @ vectors - root[block] * offset).T
        return left_out(
            turned,
            labels[block].T[:, None, :],
            shrunk[chosen] / n,
            fitted[:, chosen],
            weight[block] / n,
        )

    everything = slice(0, len(penalties))
    errors = np.zeros(len(penalties))
    for block in parts:
        found = residuals(block, everything)
        errors += np.einsum("mqi,mqi->q", found, found)
    best = int(np.argmin(errors))
    residual = np.empty_like(y)
    for block in parts:
        if len(parts) > 1:
            found = residuals(block, slice(best, best + 1))
        residual[block] = found[:, best if len(parts) == 1 else 0].T / root[block]
    weights = vectors @ fitted[:, best].T
    return Ridge(
        weights=weights,
        intercept=label_mean - mean @ weights,
        residual=residual,
        error=float(errors[best]) / (n * m),
        penalty=float(penalties[best] * scale),
    )
