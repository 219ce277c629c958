"""Soft steps: neurons that lean towards what matters instead of living on a span.

A giant step of many neurons leaves them with a covariance M.  Here M is learned at once:
tanh neurons with rows N(0, M), a ridge readout, then M <- A^(1/2), A = E[grad f grad f^T] the
average gradient outer product of the readout; twice.  It serves targets that are not
low-dimensional; with the diagonal of A alone it keeps to the columns of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.coordinates import Turned
from giantstep.estimator.ridge import Ridge, fit_ridge
from giantstep.estimator.rows import BLOCK_NUMBERS, blocks
from giantstep.problem.activation import make_activation

TANH = make_activation("tanh")

NEURONS = 256
"""Neurons at most; more improve tables of some hundred rows by less than .002."""

STEPS = 2
"""Times that M is learned."""

LEARNED = 20_000
"""Rows on which M is learned at most; the readout is fitted on all."""

GAINS = (0.5, 1.0, 2.0)
"""Standard deviations of the pre-activations, each for a third of the neurons."""

FLOOR = 1e-3
"""Least eigenvalue of M relative to its mean: what a first step missed a second one may find."""

HELD_SHARE = 4
"""Values of all neurons are held, not formed anew, where they take this share of the inputs."""

Hidden = Callable[[slice], Float[np.ndarray, "b p"]]


@dataclass(frozen=True)
class SoftModel:
    """tanh neurons with learned rows and their readout."""

    rows: Float[np.ndarray, "p d"]
    bias: Float[np.ndarray, " p"]
    ridge: Ridge

    def predict(self, x: Turned) -> Float[np.ndarray, "b m"]:
        """Values of the network, block by block."""
        found = np.empty((len(x), len(self.ridge.intercept)))
        hidden = _hidden(self.rows, self.bias, x)
        for block in blocks(len(x), len(self.rows)):
            found[block] = self.ridge(hidden(block))
        return found


def fit_soft(
    x: Turned,
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    *,
    diagonal: bool,
    seed: int,
) -> SoftModel:
    """Soft steps on inputs of mean zero."""
    n, d = min(len(x), LEARNED), x.shape[1]
    p = min(NEURONS, n)
    few, some = x.head(n), slice(0, n)
    key = np.random.default_rng([seed, d])
    gains = np.resize(GAINS, p)
    draws, bias = key.standard_normal((p, d)), gains * key.standard_normal(p)
    rows = _scaled(draws, gains, x)
    for _ in range(STEPS):
        model, hidden = _fitted(rows, bias, few, y[some], weight[some] / weight[some].mean())
        inner = _outer_product(model, hidden, n)
        if diagonal:
            agop = np.maximum(np.einsum("pj,pj->j", rows, inner @ rows), 0.0)
            rows = draws * _fourth_root(agop, d)[0]
        else:
            # W^T inner W has the rank of the neurons at most.
            q, r = np.linalg.qr(rows.T)
            values, vectors = np.linalg.eigh(r @ inner @ r.T)
            roots, rest = _fourth_root(np.maximum(values, 0.0), d)
            vectors = q @ vectors
            rows = rest * draws + ((draws @ vectors) * (roots - rest)) @ vectors.T
        rows = _scaled(rows, gains, x)
    return _fitted(rows, bias, x, y, weight)[0]


def _fourth_root(values: Float[np.ndarray, " r"], d: int) -> tuple[Float[np.ndarray, " r"], float]:
    """M^(1/2) = A^(1/4), bounded below, and its value where A has rank to spare."""
    # The last term keeps a readout without slopes from giving rows of zero.
    least = FLOOR * float(values.sum()) / max(d, 1) + np.finfo(float).tiny
    return (values + least) ** 0.25, least**0.25


def _fitted(
    rows: Float[np.ndarray, "p d"],
    bias: Float[np.ndarray, " p"],
    x: Turned,
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
) -> tuple[SoftModel, Hidden]:
    """The readout of neurons, and their values."""
    (n, d), p = x.shape, len(rows)
    hidden = _hidden(rows, bias, x)
    if p * n <= max(BLOCK_NUMBERS, n * d // HELD_SHARE):
        hidden = hidden(slice(0, n)).__getitem__
    return SoftModel(rows, bias, fit_ridge(hidden, y, weight, p)), hidden


def _outer_product(model: SoftModel, hidden: Hidden, n: int) -> Float[np.ndarray, "p p"]:
    """(a a^T) * E[sigma' sigma'^T]: W^T of it W is the average gradient outer product."""
    p = len(model.rows)
    total = np.zeros((p, p))
    for block in blocks(n, p):
        # tanh' = 1 - tanh^2
        slopes = 1.0 - hidden(block) ** 2
        total += slopes.T @ slopes
    return total / n * (model.ridge.weights @ model.ridge.weights.T)


def _hidden(rows: Float[np.ndarray, "p d"], bias: Float[np.ndarray, " p"], x: Turned) -> Hidden:
    """Values of the neurons at the rows of a slice, in the type of the inputs."""
    weights, shifts = x.weights(rows.T), bias.astype(x.columns.dtype)
    return lambda block: TANH(x.columns[block] @ weights + shifts)


def _scaled(
    rows: Float[np.ndarray, "p d"], gains: Float[np.ndarray, " p"], x: Turned
) -> Float[np.ndarray, "p d"]:
    """Rows whose pre-activations have root mean square one all together, times their gains."""
    size = float(np.sqrt(np.mean((x.head(2 * len(rows)) @ rows.T) ** 2)))
    return rows * (gains / max(size, np.finfo(float).tiny))[:, None]
