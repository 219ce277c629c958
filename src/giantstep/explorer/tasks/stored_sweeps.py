"""Sweeps below the folder given at the start: which there are, and one of them as a map."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.explorer.tasks import Emit
from giantstep.explorer.views.phase import map_view
from giantstep.sweeps.axes import Axis, read_axes

RECORD = "sweep.json"
"""What ``giantstep sweep`` writes of a finished sweep."""

NUMBERS = ("mean", "standard_error", "predicted", "p_value")


def listed(request: Mapping[str, Any], emit: Emit, *, most: int = 200) -> dict[str, Any]:
    """Names of the folders with a sweep, ``most`` of them; the folder itself is a dot."""
    folder = request["folder"]
    if folder is None:
        return {"folder": None, "sweeps": []}
    root = Path(folder).resolve()
    names = _names(root)
    return {"folder": root.name, "sweeps": names[:most], "left_out": max(0, len(names) - most)}


def _names(root: Path) -> list[str]:
    """The folders with a record that lies in the root itself, wherever a link says it is."""
    held = (path for path in root.rglob(RECORD) if path.resolve().is_relative_to(root))
    return sorted(path.parent.relative_to(root).as_posix() for path in held)


def opened(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """The sweep of a ``name`` from the list: axes and cells, as they were written."""
    name = str(request.get("name", ""))
    record = _record(request["folder"], name)
    try:
        axes = read_axes(record["asked"]["axes"])
        cells, show = list(record["cells"]), str(record["show"])
        limit = record["limit"]
        places = _places(axes)
        if len(cells) != len(places) or not isinstance(limit, float | int | None):
            raise ValueError
        shown_cells = [
            _cell(cell) | {"place": place} for cell, place in zip(cells, places, strict=True)
        ]
        return map_view(axes, show, limit) | {
            "name": name,
            "cells": shown_cells,
            "setting": {str(k): str(v) for k, v in record["asked"]["setting"].items()},
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # An InputError about the axes says what is wrong with them; the rest is another file.
        reason = f": {error}" if isinstance(error, InputError) else ""
        raise InputError(f"sweep cannot be read, got {shown(name)}{reason}") from None


def _record(folder: str | None, name: str, *, most_bytes: int = 2**24) -> Any:
    """What the file of a sweep holds; nothing outside the folder is ever opened.

    Some ten thousand cells take ``most_bytes``.
    """
    if folder is None:
        raise InputError("sweep needs a folder: start with giantstep explore --folder DIR")
    root = Path(folder).resolve()
    if name not in _names(root):
        raise InputError(f"sweep must be one of the folder, got {shown(name)}")
    path = root / name / RECORD
    if path.stat().st_size > most_bytes:
        raise InputError(f"sweep is larger than {most_bytes >> 20} MiB, got {shown(name)}")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise InputError(f"sweep cannot be read, got {shown(name)}") from None


def _places(axes: tuple[Axis, ...]) -> list[list[int]]:
    """The places of the cells, the last axis fastest."""
    return [list(place) for place in product(*(range(len(axis.places)) for axis in axes))]


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {name: None if cell[name] is None else float(cell[name]) for name in NUMBERS}
    if not all(value is None or math.isfinite(value) for value in numbers.values()):
        raise ValueError
    words = {
        name: cell[name] and str(cell[name]) for name in ("no_prediction", "failure", "theory")
    }
    at = {str(field): str(value) for field, value in cell["at"].items()}
    return {"at": at, "runs": int(cell["runs"]), **numbers, **words}
