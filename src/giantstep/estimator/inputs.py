"""Raw columns to whitened coordinates: standardised, tails drawn in, clipped, decorrelated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from giantstep.estimator.blocks import blocks
from giantstep.estimator.coordinates import Coordinates, Turn, Turned, held_type, no_turn, plain
from giantstep.estimator.rows import Rows
from giantstep.estimator.wide import fit_linear

HEAVY = 10.0
"""Kurtosis above which a column's tails are drawn in: 3 is Gaussian, 9 exponential."""

WORTH = 0.1
"""Share of the linear model's error that tails must be worth to be kept: a label linear in them."""

TAIL = 4.0
"""Robust deviations at which tails begin to be drawn in: z/sqrt(1 + (z/TAIL)^2)."""

QUARTILES = 1.349
"""Distance of the quartiles of N(0, 1)."""

FAR, APART, FEW = 8.0, 2.0, 0.01
"""Cells that lie apart: at most a share FEW of a column, farther than FAR robust deviations from
its median, and APART times as far as the farthest of the others, whose range they are clipped
to."""

LEAST_RANGE = 1e-300
"""Range below which a column counts as constant: a direction holds its inverse."""

MARGIN = 0.5
"""Deviations beyond the range seen in training to which inputs are clipped."""

LEAST_RIDGE, MOST_RIDGE = 1e-6, 0.3
"""Range of the ridge of the whitening, in units of the mean variance, one."""


GRAIN = 2.0**-20
"""Deviations to which standardised columns are rounded while models are fitted: columns in other
units then give the same numbers, bit by bit, and a search whose choices would enlarge the rounding
of a unit's conversion makes the same choices."""

FITTED_ON = 50_000
"""Rows that fix centre, scale and whitening of the inputs: more would not change a digit."""

MOST_COORDINATES = 2_000
"""Rows and columns up to one of which all principal coordinates are found."""

LEADING = 200
"""Principal coordinates that are found where there are more; the rest count as of one variance."""


@dataclass(frozen=True)
class Scaling:
    """The map from raw columns to standardised ones.

    x -> (x - centre)/scale, tails drawn in where ``heavy``, clipped to [low, high], then
    (x - mean)/deviation.  Columns without variance have scale infinity.  ``apart`` -> whether cells
    of a column lie apart.
    """

    centre: Float[np.ndarray, " d"]
    scale: Float[np.ndarray, " d"]
    heavy: Bool[np.ndarray, " d"]
    low: Float[np.ndarray, " d"]
    high: Float[np.ndarray, " d"]
    mean: Float[np.ndarray, " d"]
    deviation: Float[np.ndarray, " d"]
    apart: Bool[np.ndarray, " d"]

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Standardised columns; x is overwritten."""
        # In halves the difference of the largest numbers is a number.
        x /= 2
        x -= self.centre / 2
        x /= self.scale / 2
        np.clip(_drawn_in(x, self.heavy), self.low, self.high, out=x)
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


def clipped_cells(scaling: Scaling, rows: Rows) -> Int[np.ndarray, "cells 2"]:
    """Row and column, in the table as it came, of cells that count as the end of their range."""
    found = []
    for j in np.flatnonzero(scaling.apart):
        x = rows.inputs(slice(0, FITTED_ON), slice(j, j + 1))[:, 0]
        s = (x / 2 - scaling.centre[j] / 2) / (scaling.scale[j] / 2)
        s = _drawn_in(s[:, None], scaling.heavy[j : j + 1])[:, 0]
        place = rows.index[np.flatnonzero((s < scaling.low[j]) | (s > scaling.high[j]))]
        found += [(row, j) for row in np.sort(place)]
    return np.array(found, dtype=int).reshape(-1, 2)


def _drawn_in(
    s: Float[np.ndarray, "n d"], heavy: Bool[np.ndarray, " d"]
) -> Float[np.ndarray, "n d"]:
    if heavy.any():
        s[:, heavy] /= np.hypot(1.0, s[:, heavy] / TAIL)
    return s


def fit_inputs(rows: Rows, key: np.random.Generator) -> tuple[Inputs, Coordinates]:
    """The map, its ridge as the linear model wants it, and the coordinates of all rows.

    Cells that lie apart are clipped and tails drawn in, unless that costs the linear model more
    than WORTH of its error.
    """
    n = len(rows)
    some = slice(0, min(n, FITTED_ON))
    found, error = _fit_inputs(rows, some, key)
    if found.scaling.heavy.any() or found.scaling.apart.any():
        kept, kept_error = _fit_inputs(rows, some, key, tails=True)
        found = kept if kept_error < (1.0 - WORTH) * error else found
    columns = _standard(rows, n, found.scaling)
    return found, Coordinates(columns, found.to_principal, found.to_white)


def _standard(rows: Rows, count: int, scaling: Scaling) -> Float[np.ndarray, "n d"]:
    """Standardised columns of the first rows, in canonical order and rounded to GRAIN."""
    d = rows.x.shape[1]
    columns = np.empty((count, d), dtype=held_type(len(rows), d))
    for block in blocks(count, d):
        part = scaling(rows.inputs(block))[:, rows.columns]
        columns[block] = GRAIN * np.round(part / GRAIN)
    return columns


def _fit_inputs(
    rows: Rows, some: slice, key: np.random.Generator, *, tails: bool = False
) -> tuple[Inputs, float]:
    """The map, with all tails as they are or not, and the linear model's leave-one-out error."""
    d = rows.x.shape[1]
    share = rows.weight[some] / rows.weight[some].sum()
    parts = [_scaling(rows.inputs(some, block), share, tails) for block in blocks(d, len(share))]
    scaling = Scaling(*map(np.concatenate, zip(*parts, strict=True)))
    columns = _standard(rows, len(share), scaling)
    values, vectors = _principal(columns, share, key)
    many = min(len(share), d) > MOST_COORDINATES
    to_principal = no_turn(d) if many else Turn(vectors, np.ones(len(values)))
    linear = fit_linear(Turned(columns, to_principal), rows.y[some], share * len(share))
    ridge = float(np.clip(linear.penalty, LEAST_RIDGE, MOST_RIDGE))
    varying = float(np.sum(np.isfinite(scaling.scale)))
    rest = (varying - float(values.sum())) / (d - len(values)) if many else math.inf
    to_white = Turn(vectors, 1.0 / np.sqrt(values + ridge), 1.0 / math.sqrt(rest + ridge))
    return Inputs(scaling, rows.columns, to_principal, to_white), linear.error


