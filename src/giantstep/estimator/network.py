"""A two-layer network on a span of directions: fixed neurons on u = U^T z, a ridge readout.

g(u) = c + sum_e l_e h_e(u) + sum_j a_j sigma(v_j . u + b_j), h_e Hermite polynomials.  The v_j are
drawn once for each number of directions and only the span moves, so that leave-one-out errors of
different spans can be compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from jaxtyping import Float, Int

from giantstep.estimator.ridge import Ridge, fit_ridge
from giantstep.estimator.rows import blocks
from giantstep.gaussian.rules import hermite_values
from giantstep.problem.activation import make_activation

NEURONS = (0, 24, 64, 96, 128, 160)
"""Neurons for k = 0, 1, ... directions: the readout's own error is then far below the noise."""

RELU = make_activation("relu")

DEGREES = (0, 4, 4, 3, 2)
"""Degree of the Hermite polynomials for k = 0, 1, ... directions: what is smooth is theirs."""

WEIGHT = 3.0
"""Scale of the polynomials: about that of the neurons all together, which share one penalty."""

MARGIN = 1.0
"""Deviations beyond the training range to which coordinates on the span are clipped."""

SAMPLES_PER_NEURON = 4
"""Rows that a neuron is given at least; with fewer, leave-one-out chooses too much by chance."""


@dataclass(frozen=True)
class Mix:
    """Times the neurons of NEURONS, and the degree of the polynomials at most."""

    crowd: int
    degree: int


SEARCHED = Mix(1, max(DEGREES))
MIXES = (SEARCHED, Mix(4, max(DEGREES)), Mix(4, 1))
"""What the last readout may be made of: the search's own, more neurons, neurons almost alone."""


@dataclass(frozen=True)
class Neurons:
    """relu(v_j . u + b_j) for p neurons, and Hermite polynomials h_e of low degree."""

    rows: Float[np.ndarray, "p k"]
    bias: Float[np.ndarray, " p"]
    exponents: Int[np.ndarray, "h k"]

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.rows) + len(self.exponents)

    def values(self, u: Float[np.ndarray, "b k"]) -> Float[np.ndarray, "b f"]:
        """The features of a block."""
        hidden = RELU(u @ self.rows.T + self.bias)
        tables = self._tables(u)
        parts = [tables[j][:, self.exponents[:, j]] for j in range(u.shape[1])]
        return np.concatenate([hidden, WEIGHT * math.prod(parts)], axis=1) if parts else hidden

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
            found[:, :, j] += WEIGHT * part @ weights[p:]
        return found

    def _tables(self, u: Float[np.ndarray, "b k"]) -> list[Float[np.ndarray, "b q"]]:
        degree = int(self.exponents.max(initial=0))
        return [hermite_values(column, degree) for column in u.T]


def draw_neurons(u: Float[np.ndarray, "n k"], seed: int, mix: Mix = SEARCHED) -> Neurons:
    """Neurons on k coordinates, their kinks through rows of u."""
    n, k = u.shape
    count = min(mix.crowd * NEURONS[min(k, len(NEURONS) - 1)], n // SAMPLES_PER_NEURON + 1)
    rows = _unit_rows(seed, count if k else 0, k)
    # The first rows: they are in the order of a hash, as good as drawn.
    bias = -np.einsum("pk,pk->p", rows, u[: len(rows)])
    return Neurons(rows, bias, _exponents(k, mix.degree))


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

    Coordinates are clipped to ``low`` .. ``high``, where there were rows.
    """

    basis: Float[np.ndarray, "c k"]
    low: Float[np.ndarray, " k"]
    high: Float[np.ndarray, " k"]
    neurons: Neurons
    ridge: Ridge

    @property
    def k(self) -> int:
        """Number of directions."""
        return self.basis.shape[1]

    def predict(self, z: Float[np.ndarray, "b c"]) -> Float[np.ndarray, "b m"]:
        """g(U^T z)."""
        return self.respond(z @ self.basis)

    def respond(self, u: Float[np.ndarray, "b k"]) -> Float[np.ndarray, "b m"]:
        """g(u)."""
        return self.ridge(self.neurons.values(np.clip(u, self.low, self.high)))

    def gradient(self, z: Float[np.ndarray, "n c"]) -> Float[np.ndarray, "n m k"]:
        """Gradient of the outputs on the span, row by row."""
        u = z @ self.basis
        found = np.empty((len(z), self.ridge.weights.shape[1], self.k))
        for block in blocks(len(z), self.neurons.width):
            found[block] = self.neurons.gradient(u[block], self.ridge.weights)
        return found

    @property
    def error(self) -> float:
        """Leave-one-out error of the readout, the span held."""
        return self.ridge.error

    @property
    def score(self) -> float:
        """The leave-one-out error with the k (c - k) freedoms of the span charged to n rows."""
        c, n = len(self.basis), len(self.ridge.residual)
        return self.ridge.error * (1.0 + 2.0 * self.k * max(c - self.k, 0) / n)


def fit_span(
    basis: Float[np.ndarray, "c k"],
    z: Float[np.ndarray, "n c"],
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    *,
    seed: int = 0,
    mix: Mix = SEARCHED,
) -> SpanModel:
    """The readout on a given span."""
    u = z @ basis
    low, high = u.min(axis=0) - MARGIN, u.max(axis=0) + MARGIN
    neurons = draw_neurons(u, seed, mix)
    ridge = fit_ridge(lambda block: neurons.values(u[block]), y, weight, neurons.width)
    return SpanModel(basis, low, high, neurons, ridge)
