"""The models of one set of rows: linear, soft and span, with the search of the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.coordinates import Coordinates, Index
from giantstep.estimator.network import SpanModel
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.ridge import Ridge
from giantstep.estimator.soft import SoftModel, fit_soft
from giantstep.estimator.span import Search
from giantstep.estimator.wide import fit_linear


@dataclass(frozen=True)
class Data:
    """Coordinates, standardised labels and weights of the rows."""

    at: Coordinates
    y: Float[np.ndarray, "n m"]
    weight: Float[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Index) -> Data:
        """Some of the rows."""
        weight = self.weight[index]
        return Data(self.at.take(index), self.y[index], weight / weight.mean())


@dataclass(frozen=True)
class Limits:
    """What a user may set: the directions at most, the tests' level, soft steps, seed, recipe."""

    most: int
    level: float
    soft: bool
    seed: int
    recipe: Recipe


@dataclass(frozen=True)
class Models:
    """Models of one set of rows; ``spans`` by their number of directions, 0 among them.

    Predictions are clipped to ``low`` .. ``high``, little beyond the labels seen: a polynomial that
    few rows determine may do anything outside them.
    """

    linear: Ridge
    soft: tuple[SoftModel, ...]
    spans: dict[int, SpanModel]
    low: Float[np.ndarray, " m"]
    high: Float[np.ndarray, " m"]

    def predict(self, at: Coordinates, k: int) -> Float[np.ndarray, "c n m"]:
        """Predictions of the linear model, the soft ones, and the largest span up to k."""
        spans = [self.predict_span(at, k)] if k else []
        soft = [model.predict(x) for model, x in zip(self.soft, at.soft_inputs, strict=False)]
        linear = at.principal @ self.linear.weights + self.linear.intercept
        return np.clip([linear, *soft, *spans], self.low, self.high)

    def predict_span(self, at: Coordinates, k: int) -> Float[np.ndarray, "n m"]:
        """Predictions of the largest span up to k."""
        span = self.spans[max(j for j in self.spans if j <= k)]
        return np.clip(span.predict(at.white), self.low, self.high)


def fit_plain(
    data: Data, limits: Limits, like: Sequence[SoftModel] = (), *, held: bool = True
) -> tuple[Ridge, tuple[SoftModel, ...]]:
    """The linear model and the soft ones; like, held -> those of ``fit_soft``."""
    recipe, principal = limits.recipe, data.at.principal
    linear = fit_linear(principal, data.y, data.weight, recipe.dense_coordinates)
    if not (limits.soft and principal.shape[1]):
        return linear, ()
    return linear, tuple(
        fit_soft(x, data.y, data.weight, recipe, diagonal=diagonal, like=model, held=held)
        for x, diagonal, model in zip(
            data.at.soft_inputs, (False, True), like or (None, None), strict=True
        )
    )


def label_range(
    y: Float[np.ndarray, "n m"], margin: float
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """The labels' range, widened at both ends by a share ``margin`` of it."""
    low, high = y.min(axis=0), y.max(axis=0)
    return low - margin * (high - low), high + margin * (high - low)


def searched_rows(c: int, recipe: Recipe) -> int:
    """Rows that a search on c coordinates sees at most."""
    return max(recipe.searched_rows, recipe.searched_per_coordinate * c)


def make_search(data: Data, limits: Limits, most: int, rows: int | None = None) -> Search:
    """The search on these rows, or on the first of them."""
    data = data if rows is None else data.take(slice(0, rows))
    return Search(
        z=data.at.white,
        y=data.y,
        weight=data.weight,
        seed=limits.seed,
        recipe=limits.recipe,
        most=min(most, data.at.white.shape[1]),
        level=limits.level,
    )
