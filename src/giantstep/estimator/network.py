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

from giantstep.estimator.blocks import CACHED_NUMBERS, blocks
from giantstep.estimator.coordinates import Turned
from giantstep.estimator.recipe import Mix, Recipe
from giantstep.estimator.ridge import PENALTIES, Ridge, fit_ridge
from giantstep.gaussian.rules import hermite_values
from giantstep.problem.activation import make_activation

RELU = make_activation("relu")


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
        features, p = np.empty((len(u), self.width)), len(self.rows)
        np.add(u @ self.rows.T, self.bias, out=features[:, :p])
        # relu, in place: a fit makes these features some thousand times.
        np.maximum(features[:, :p], 0.0, out=features[:, :p])
        if self.width > p:
            tables = self._tables(u)
            parts = [tables[:, j, self.exponents[:, j]] for j in range(u.shape[1])]
            np.multiply(math.prod(parts), self.scales, out=features[:, p:])
        return features

    def gradient(
        self, u: Float[np.ndarray, "b k"], weights: Float[np.ndarray, "f m"]
    ) -> Float[np.ndarray, "b m k"]:
        """Gradient on the span of each output of a readout."""
        p, k = self.rows.shape
        slopes = RELU.derivative(u @ self.rows.T + self.bias)
        pairs = (weights[:p, :, None] * self.rows[:, None, :]).reshape(p, weights.shape[1] * k)
        gradient = (slopes @ pairs).reshape(len(u), weights.shape[1], k)
        tables = self._tables(u)
        for j in range(k):
            # h_e' = sqrt(e) h_{e-1}
            powers = self.exponents[:, j]
            part = np.sqrt(powers) * tables[:, j, np.maximum(powers - 1, 0)]
            for i in range(k):
                if i != j:
                    part = part * tables[:, i, self.exponents[:, i]]
            inside = (u[:, j] > self.low[j]) & (u[:, j] < self.high[j])
            gradient[:, :, j] += inside[:, None] * (part @ (self.scales[:, None] * weights[p:]))
        return gradient

    def _tables(self, u: Float[np.ndarray, "b k"]) -> Float[np.ndarray, "b k q"]:
        degree = int(self.exponents.max(initial=0))
        return hermite_values(np.clip(u, self.low, self.high), degree)


