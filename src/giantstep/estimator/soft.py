"""Soft steps: neurons that lean towards what matters instead of living on a span.

A giant step of many neurons leaves them with a covariance M.  Here M is learned at once:
tanh neurons with rows N(0, M), a ridge readout, then M <- A^(1/2), A = E[grad f grad f^T] the average
gradient outer product of the readout; twice.  It serves targets that are not low-dimensional; with
the diagonal of A alone it keeps to the columns of the table.
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
    draws, bias = key.standard_normal((p, d)), key.standard_normal(p)
    gains = np.resize(GAINS, p)
    root: Float[np.ndarray, "..."] = np.ones(d) if diagonal else np.eye(d)
    variance = np.einsum("ij,ij->j", x, x) / n
    model = None
    for step in range(STEPS + 1):
        rows = draws * root if diagonal else draws @ root
        # All rows share the mean length, so that M alone shapes them.
        length = np.sqrt(np.mean(rows**2 @ variance)) if diagonal else _deviation(rows, x)
        rows = rows * (gains / max(length, 1e-300))[:, None]
        ridge = fit_ridge(
            lambda block, rows=rows: TANH(x[block] @ rows.T + bias * gains), y, weight, p
        )
        model = SoftModel(rows, bias * gains, ridge)
        if step < STEPS:
            inner = model.outer_product(x)
            if diagonal:
                agop = np.maximum(np.einsum("pj,pq,qj->j", rows, inner, rows, optimize=True), 0.0)
                root = (agop + FLOOR * agop.mean() + 1e-300) ** 0.25
            else:
                values, vectors = np.linalg.eigh(rows.T @ inner @ rows)
                values = np.maximum(values, 0.0)
                powers = (values + FLOOR * values.mean() + 1e-300) ** 0.25
                root = (vectors * powers) @ vectors.T
    assert model is not None
    return model


def _deviation(rows: Float[np.ndarray, "p d"], x: Float[np.ndarray, "n d"]) -> float:
    """Root mean square of the pre-activations; some rows of x are enough."""
    some = x[: 2 * len(rows)]
    return float(np.sqrt(np.mean((some @ rows.T) ** 2)))
