"""A two-layer network on a span of directions: fixed neurons on u = U^T z, a ridge readout.

g(u) = c + sum_e l_e h_e(u) + sum_j a_j sigma(v_j . u + b_j), h_e Hermite polynomials.  The v_j are
drawn once for each number of directions and only the span moves, so that leave-one-out errors of
different spans can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
from jaxtyping import Float, Int

from giantstep.estimator.blocks import blocks
from giantstep.estimator.coordinates import Turned
from giantstep.estimator.ridge import Ridge, fit_ridge
from giantstep.gaussian.rules import hermite_values
from giantstep.problem.activation import make_activation

NEURONS = (0, 24, 64, 96, 128, 160)
"""Neurons for k = 0, 1, ... directions: the readout's own error is then far below the noise."""

RELU = make_activation("relu")

DEGREES = (0, 4, 4, 3, 2)
"""Degree of the Hermite polynomials for k = 0, 1, ... directions: what is smooth is theirs."""

WEIGHT = 3.0
"""Scale of the polynomials: about that of the neurons all together, which share one penalty."""

MARGIN = 0.3
"""Deviations beyond the training range to which coordinates on the span are clipped."""

BESIDE = 1e-6
"""Deviations by which a kink passes a row: on it, rounding would choose the slope there."""

SAMPLES_PER_NEURON = 4
"""Rows that a neuron is given at least; with fewer, leave-one-out chooses too much by chance."""


@dataclass(frozen=True)
class Mix:
    """Times the neurons of NEURONS, the degree of the polynomials at most, and their scales' fall.

    fall -> scale of a degree over that of the one below: what is rougher costs more.
    """

    crowd: int
    degree: int
    fall: float


SEARCHED = Mix(1, max(DEGREES), 0.7)
MIXES = (Mix(1, max(DEGREES), 1.0), Mix(4, max(DEGREES), 0.5), Mix(4, 1, 1.0))
"""Readouts that are blended in the end: polynomials, more neurons, neurons almost alone."""


@dataclass(frozen=True)
class Neurons:
    """relu(v_j . u + b_j) for p neurons, and scaled Hermite polynomials h_e of low degree.

    The polynomials see coordinates clipped to ``low`` .. ``high``, the range of the rows: beyond it
    the neurons go on as straight lines.
    """

    rows: Float[np.ndarray, "p k"]
    bias: Float[np.ndarray, " p"]
    exponents: Int[np.ndarray, "h k"]
    scales: Float[np.ndarray, " h"]
    low: Float[np.ndarray, " k"]
    high: Float[np.ndarray, " k"]

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.rows) + len(self.exponents)

    def values(self, u: Float[np.ndarray, "b k"]) -> Float[np.ndarray, "b f"]:
        """The features of a block."""
        hidden = RELU(u @ self.rows.T + self.bias)
        tables = self._tables(u)
        parts = [tables[j][:, self.exponents[:, j]] for j in range(u.shape[1])]
        return np.concatenate([hidden, math.prod(parts) * self.scales], axis=1) if parts else hidden

    def gradient(
        self, u: Float[np.ndarray, "b k"], weights: Float[np.ndarray, "f m"]
    ) -> Float[np.ndarray, "b m k"]:
        """Gradient on the span of each output of a readout."""
        p, k = self.rows.shape
        slopes = RELU.derivative(u @ self.rows.T + self.bias)
        pairs = (weights[:p, :, None] * self.rows[:, None, :]).reshape(p, weights.shape[1] * k)
        found = (slopes @ pairs).reshape(len(u), weights.shape[1], k)
        tables = self._tables(u)
        for j in range(k):
            # h_e' = sqrt(e) h_{e-1}
            powers = self.exponents[:, j]
            part = np.sqrt(powers) * tables[j][:, np.maximum(powers - 1, 0)]
            for i in range(k):
                if i != j:
                    part = part * tables[i][:, self.exponents[:, i]]
            inside = (u[:, j] > self.low[j]) & (u[:, j] < self.high[j])
            found[:, :, j] += inside[:, None] * (part @ (self.scales[:, None] * weights[p:]))
        return found

    def _tables(self, u: Float[np.ndarray, "b k"]) -> list[Float[np.ndarray, "b q"]]:
        degree = int(self.exponents.max(initial=0))
        return [hermite_values(column, degree) for column in np.clip(u, self.low, self.high).T]


