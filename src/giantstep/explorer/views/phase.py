"""A grid of settings as the page draws it: axes with their places, cells, the predicted limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from giantstep.sweeps.axes import Axis
from giantstep.sweeps.grid import Grid
from giantstep.sweeps.result import COSINES, LEARNED, POWER, Outcome


def map_view(axes: Sequence[Axis], observable: str, limit: float | None) -> dict[str, Any]:
    """What cells are seen against: axes, scale and, for cosines, the boundary.

    The upper end of the scale is None where it is the largest value.  ``level`` is the share of
    the largest predicted cosine, the plateau, at which the boundary is drawn.
    """
    cosines = observable.startswith(COSINES)
    return {
        "axes": [{"name": axis.name, "label": axis.label, "texts": axis.texts} for axis in axes],
        "show": observable,
        "ends": [0.0, 1.0] if cosines else [0.0, None],
        "level": LEARNED if cosines else None,
        "limit": None if limit is None else _limit(axes, limit),
    }


def _limit(axes: Sequence[Axis], limit: float) -> dict[str, Any] | None:
    """Where the limit of large d lies: the axis, and the place on it counted from 0."""
    for index, axis in enumerate(axes):
        if axis.label == POWER and axis.coordinates is not None:
            at = axis.coordinates
            if min(at) <= limit <= max(at):
                order = np.argsort(at)
                place = np.interp(limit, np.array(at)[order], np.arange(len(at))[order])
                return {"axis": index, "place": float(place), "value": limit}
    return None


def cell_view(outcome: Outcome, observable: str) -> dict[str, Any]:
    """One cell: its place, its sizes, and the observable after the last step."""
    setting = outcome.cell.setting
    return outcome.as_dict(observable) | {
        "place": list(outcome.cell.place),
        "sizes": {"d": setting.d, "n": setting.n, "p": setting.p},
    }


def coarse_first(grid: Grid) -> list[int]:
    """The cells in the order in which they are computed: a coarse map, then finer ones."""
    levels = [[_level(k, size) for k in range(size)] for size in grid.shape]

    def level(index: int) -> tuple[int, int]:
        place = grid.cells[index].place
        return max(level[k] for level, k in zip(levels, place, strict=True)), index

    return sorted(range(len(grid.cells)), key=level)


def _level(place: int, size: int, stride: int = 4) -> int:
    """Every fourth place of an axis and its last come first, then every second, then all."""
    if place % stride == 0 or place == size - 1:
        return 0
    return 1 if place % (stride // 2) == 0 else 2
