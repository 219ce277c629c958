"""The phase diagram: a map that theory draws at once, and measured cells that fill it in."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from giantstep.errors import InputError, NotConvergedError, NoTheoryError, shown
from giantstep.explorer.limits import MEMORY, check_fields, check_job, check_sizes, expected_seconds
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.export import as_number, dated
from giantstep.explorer.views.formulas import formulas_view
from giantstep.explorer.views.phase import cell_view, coarse_first, map_view
from giantstep.prediction.predict import predict as predict_setting
from giantstep.problem.setting import DEFAULTS
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.cost import flops
from giantstep.simulation.simulate import simulate_runs
from giantstep.store.folder import stacked
from giantstep.sweeps.axes import read_axes
from giantstep.sweeps.grid import Cell, Grid, make_grid
from giantstep.sweeps.result import Outcome, Sweep, check_observable
from giantstep.sweeps.work import EXPECTED

ROUGH: dict[str, Any] = {"scrambles": 2, "log2_points": 11}
"""Points of a prediction: cosines within a hundredth, which no colour shows.  Deviations count:
where nothing is learned they are what runs show."""

OPEN = 0.03
"""Standard error of a cosine, three times the usual one, above which a cell takes more points."""

AXES = {
    "n-power": ("Exponent of the samples", "κ = log n/log d", "n", "d^0.5..d^2.75:10"),
    "n-ratio": ("Samples for each input", "n/d", "n", "0.25d..64d:9 log"),
    "d": ("Inputs", "d", "d", "50, 100, 200, 400"),
    "p": ("Neurons", "p", "p", "2, 4, 8, 16, 32"),
    "step_size": ("Step size", "k = log(η/p)/log d", "step_size", "p*d^-1..p*d^0.5:7"),
    "steps": ("Giant steps", "T", "steps", "1, 2, 3, 4"),
    "noise": ("Label noise", "standard deviation", "noise", "0..3:7"),
    "bias": ("Biases", "standard deviation", "bias", "0..2:5"),
    "activation": ("Activation", "", "activation", "relu, erf, tanh, gelu, silu"),
    "batches": ("Batches", "", "batches", "fresh, reused"),
    "update": ("Update", "", "update", "gradient, normalised, orthogonal, sign"),
}
"""Axes to choose from: words, symbol, field, and values as a sweep reads them."""


def asked(request: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """Fields of the base, values of the axes by field, and what is shown."""
    axes: dict[str, Any] = {}
    for axis in request.get("axes", [])[:3]:
        if not isinstance(axis, Mapping):
            raise InputError(f"axes must be objects with field and values, got {shown(axis)}")
        field, values = str(axis.get("field", "")), axis.get("values", "")
        if field in axes:
            raise InputError(f"axes must be two different fields, got {field!r} twice")
        axes[field] = values
    fields = {k: v for k, v in request.get("setting", {}).items() if k not in axes}
    show = request.get("show")
    return fields, axes, None if show is None else str(show)


@lru_cache(maxsize=8)
def _read(text: str, *, most_cells: int = 400) -> tuple[Grid, str]:
    """The grid of what was asked for, and what is shown of it.

    More than ``most_cells`` would be smaller than what a finger can point at.
    """
    fields, axes, show = json.loads(text)
    read = read_axes(axes)
    count = 1
    for axis in read:
        count *= len(axis.places)
        for place in axis.places:
            check_fields(place)
    if count > most_cells:
        raise InputError(f"axes must give at most {most_cells} cells here, got {shown(count)}")
    base = check_fields(fields)
    if show is not None and not show.endswith("_error"):
        # The readout is most of the work, and only errors need it.
        base |= {"readout_n": 0, "test_n": 0}
    grid = make_grid(base, axes)
    for cell in grid.cells:
        check_sizes(cell.setting)
        observable = check_observable(show, cell.setting)
    return grid, observable


def grid_of(request: Mapping[str, Any]) -> tuple[Grid, str]:
    """The grid that a page asks for, read once for all of its requests."""
    return _read(json.dumps(asked(request)))


def frame(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """The map before any cell is known."""
    grid, observable = grid_of(request)
    return map_view(grid.axes, observable, Sweep(grid, ()).limit)


@lru_cache(maxsize=8)
def _cost(text: str) -> dict[str, Any]:
    """Seconds of all cells, or the sentence why one of them cannot be run."""
    grid, _ = _read(text)
    try:
        return {"seconds": expected_seconds(*(cell.setting for cell in grid.cells))}
    except InputError as error:
        return {"message": str(error)}


def predict(request: Mapping[str, Any], emit: Emit, *, part_seconds: float = 0.5) -> dict[str, Any]:
    """Cells in the order of ``coarse_first``, from number ``first`` on.

    After ``part_seconds`` those so far are sent, and the page asks for the others at once.
    """
    grid, observable = grid_of(request)
    order = coarse_first(grid)
    first = request.get("first", 0)
    if not isinstance(first, int) or first < 0:
        raise InputError(f"first must be the number of a cell, got {shown(first)}")
    begin, cells = time.perf_counter(), []
    for index in order[first:]:
        cells.append(cell_view(_predicted(grid.cells[index]), observable))
        if time.perf_counter() - begin > part_seconds:
            break
    return frame(request, emit) | {
        "cells": cells,
        "done": first + len(cells),
        "total": len(order),
        "cost": _cost(json.dumps(asked(request))),
        "formulas": _formulas(grid),
    }


def _formulas(grid: Grid) -> dict[str, str]:
    """Target and activation as formulas, without one that differs from cell to cell."""
    setting = grid.cells[0].setting
    varied = {axis.name for axis in grid.axes}
    formulas = formulas_view(setting.target, setting.activation)
    return {name: formula for name, formula in formulas.items() if name not in varied}


def _predicted(cell: Cell) -> Outcome:
    try:
        trajectory = predict_setting(cell.setting, **ROUGH)
        if _uncertain(trajectory):
            trajectory = predict_setting(cell.setting)
    except (NoTheoryError, NotConvergedError) as error:
        return Outcome(cell, None, None, str(error), None)
    return Outcome(cell, None, trajectory, None, None)


def _uncertain(found: Trajectory) -> bool:
    """Whether few points have left a cosine open, as where noise is a thousand times the signal."""
    if found.overlap_uncertainty is None:
        return False
    cosines = found.overlap_uncertainty / np.maximum(found.norms, np.finfo(float).tiny)[..., None]
    return float(np.max(cosines, initial=0.0)) > OPEN


def run(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """``cell`` events as cells are measured, in the order of the map; then the whole sweep."""
    grid, observable = grid_of(request)
    check_job(*(cell.setting for cell in grid.cells))
    work = [flops(cell.setting) * cell.setting.runs for cell in grid.cells]
    total, done = sum(work), 0.0
    outcomes: dict[int, Outcome] = {}
    for index in coarse_first(grid):
        said = _predicted(grid.cells[index])
        outcomes[index] = replace(
            _measured(grid.cells[index]), predicted=said.predicted, complaint=said.complaint
        )
        emit("cell", cell_view(outcomes[index], observable))
        done += work[index]
        emit("progress", {"share": done / total, "samples": 0})
    sweep = Sweep(grid, tuple(outcomes[index] for index in range(len(grid.cells))))
    if sweep.finished:
        emit("file", {"name": "table.csv", "text": sweep.table.as_csv()})
    return sweep.as_dict(observable)


def _measured(cell: Cell) -> Outcome:
    runs: list[Trajectory] = []
    try:
        for _, trajectory in simulate_runs(cell.setting, range(cell.setting.runs), memory=MEMORY):
            runs.append(trajectory)
    except EXPECTED as error:
        return Outcome(cell, None, None, None, str(error) or type(error).__name__)
    return Outcome(cell, stacked(cell.setting, runs), None, None, None)


def toml(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """A file for ``giantstep sweep``."""
    fields, axes, show = asked(request)
    grid_of(request)
    flag = "" if show is None else f" --show {show}"
    lines = [f"# giantstep sweep giantstep_sweep.toml{flag}", "[setting]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in _given(fields).items()]
    lines += ["", "[axes]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in axes.items()]
    return {"name": "giantstep_sweep.toml", "text": dated("\n".join(lines) + "\n")}


def python(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """A script that sweeps the grid and prints both maps."""
    fields, axes, _ = asked(request)
    _, observable = grid_of(request)
    text = (
        "from giantstep import sweep\n\n"
        f"setting = {json.dumps(_given(fields), indent=4)}\n"
        f"axes = {json.dumps(axes, indent=4)}\n"
        'if __name__ == "__main__":\n'
        '    found = sweep(setting, axes, out="results/phase")\n'
        f"    print(found.predicted({observable!r}))\n"
        f"    print(found.measured({observable!r}))\n"
    )
    return {"name": "giantstep_sweep.py", "text": dated(text)}


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not at their defaults, plain numbers as numbers."""
    return {
        name: value
        for name, typed in check_fields(fields).items()
        if (value := as_number(typed)) != DEFAULTS[name]
    }
