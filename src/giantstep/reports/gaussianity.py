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
    """Kurtosis with standard errors by the bootstrap of rows."""
    front = prepared.front()
    x = front.fit_transform(prepared.rows)
    deviation = x.std(axis=0)
    names = [n for n, s in zip(prepared.encoded_names(front), deviation, strict=True) if s > 0]
    x = (x[:, deviation > 0] - x[:, deviation > 0].mean(axis=0)) / deviation[deviation > 0]
    key = np.random.default_rng(seed)
    axes = key.standard_normal((x.shape[1], probes))
    along = x @ (axes / np.linalg.norm(axes, axis=0))
    columns = kurtosis(x)
    random = _bootstrapped(along, key)
    ours = tuple(_bootstrapped(d.coordinate[:, None], key) for d in found)
    # Within one of three: the tails of a logistic law have 4.2, those of a uniform one 1.8.
    near = all(abs(each.value - 3.0) < 1.0 for each in (random, *ours))
    return Gaussianity(
        columns=(float(columns.min()), float(columns.max())),
        heaviest=names[int(np.argmax(columns))],
        random=random,
        found=ours,
        near=near,
    )


def _bootstrapped(
    values: Float[np.ndarray, "n k"], key: np.random.Generator, draws: int = 100, most: int = 5_000
) -> Interval:
    """Median kurtosis of columns, with its standard error."""
    values = values[:most]
    n = len(values)
    drawn = [float(np.median(kurtosis(values[key.integers(n, size=n)]))) for _ in range(draws)]
    value = float(np.median(kurtosis(values)))
    return interval(value, float(np.std(drawn)) if math.isfinite(value) else math.nan)
