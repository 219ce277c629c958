"""Raw columns to whitened coordinates: standardised, tails drawn in, clipped, decorrelated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from giantstep.estimator.blocks import blocks
from giantstep.estimator.coordinates import Coordinates, Turn, Turned, no_turn, plain
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.rows import Rows
from giantstep.estimator.wide import fit_linear


@dataclass(frozen=True)
class Scaling:
    """The map from raw columns to standardised ones.

    x -> (x - centre)/scale, tails drawn in from ``tail_start`` on, clipped to [low, high], then
    (x - mean)/deviation.  Columns without variance have scale infinity, and tails that stay as they
    are start at infinity.  ``apart`` -> whether cells of a column lie apart.
    """

    centre: Float[np.ndarray, " d"]
    scale: Float[np.ndarray, " d"]
    tail_start: Float[np.ndarray, " d"]
    low: Float[np.ndarray, " d"]
    high: Float[np.ndarray, " d"]
    mean: Float[np.ndarray, " d"]
    deviation: Float[np.ndarray, " d"]
    apart: Bool[np.ndarray, " d"]

    @property
    def heavy(self) -> Bool[np.ndarray, " d"]:
        """Columns whose tails are drawn in."""
        return np.isfinite(self.tail_start)

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Standardised columns; x is overwritten."""
        # In halves the difference of the largest numbers is a number.
        x /= 2
        x -= self.centre / 2
        x /= self.scale / 2
        np.clip(_drawn_in(x, self.tail_start), self.low, self.high, out=x)
        x -= self.mean
        x /= self.deviation
        return x


@dataclass(frozen=True)
class Inputs:
    """The map from raw columns to coordinates.

    Principal coordinates are the standardised columns times vectors, of variances ``values``; white
    ones these over sqrt(values + ridge).  With many rows and many columns only the leading ones
    are known, and nothing is dropped: white = (C + ridge)^(-1/2) standard with the mean of all
    other variances for each of these, and the columns themselves serve as principal coordinates.
    ``order`` -> the canonical order of the columns, in which the coordinates see them.
    """

    scaling: Scaling
    order: Int[np.ndarray, " d"]
    to_principal: Turn
    to_white: Turn

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Coordinates:
        columns = self.scaling(x.astype(float))[:, self.order]
        return Coordinates(columns, self.to_principal, self.to_white)


def clipped_cells(scaling: Scaling, rows: Rows, recipe: Recipe) -> Int[np.ndarray, "cells 2"]:
    """Row and column, in the table as it came, of cells that count as the end of their range."""
    cells = []
    for j in np.flatnonzero(scaling.apart):
        x = rows.inputs(slice(0, recipe.scaling_rows), slice(j, j + 1))[:, 0]
        s = (x / 2 - scaling.centre[j] / 2) / (scaling.scale[j] / 2)
        s = _drawn_in(s[:, None], scaling.tail_start[j : j + 1])[:, 0]
        place = rows.index[np.flatnonzero((s < scaling.low[j]) | (s > scaling.high[j]))]
        cells += [(row, j) for row in np.sort(place)]
    return np.array(cells, dtype=int).reshape(-1, 2)


def _drawn_in(
    s: Float[np.ndarray, "n d"], start: Float[np.ndarray, " d"]
) -> Float[np.ndarray, "n d"]:
    """z/sqrt(1 + (z/start)^2) in columns whose start is finite; s is overwritten."""
    heavy = np.isfinite(start)
    if heavy.any():
        s[:, heavy] /= np.hypot(1.0, s[:, heavy] / start[heavy])
    return s