def _scaling(
    x: Float[np.ndarray, "n b"], share: Float[np.ndarray, " n"], tails: bool
) -> tuple[np.ndarray, ...]:
    """Centre, scale, heavy, low, high, mean, deviation and apart of some columns."""
    apart = np.zeros(x.shape[1], dtype=bool)
    if not tails:
        first, last = ends(x)
        apart = (x.min(axis=0) < first) | (x.max(axis=0) > last)
        np.clip(x, first, last, out=x)
    # In units of half the range nothing overflows.
    low, high = x.min(axis=0), x.max(axis=0)
    middle, unit = high / 2 + low / 2, high / 2 - low / 2
    # A range within rounding of the values is no range, nor one whose inverse is no number.
    flat = unit <= np.maximum(1e-12 * np.maximum(np.abs(low), np.abs(high)), LEAST_RANGE)
    unit[flat] = 1.0
    s = (x - middle) / unit
    mean = share @ s
    deviation = np.sqrt(share @ (s - mean) ** 2)
    deviation[flat] = 1.0
    heavy = ~flat & (not tails) & (share @ (s - mean) ** 4 > HEAVY * deviation**4)
    if heavy.any():
        lower, median, upper = np.quantile(s[:, heavy], [0.25, 0.5, 0.75], axis=0)
        robust = (upper - lower) / QUARTILES
        mean[heavy] = median
        # A column that is mostly constant keeps its own deviation.
        deviation[heavy] = np.where(robust > 1e-3 * deviation[heavy], robust, deviation[heavy])
    centre, scale = middle + unit * mean, unit * deviation
    scale[flat] = np.inf
    s = _drawn_in((x / 2 - centre / 2) / (scale / 2), heavy)
    low, high = s.min(axis=0) - MARGIN, s.max(axis=0) + MARGIN
    mean = share @ s
    deviation = np.sqrt(share @ (s - mean) ** 2)
    deviation[deviation == 0] = 1.0
    return centre, scale, heavy, low, high, mean, deviation, apart


def ends(
    x: Float[np.ndarray, "n b"], apart: float = APART
) -> tuple[Float[np.ndarray, " b"], Float[np.ndarray, " b"]]:
    """Least and largest number of every column, cells that lie apart left out."""
    n = len(x)
    if n < 2:
        return x.min(axis=0), x.max(axis=0)
    most = max(int(FEW * n), 1)
    lower, median, upper = np.quantile(x / 2, [0.25, 0.5, 0.75], axis=0)
    unit = (upper - lower) / QUARTILES
    # A column that is mostly constant has no robust deviation: its cells are infinitely far.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distance = np.nan_to_num(np.abs(x / 2 - median) / unit, nan=0.0, posinf=np.inf)
        farthest = np.sort(np.partition(distance, n - 1 - most, axis=0)[n - 1 - most :], axis=0)
        gap = (farthest[1:] > FAR) & (farthest[1:] > apart * farthest[:-1]) & (unit > 0)
    # The lowest gap parts most cells from the others.
    place = np.where(gap.any(axis=0), np.argmax(gap, axis=0), most)
    kept = distance <= farthest[place, np.arange(x.shape[1])]
    return (
        np.min(x, axis=0, where=kept, initial=np.inf),
        np.max(x, axis=0, where=kept, initial=-np.inf),
    )


def _principal(
    s: Float[np.ndarray, "n d"], share: Float[np.ndarray, " n"], key: np.random.Generator
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "d c"]]:
    """Variances and directions of the principal coordinates, those of rounding left out."""
    n, d = s.shape
    seen = plain(s)
    if min(n, d) > MOST_COORDINATES:
        # Two power iterations on a random sketch, a tenth more columns than are kept.
        basis = key.standard_normal((d, LEADING * 11 // 10))
        for _ in range(3):
            basis = np.linalg.qr(seen.adjoint(share[:, None] * (seen @ basis)))[0]
        image = np.sqrt(share)[:, None] * (seen @ basis)
        values, inner = np.linalg.eigh(image.T @ image)
        values, vectors = values[-LEADING:], basis @ inner[:, -LEADING:]
    elif n < d:
        rooted = s * np.sqrt(share)[:, None]
        values, left = np.linalg.eigh(rooted @ rooted.T)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300)
        values, left = values[kept], left[:, kept]
        vectors = rooted.T @ left / np.sqrt(values)
    else:
        values, vectors = np.linalg.eigh(seen.gram(share))
    kept = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    return values[kept], vectors[:, kept]
