"""The cells of a sweep: every setting of a grid, built and checked before anything runs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.problem.files import read_toml
from giantstep.problem.setting import Setting
from giantstep.store.identity import with_engine
from giantstep.sweeps.axes import Axis, read_axes, short


@dataclass(frozen=True)
class Cell:
    """A place on every axis, the fields they give, and the setting with its engine."""

    place: tuple[int, ...]
    values: Mapping[str, Any]
    setting: Setting

    @property
    def text(self) -> str:
        """Where the cell is: ``d = 1000, n = d^1.5``."""
        return place_text(self.values)


def place_text(values: Mapping[str, Any]) -> str:
    """Fields and their values as a message names a cell."""
    return ", ".join(f"{field} = {short(value)}" for field, value in values.items())


@dataclass(frozen=True)
class Grid:
    """Axes and, in their order (the last one fastest), the cells."""

    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.places) for axis in self.axes)

    @property
    def runs(self) -> int:
        return sum(cell.setting.runs for cell in self.cells)


def make_grid(
    base: Setting | Mapping[str, Any],
    axes: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    most_cells: int = 10**6,
) -> Grid:
    """The grid over a base setting, or over its fields; the first cell that is refused is named.

    It has ``most_cells`` at most: each is a setting in memory.
    """
    read = read_axes(axes)
    count = 1
    for axis in read:
        count *= len(axis.places)
    if count > most_cells:
        raise InputError(f"axes must give at most {most_cells:,} cells, got {count:,}")
    cells = []
    for place in itertools.product(*(range(len(axis.places)) for axis in read)):
        values: dict[str, Any] = {}
        given: dict[str, Any] = {}
        for axis, index in zip(read, place, strict=True):
            values |= axis.places[index]
            given |= axis.given[index]
        cells.append(Cell(place, values, _setting(base, given, place_text(values))))
    seen: dict[Setting, Cell] = {}
    for cell in cells:
        same = seen.setdefault(cell.setting, cell)
        if same is not cell:
            raise InputError(
                f"axes must give different settings, got the same for {same.text} and {cell.text}"
            )
    return Grid(read, tuple(cells))


def _setting(base: Setting | Mapping[str, Any], given: Mapping[str, Any], place: str) -> Setting:
    try:
        made = base.vary(**given) if isinstance(base, Setting) else Setting(**{**base, **given})
        return with_engine(made)
    except InputError as error:
        raise InputError(f"{error}, in the cell {place}") from None


def read_sweep_file(path: Path) -> tuple[dict[str, Any], Any]:
    """The fields of the base setting and the axes of a TOML file.

    ``[setting]`` holds fields; ``[axes]`` a key for each axis, or ``[[axes]]`` a table for each,
    whose keys vary together.
    """
    read = read_toml(path)
    for key in read:
        if key not in ("setting", "axes"):
            raise InputError(f"file must have the tables setting and axes, got {key!r}")
    setting = read.get("setting", {})
    if not isinstance(setting, dict):
        raise InputError(f"setting must be a table of fields, got {shown(setting)}")
    return setting, read.get("axes", {})