def fit_inputs(rows: Rows, key: np.random.Generator, recipe: Recipe) -> tuple[Inputs, Coordinates]:
    """The map, its ridge as the linear model wants it, and the coordinates of all rows.

    Cells that lie apart are clipped and tails drawn in, unless that costs the linear model more
    than ``Recipe.tails_worth`` of its error.
    """
    inputs, error = _fit_inputs(rows, key, recipe)
    if inputs.scaling.heavy.any() or inputs.scaling.apart.any():
        kept, kept_error = _fit_inputs(rows, key, recipe, tails=True)
        inputs = kept if kept_error < (1.0 - recipe.tails_worth) * error else inputs
    columns = _standard(rows, len(rows), inputs.scaling, recipe)
    return inputs, Coordinates(columns, inputs.to_principal, inputs.to_white)


def _standard(
    rows: Rows, count: int, scaling: Scaling, recipe: Recipe, grain: float = 2.0**-20
) -> Float[np.ndarray, "n d"]:
    """Standardised columns of the first rows, in canonical order.

    They are rounded to ``grain`` deviations: columns in other units then give the same numbers, bit
    by bit, and a search whose choices would enlarge the rounding of a unit's conversion makes the
    same choices.
    """
    d = rows.x.shape[1]
    double = len(rows) * d <= recipe.float64_numbers
    columns = np.empty((count, d), dtype=np.float64 if double else np.float32)
    for block in blocks(count, d):
        part = scaling(rows.inputs(block))[:, rows.columns]
        columns[block] = grain * np.round(part / grain)
    return columns


def _fit_inputs(
    rows: Rows, key: np.random.Generator, recipe: Recipe, *, tails: bool = False
) -> tuple[Inputs, float]:
    """The map, with all tails as they are or not, and the linear model's leave-one-out error."""
    d = rows.x.shape[1]
    some = slice(0, min(len(rows), recipe.scaling_rows))
    share = rows.weight[some] / rows.weight[some].sum()
    parts = [
        _scaling(rows.inputs(some, block), share, recipe, tails) for block in blocks(d, len(share))
    ]
    scaling = Scaling(*map(np.concatenate, zip(*parts, strict=True)))
    columns = _standard(rows, len(share), scaling, recipe)
    many = min(len(share), d) > recipe.principal_coordinates
    values, vectors = _principal(columns, share, key, recipe.leading_coordinates if many else None)
    to_principal = no_turn(d) if many else Turn(vectors, np.ones(len(values)))
    principal = Turned(columns, to_principal)
    linear = fit_linear(principal, rows.y[some], share * len(share), recipe.dense_coordinates)
    ridge = float(np.clip(linear.penalty, *recipe.whitening_ridge))
    varying = float(np.sum(np.isfinite(scaling.scale)))
    remaining = (varying - float(values.sum())) / (d - len(values)) if many else math.inf
    to_white = Turn(vectors, 1.0 / np.sqrt(values + ridge), 1.0 / math.sqrt(remaining + ridge))
    return Inputs(scaling, rows.columns, to_principal, to_white), linear.error


def _scaling(
    x: Float[np.ndarray, "n b"], share: Float[np.ndarray, " n"], recipe: Recipe, tails: bool
) -> tuple[np.ndarray, ...]:
    """The fields of ``Scaling`` for some columns, in their order."""
    apart = np.zeros(x.shape[1], dtype=bool)
    if not tails:
        first, last = ends(x, recipe.cells_apart, recipe)
        apart = (x.min(axis=0) < first) | (x.max(axis=0) > last)
        np.clip(x, first, last, out=x)
    # In units of half the range nothing overflows.
    low, high = x.min(axis=0), x.max(axis=0)
    middle, unit = high / 2 + low / 2, high / 2 - low / 2
    # A range within rounding of the values is no range, nor one whose inverse is no number.
    flat = unit <= np.maximum(1e-12 * np.maximum(np.abs(low), np.abs(high)), 1e-300)
    unit[flat] = 1.0
    s = (x - middle) / unit
    mean = share @ s
    deviation = np.sqrt(share @ (s - mean) ** 2)
    deviation[flat] = 1.0
    heavy = ~flat & (not tails) & (share @ (s - mean) ** 4 > recipe.heavy_kurtosis * deviation**4)
    if heavy.any():
        mean[heavy], robust = _robust(s[:, heavy])
        # A column that is mostly constant keeps its own deviation.
        deviation[heavy] = np.where(robust > 1e-3 * deviation[heavy], robust, deviation[heavy])
    centre, scale = middle + unit * mean, unit * deviation
    scale[flat] = np.inf
    tail_start = np.where(heavy, recipe.tail_start, np.inf)
    s = _drawn_in((x / 2 - centre / 2) / (scale / 2), tail_start)
    low, high = s.min(axis=0) - recipe.input_margin, s.max(axis=0) + recipe.input_margin
    mean = share @ s
    deviation = np.sqrt(share @ (s - mean) ** 2)
    deviation[deviation == 0] = 1.0
    return centre, scale, tail_start, low, high, mean, deviation, apart


