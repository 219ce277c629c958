"""Soft steps: neurons that lean towards what matters instead of living on a span.

A giant step of many neurons leaves them with a covariance M.  Here M is learned at once:
tanh neurons with rows N(0, M), a ridge readout, then M <- A^(1/2), A = E[grad f grad f^T] the
average gradient outer product of the readout; twice.  It serves targets that are not
low-dimensional; with the diagonal of A alone it keeps to the columns of the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.ridge import Ridge, fit_ridge
from giantstep.estimator.rows import blocks
from giantstep.problem.activation import make_activation

TANH = make_activation("tanh")

NEURONS = 256
"""Neurons at most; more improve tables of some hundred rows by less than .002."""

STEPS = 2
"""Times that M is learned."""

GAINS = (0.5, 1.0, 2.0)
"""Standard deviations of the pre-activations, each for a third of the neurons."""

FLOOR = 1e-3
"""Least eigenvalue of M relative to its mean: what a first step missed a second one may find."""


@dataclass(frozen=True)
class SoftModel:
    """tanh neurons with learned rows and their readout."""

    rows: Float[np.ndarray, "p d"]
    bias: Float[np.ndarray, " p"]
    ridge: Ridge

    def predict(self, x: Float[np.ndarray, "b d"]) -> Float[np.ndarray, "b m"]:
        """Values of the network, block by block."""
        found = np.empty((len(x), len(self.ridge.intercept)))
        for block in blocks(len(x), len(self.rows)):
            found[block] = self.ridge(TANH(x[block] @ self.rows.T + self.bias))
        return found

    def outer_product(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "p p"]:
        """(a a^T) * E[sigma' sigma'^T]: W^T of it W is the average gradient outer product."""
        p = len(self.rows)
        total = np.zeros((p, p))
        for block in blocks(len(x), p):
            slopes = TANH.derivative(x[block] @ self.rows.T + self.bias)
            total += slopes.T @ slopes
        return total / len(x) * (self.ridge.weights @ self.ridge.weights.T)


def fit_soft(
    x: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    *,
    diagonal: bool,
    seed: int,
) -> SoftModel:
    """Soft steps on inputs of mean zero."""
    n, d = x.shape
    p = min(NEURONS, n)
    key = np.random.default_rng([seed, d])
    gains = np.resize(GAINS, p)
    draws, bias = key.standard_normal((p, d)), gains * key.standard_normal(p)
    model = _fitted(_scaled(draws, gains, x), bias, x, y, weight)
    for _ in range(STEPS):
        rows, inner = model.rows, model.outer_product(x)
        if diagonal:
            agop = np.maximum(np.einsum("pj,pq,qj->j", rows, inner, rows, optimize=True), 0.0)
            rows = draws * _fourth_root(agop)
        else:
            values, vectors = np.linalg.eigh(rows.T @ inner @ rows)
            rows = draws @ ((vectors * _fourth_root(np.maximum(values, 0.0))) @ vectors.T)
        model = _fitted(_scaled(rows, gains, x), bias, x, y, weight)
    return model


def _fourth_root(values: Float[np.ndarray, " d"]) -> Float[np.ndarray, " d"]:
    """M^(1/2) = A^(1/4), bounded below."""
    # The last term keeps a readout without slopes from giving rows of zero.
    return (values + FLOOR * values.mean() + np.finfo(float).tiny) ** 0.25


def _fitted(
    rows: Float[np.ndarray, "p d"],
    bias: Float[np.ndarray, " p"],
    x: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
) -> SoftModel:
    def features(block: slice) -> Float[np.ndarray, "b p"]:
        return TANH(x[block] @ rows.T + bias)

    return SoftModel(rows, bias, fit_ridge(features, y, weight, len(rows)))


def _scaled(
    rows: Float[np.ndarray, "p d"], gains: Float[np.ndarray, " p"], x: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "p d"]:
    """Rows whose pre-activations have root mean square one all together, times their gains."""
    some = x[: 2 * len(rows)]
    size = float(np.sqrt(np.mean((some @ rows.T) ** 2)))
    return rows * (gains / max(size, np.finfo(float).tiny))[:, None]
