"""How far the rows are from Gaussian, and what that does to each statement of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.problem.tables import kurtosis
from giantstep.reports.columns import Prepared
from giantstep.reports.directions import Direction
from giantstep.reports.interval import Interval, interval


@dataclass(frozen=True)
class Gaussianity:
    """Kurtosis (3 for a Gaussian) of columns, random directions and the directions found."""

    columns: tuple[float, float]
    heaviest: str
    random: Interval
    found: tuple[Interval, ...]
    near: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        verdict = "close to" if self.near else "far from"
        low, high = self.columns
        first = (
            f"Along the directions found and random ones the rows are {verdict} Gaussian. "
            f"Kurtosis of columns goes from {low:.3g} to {high:.3g} ({self.heaviest}), where a "
            "Gaussian has 3."
        )
        free = (
            "Scores, tests of directions, stability, peers and the learning curve are measured on "
            "held-out rows, whatever the law of the inputs."
        )
        bound = "Leap, staircase, simulated steps and numbers of rows needed assume Gaussian inputs"
        tail = "." if self.near else ": here they are rough guides only."
        return first, free, bound + tail


def gaussianity(
    prepared: Prepared, found: Sequence[Direction], probes: int = 64, seed: int = 0
) -> Gaussianity:
    """Kurtosis of columns, of random directions and of those found."""
    front = prepared.front()
    x = front.fit_transform(prepared.rows)
    deviation = x.std(axis=0)
    names = [n for n, s in zip(prepared.encoded_names(front), deviation, strict=True) if s > 0]
    x = (x[:, deviation > 0] - x[:, deviation > 0].mean(axis=0)) / deviation[deviation > 0]
    key = np.random.default_rng(seed)
    axes = key.standard_normal((x.shape[1], probes))
    along = x @ (axes / np.linalg.norm(axes, axis=0))
    columns = kurtosis(x)
    random = mean_kurtosis(along)
    ours = tuple(mean_kurtosis(d.seen[:, None]) for d in found)
    # Within one of three: the tails of a logistic law have 4.2, those of a uniform one 1.8.
    near = not any(abs(each.value - 3.0) >= 1.0 for each in (random, *ours))
    return Gaussianity(
        columns=(float(columns.min()), float(columns.max())),
        heaviest=names[int(np.argmax(columns))],
        random=random,
        found=ours,
        near=near,
    )


def mean_kurtosis(values: Float[np.ndarray, "n k"], most: int = 5_000) -> Interval:
    """Mean kurtosis of columns with its standard error, and without its bias for Gaussian rows.

    A row changes the kurtosis k of a column by (z^4 - 2 k z^2 + k)/n, z its standardised value.
    The error is at least that of Gaussian rows, whose sample kurtoses have covariance 24 r^4/n
    where columns correlate by r: the tails that show a larger error are rare in a sample.
    """
    values = values[:most]
    if len(values) < 2:
        return interval(math.nan, math.nan)
    n, z = len(values), (values - values.mean(axis=0)) / values.std(axis=0)
    each = kurtosis(values)
    influence = np.mean(z**4 - 2.0 * each * z**2 + each, axis=1)
    gaussian = 24.0 * float(np.mean((z.T @ z / n) ** 4))
    error = math.sqrt(max(float(np.var(influence)), gaussian) / n)
    # Gaussian rows have mean 3 (n - 1)/(n + 1).
    return interval(float(np.mean(each)) * (n + 1) / (n - 1), error)
