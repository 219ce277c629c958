"""Raw columns to whitened coordinates: standardised, tails drawn in, clipped, decorrelated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from giantstep.estimator.ridge import fit_ridge
from giantstep.estimator.rows import Rows

HEAVY = 10.0
"""Kurtosis above which a column's tails are drawn in: 3 is Gaussian, 9 exponential."""

TAIL = 4.0
"""Robust deviations at which tails begin to be drawn in: z/sqrt(1 + (z/TAIL)^2)."""

QUARTILES = 1.349
"""Distance of the quartiles of N(0, 1)."""

MARGIN = 0.5
"""Deviations beyond the range seen in training to which inputs are clipped."""

LEAST_RIDGE, MOST_RIDGE = 1e-6, 0.3
"""Range of the ridge of the whitening, in units of the mean variance, one."""

MOST_COORDINATES = 1000
"""Principal coordinates that are kept, found by a randomised decomposition where there are more."""


@dataclass(frozen=True)
class Coordinates:
    """Rows as standardised columns, as principal coordinates of these, and whitened."""

    standard: Float[np.ndarray, "n d"]
    principal: Float[np.ndarray, "n c"]
    white: Float[np.ndarray, "n c"]

    def take(self, index: Int[np.ndarray, " k"]) -> Coordinates:
        """Some of the rows."""
        return Coordinates(self.standard[index], self.principal[index], self.white[index])


@dataclass(frozen=True)
class Inputs:
    """The map from raw columns to coordinates.

    x -> (x - centre)/scale, tails drawn in where ``heavy``, clipped to [low, high], then
    standard = (x - mean)/deviation, principal = standard @ vectors of variances ``values``,
    white = principal/sqrt(values + ridge).  Columns without variance have scale infinity.
    """

    centre: Float[np.ndarray, " d"]
    scale: Float[np.ndarray, " d"]
    heavy: Bool[np.ndarray, " d"]
    low: Float[np.ndarray, " d"]
    high: Float[np.ndarray, " d"]
    mean: Float[np.ndarray, " d"]
    deviation: Float[np.ndarray, " d"]
    vectors: Float[np.ndarray, "d c"]
    values: Float[np.ndarray, " c"]
    ridge: float

    @property
    def whitening(self) -> Float[np.ndarray, "d c"]:
        """Standardised columns to white coordinates."""
        return self.vectors / np.sqrt(self.values + self.ridge)

    def standard(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Standardised columns."""
        drawn = _drawn_in((x - self.centre) / self.scale, self.heavy)
        return (np.clip(drawn, self.low, self.high) - self.mean) / self.deviation

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Coordinates:
        standard = self.standard(x)
        principal = standard @ self.vectors
        return Coordinates(standard, principal, principal / np.sqrt(self.values + self.ridge))


def _drawn_in(
    s: Float[np.ndarray, "n d"], heavy: Bool[np.ndarray, " d"]
) -> Float[np.ndarray, "n d"]:
    if heavy.any():
        s[:, heavy] /= np.hypot(1.0, s[:, heavy] / TAIL)
    return s


def fit_inputs(rows: Rows, key: np.random.Generator) -> Inputs:
    """Centre, scale, tails and whitening of the rows; its ridge as the linear model wants it."""
    x, share = rows.x, rows.weight / len(rows)
    # In units of half the range nothing overflows.
    low, high = x.min(axis=0), x.max(axis=0)
    middle, unit = high / 2 + low / 2, high / 2 - low / 2
    # A range within rounding of the values is no range.
    flat = unit <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
    unit[flat] = 1.0
    s = (x - middle) / unit
    mean = share @ s
    deviation = np.sqrt(share @ (s - mean) ** 2)
    deviation[flat] = 1.0
    heavy = ~flat & (share @ (s - mean) ** 4 > HEAVY * deviation**4)
    if heavy.any():
        lower, median, upper = np.quantile(s[:, heavy], [0.25, 0.5, 0.75], axis=0)
        robust = (upper - lower) / QUARTILES
        mean[heavy] = median
        # A column that is mostly constant keeps its own deviation.
        deviation[heavy] = np.where(robust > 1e-3 * deviation[heavy], robust, deviation[heavy])
    centre, scale = middle + unit * mean, unit * deviation
    scale[flat] = np.inf
    s = _drawn_in((x - centre) / scale, heavy)
    low, high = s.min(axis=0) - MARGIN, s.max(axis=0) + MARGIN
    mean = share @ s
    deviation = np.sqrt(share @ (s - mean) ** 2)
    deviation[deviation == 0] = 1.0
    s = (s - mean) / deviation
    values, vectors = _principal(s, share, key)
    principal = s @ vectors
    linear = fit_ridge(lambda block: principal[block], rows.y, rows.weight, len(values))
    ridge = float(np.clip(linear.penalty, LEAST_RIDGE, MOST_RIDGE))
    return Inputs(
        centre=centre,
        scale=scale,
        heavy=heavy,
        low=low,
        high=high,
        mean=mean,
        deviation=deviation,
        vectors=vectors,
        values=values,
        ridge=ridge,
    )


def _principal(
    s: Float[np.ndarray, "n d"], share: Float[np.ndarray, " n"], key: np.random.Generator
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "d c"]]:
    """Variances and directions of the principal coordinates, those of rounding left out."""
    n, d = s.shape
    rooted = s * np.sqrt(share)[:, None]
    if min(n, d) > 2 * MOST_COORDINATES:
        # Two power iterations on a random sketch, a tenth more columns than are kept.
        sketch = rooted.T @ (rooted @ key.standard_normal((d, MOST_COORDINATES * 11 // 10)))
        for _ in range(2):
            sketch = rooted.T @ (rooted @ np.linalg.qr(sketch)[0])
        basis = np.linalg.qr(sketch)[0]
        values, inner = np.linalg.eigh((rooted @ basis).T @ (rooted @ basis))
        vectors = basis @ inner
        values, vectors = values[-MOST_COORDINATES:], vectors[:, -MOST_COORDINATES:]
    elif n < d:
        values, left = np.linalg.eigh(rooted @ rooted.T)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300)
        values, left = values[kept], left[:, kept]
        vectors = rooted.T @ left / np.sqrt(values)
    else:
        values, vectors = np.linalg.eigh(rooted.T @ rooted)
    kept = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    return values[kept], vectors[:, kept]