def _robust(
    x: Float[np.ndarray, "n b"],
) -> tuple[Float[np.ndarray, " b"], Float[np.ndarray, " b"]]:
    """Median and robust deviation of every column: the quartiles of N(0, 1) are 1.349 apart."""
    lower, median, upper = np.quantile(x, [0.25, 0.5, 0.75], axis=0)
    return median, (upper - lower) / 1.349


def ends(
    x: Float[np.ndarray, "n b"], factor: float, recipe: Recipe
) -> tuple[Float[np.ndarray, " b"], Float[np.ndarray, " b"]]:
    """Least and largest number of every column, cells that lie apart left out.

    factor -> times as far from the median as the farthest of the others that such a cell is.
    """
    n = len(x)
    if n < 2:
        return x.min(axis=0), x.max(axis=0)
    most = max(int(recipe.apart_share * n), 1)
    median, unit = _robust(x / 2)
    # A column that is mostly constant has no robust deviation: its cells are infinitely far.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distance = np.nan_to_num(np.abs(x / 2 - median) / unit, nan=0.0, posinf=np.inf)
        farthest = np.sort(np.partition(distance, n - 1 - most, axis=0)[n - 1 - most :], axis=0)
        beyond = farthest[1:] > np.maximum(recipe.apart_distance, factor * farthest[:-1])
        gap = beyond & (unit > 0)
    # The lowest gap parts most cells from the others.
    place = np.where(gap.any(axis=0), np.argmax(gap, axis=0), most)
    kept = distance <= farthest[place, np.arange(x.shape[1])]
    return (
        np.min(x, axis=0, where=kept, initial=np.inf),
        np.max(x, axis=0, where=kept, initial=-np.inf),
    )


def _principal(
    s: Float[np.ndarray, "n d"],
    share: Float[np.ndarray, " n"],
    key: np.random.Generator,
    leading: int | None,
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "d c"]]:
    """Variances and directions of the principal coordinates, those of rounding left out.

    leading -> only so many, and these to the accuracy of two power iterations; None for all.
    """
    n, d = s.shape
    columns = plain(s)
    if leading is not None:
        # A random sketch has a tenth more columns than are kept.
        basis = key.standard_normal((d, leading * 11 // 10))
        for _ in range(3):
            basis = np.linalg.qr(columns.adjoint(share[:, None] * (columns @ basis)))[0]
        image = np.sqrt(share)[:, None] * (columns @ basis)
        values, inner = np.linalg.eigh(image.T @ image)
        values, vectors = values[-leading:], basis @ inner[:, -leading:]
    elif n < d:
        rooted = s * np.sqrt(share)[:, None]
        values, left = np.linalg.eigh(rooted @ rooted.T)
        kept = _beyond_rounding(values)
        values, left = values[kept], left[:, kept]
        vectors = rooted.T @ left / np.sqrt(values)
    else:
        values, vectors = np.linalg.eigh(columns.gram(share))
    kept = _beyond_rounding(values)
    return values[kept], vectors[:, kept]


def _beyond_rounding(values: Float[np.ndarray, " c"]) -> Bool[np.ndarray, " c"]:
    return values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