def draw_neurons(u: Float[np.ndarray, "n k"], seed: int, mix: Mix = SEARCHED) -> Neurons:
    """Neurons on k coordinates, their kinks beside rows of u."""
    n, k = u.shape
    count = min(mix.crowd * NEURONS[min(k, len(NEURONS) - 1)], n // SAMPLES_PER_NEURON + 1)
    rows = _unit_rows(seed, count if k else 0, k)
    # The first rows: their order is as good as drawn.
    bias = BESIDE - np.einsum("pk,pk->p", rows, u[: len(rows)])
    exponents = _exponents(k, mix.degree)
    return Neurons(
        rows=rows,
        bias=bias,
        exponents=exponents,
        scales=WEIGHT * mix.fall ** (exponents.sum(axis=1) - 1.0),
        low=u.min(axis=0),
        high=u.max(axis=0),
    )


@lru_cache(maxsize=64)
def _unit_rows(seed: int, count: int, k: int) -> Float[np.ndarray, "p k"]:
    rows = np.random.default_rng([seed, k]).standard_normal((count, k))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@lru_cache(maxsize=16)
def _exponents(k: int, most: int) -> Int[np.ndarray, "h k"]:
    """Those of degree 1 up to DEGREES[k], or ``most``."""
    degree = min(DEGREES[min(k, len(DEGREES) - 1)], most)
    grid = [e for e in product(range(degree + 1), repeat=k) if 1 <= sum(e) <= degree]
    return np.array(grid, dtype=int).reshape(len(grid), k)


@dataclass(frozen=True)
class SpanModel:
    """A span (orthonormal columns in z), its neurons and their readout.

    Coordinates are clipped to ``low`` .. ``high``, where there were rows.  ``judges`` are rows that
    no step of the span has seen, where there are some.
    """

    basis: Float[np.ndarray, "c k"]
    low: Float[np.ndarray, " k"]
    high: Float[np.ndarray, " k"]
    neurons: Neurons
    ridge: Ridge
    judges: slice | None = None

    @property
    def k(self) -> int:
        """Number of directions."""
        return self.basis.shape[1]

    def predict(self, z: Turned) -> Float[np.ndarray, "b m"]:
        """g(U^T z)."""
        return self.respond(z @ self.basis)

    def respond(self, u: Float[np.ndarray, "b k"]) -> Float[np.ndarray, "b m"]:
        """g(u)."""
        return self.ridge(self.neurons.values(np.clip(u, self.low, self.high)))

    def gradient(self, z: Turned) -> Float[np.ndarray, "n m k"]:
        """Gradient of the outputs on the span, row by row."""
        u = z @ self.basis
        found = np.empty((len(z), self.ridge.weights.shape[1], self.k))
        for block in blocks(len(z), self.neurons.width):
            found[block] = self.neurons.gradient(u[block], self.ridge.weights)
        return found

    @property
    def error(self) -> float:
        """Leave-one-out error of the readout, the span held; that of the judges alone if any."""
        if self.judges is None:
            return self.ridge.error
        return float(np.mean(self.ridge.residual[self.judges] ** 2))

    @property
    def score(self) -> float:
        """The leave-one-out error, the k (c - k) freedoms of a span without judges charged to n."""
        if self.judges is not None:
            return self.error
        c, n = len(self.basis), len(self.ridge.residual)
        return self.ridge.error * (1.0 + 2.0 * self.k * max(c - self.k, 0) / n)


def fit_span(
    basis: Float[np.ndarray, "c k"],
    z: Turned,
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    *,
    seed: int = 0,
    mix: Mix = SEARCHED,
    judges: slice | None = None,
) -> SpanModel:
    """The readout on a given span."""
    u = z @ basis
    low, high = u.min(axis=0) - MARGIN, u.max(axis=0) + MARGIN
    neurons = draw_neurons(u, seed, mix)
    ridge = fit_ridge(lambda block: neurons.values(u[block]), y, weight, neurons.width)
    return SpanModel(basis, low, high, neurons, ridge, judges)


def blended(
    models: Sequence[SpanModel],
    shares: Float[np.ndarray, " q"],
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
) -> SpanModel:
    """sum_q shares_q g_q of readouts on one span: again a readout, of all their features."""
    chosen = [(m, float(s)) for m, s in zip(models, shares, strict=True)]
    neurons = Neurons(
        rows=np.concatenate([m.neurons.rows for m, _ in chosen]),
        bias=np.concatenate([m.neurons.bias for m, _ in chosen]),
        exponents=np.concatenate([m.neurons.exponents for m, _ in chosen]),
        scales=np.concatenate([m.neurons.scales for m, _ in chosen]),
        low=models[0].neurons.low,
        high=models[0].neurons.high,
    )
    hidden = [s * m.ridge.weights[: len(m.neurons.rows)] for m, s in chosen]
    smooth = [s * m.ridge.weights[len(m.neurons.rows) :] for m, s in chosen]
    residual = y - sum(s * (y - m.ridge.residual) for m, s in chosen)
    ridge = Ridge(
        weights=np.concatenate([*hidden, *smooth]),
        intercept=np.sum([s * m.ridge.intercept for m, s in chosen], axis=0),
        residual=residual,
        error=float(weight @ np.mean(residual**2, axis=1)) / len(y),
        penalty=math.nan,
    )
    return replace(models[0], neurons=neurons, ridge=ridge)
