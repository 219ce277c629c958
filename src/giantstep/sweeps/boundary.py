"""The map of a sweep: its two axes, the value of its boundary, and whether that is reached."""

from __future__ import annotations

import numpy as np

from giantstep.sweeps.result import COSINES, LEARNED, Sweep


def map_axes(sweep: Sweep) -> tuple[int, int] | None:
    """The first two axes whose values are numbers, at least two of each; None without."""
    numeric = [
        index
        for index, axis in enumerate(sweep.axes)
        if axis.coordinates is not None and len(axis.places) > 1
    ]
    return (numeric[0], numeric[1]) if len(numeric) > 1 else None


def value_range(sweep: Sweep, observable: str) -> tuple[float, float]:
    """The least and the largest measured mean; NaN where no cell is finished."""
    measured = sweep.measured(observable)
    finite = measured[np.isfinite(measured)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (np.nan, np.nan)


def boundary_level(sweep: Sweep, observable: str, boundary: float | None = None) -> float:
    """The value of the boundary: unless told otherwise the cosine 1/2, or half of the range."""
    if boundary is not None:
        return boundary
    if observable.startswith(COSINES):
        return LEARNED
    return 0.5 * sum(value_range(sweep, observable))


def missing_boundary(sweep: Sweep, observable: str, boundary: float | None = None) -> str | None:
    """Why the map has no measured boundary, in a sentence; None where it has one, or no map."""
    if map_axes(sweep) is None or not sweep.finished:
        return None
    level = boundary_level(sweep, observable, boundary)
    least, largest = value_range(sweep, observable)
    if least < level < largest:
        return None
    end, value = ("largest", largest) if largest <= level else ("least", least)
    return f"No boundary is measured at {level:.3g}: the {end} {observable} is {value:.3g}."