def draw_neurons(u: Float[np.ndarray, "n k"], seed: int, mix: Mix, recipe: Recipe) -> Neurons:
    """Neurons on k coordinates, their kinks beside rows of u."""
    n, k = u.shape
    most = mix.crowd * _for_directions(recipe.neurons, k)
    rows = _unit_rows(seed, min(most, n // recipe.rows_per_neuron + 1) if k else 0, k)
    # The first rows: their order is as good as drawn.  A kink passes a row by 1e-6 deviations: on
    # it, rounding would choose the slope there.
    bias = 1e-6 - np.einsum("pk,pk->p", rows, u[: len(rows)])
    exponents = _exponents(k, min(_for_directions(recipe.degrees, k), mix.degree))
    return Neurons(
        rows=rows,
        bias=bias,
        exponents=exponents,
        scales=recipe.polynomial_scale * mix.fall ** (exponents.sum(axis=1) - 1.0),
        low=u.min(axis=0),
        high=u.max(axis=0),
    )


def _for_directions(table: tuple[int, ...], k: int) -> int:
    """The entry for k directions, the last one for more."""
    return table[min(k, len(table) - 1)]


@lru_cache(maxsize=64)
def _unit_rows(seed: int, count: int, k: int) -> Float[np.ndarray, "p k"]:
    rows = np.random.default_rng([seed, k]).standard_normal((count, k))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@lru_cache(maxsize=16)
def _exponents(k: int, degree: int) -> Int[np.ndarray, "h k"]:
    """Exponents of k coordinates, of degree 1 up to ``degree``."""
    grid = [e for e in product(range(degree + 1), repeat=k) if 1 <= sum(e) <= degree]
    return np.array(grid, dtype=int).reshape(len(grid), k)


@dataclass(frozen=True)
class SpanModel:
    """A span (orthonormal columns in z), its neurons and their readout.

    Coordinates are clipped to the range of the rows and ``margin`` deviations beyond.  ``judges``
    are rows that no step of the span has seen, where there are some.
    """

    basis: Float[np.ndarray, "c k"]
    margin: float
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
        low, high = self.neurons.low - self.margin, self.neurons.high + self.margin
        response = np.empty((len(u), len(self.ridge.intercept)))
        for block in blocks(len(u), self.neurons.width, CACHED_NUMBERS):
            features = self.neurons.values(np.clip(u[block], low, high))
            response[block] = self.ridge(features)
        return response

    def gradient(self, z: Turned) -> Float[np.ndarray, "n m k"]:
        """Gradient of the outputs on the span, row by row."""
        u = z @ self.basis
        gradient = np.empty((len(z), self.ridge.weights.shape[1], self.k))
        for block in blocks(len(z), self.neurons.width, CACHED_NUMBERS):
            gradient[block] = self.neurons.gradient(u[block], self.ridge.weights)
        return gradient

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


@dataclass(frozen=True)
class SpanFitter:
    """Rows in whitened coordinates with labels and weights, on whose spans readouts are fitted."""

    z: Turned
    y: Float[np.ndarray, "n m"]
    weight: Float[np.ndarray, " n"]
    seed: int
    recipe: Recipe

    @property
    def judges(self) -> slice | None:
        """Rows kept from all steps where there are too many coordinates to charge for them."""
        many = self.z.shape[1] > self.recipe.dense_coordinates
        return slice(0, None, self.recipe.judged_every) if many else None

    def fit(
        self,
        basis: Float[np.ndarray, "c k"],
        mix: Mix | None = None,
        *,
        judged: bool = True,
        penalty: float | None = None,
    ) -> SpanModel:
        """The readout on a span.

        mix -> its features, those of the search if not given; penalty -> relative to the mean
        eigenvalue, chosen by leave-one-out if not given.
        """
        u = self.z @ basis
        penalties = PENALTIES if penalty is None else np.array([penalty])
        neurons = draw_neurons(u, self.seed, mix or self.recipe.search_mix, self.recipe)
        return SpanModel(
            basis=basis,
            margin=self.recipe.span_margin,
            neurons=neurons,
            ridge=fit_ridge(
                lambda block: neurons.values(u[block]),
                self.y,
                self.weight,
                neurons.width,
                penalties,
            ),
            judges=self.judges if judged else None,
        )


def blended(
    models: Sequence[SpanModel],
    shares: Float[np.ndarray, " q"],
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
) -> SpanModel:
    """sum_q shares_q g_q of readouts on one span: again a readout, of all their features."""
    pairs = [(model, float(share)) for model, share in zip(models, shares, strict=True)]
    drawn = [model.neurons for model in models]
    neurons = replace(
        drawn[0],
        rows=np.concatenate([n.rows for n in drawn]),
        bias=np.concatenate([n.bias for n in drawn]),
        exponents=np.concatenate([n.exponents for n in drawn]),
        scales=np.concatenate([n.scales for n in drawn]),
    )
    hidden = [share * m.ridge.weights[: len(m.neurons.rows)] for m, share in pairs]
    smooth = [share * m.ridge.weights[len(m.neurons.rows) :] for m, share in pairs]
    residual = y - sum(share * (y - m.ridge.residual) for m, share in pairs)
    ridge = Ridge(
        weights=np.concatenate([*hidden, *smooth]),
        intercept=np.sum([share * m.ridge.intercept for m, share in pairs], axis=0),
        residual=residual,
        error=float(weight @ np.mean(residual**2, axis=1)) / len(y),
        penalty=math.nan,
        relative=math.nan,
    )
    return replace(models[0], neurons=neurons, ridge=ridge)
