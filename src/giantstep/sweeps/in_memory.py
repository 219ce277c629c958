"""Cells of a sweep that no file can hold, such as those with a Python function.

No other process could be handed the function but by pickling code: these cells are computed here,
one after another, and stay in memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from giantstep.errors import InputError, NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.records.origin import origin
from giantstep.simulation.simulate import simulate
from giantstep.sweeps.grid import Cell
from giantstep.sweeps.result import Outcome
from giantstep.sweeps.work import EXPECTED


def check_unstorable(cells: Sequence[Cell], *, kept: bool, cluster: str | None) -> None:
    """Refuse a cluster for such cells, and say that a folder will not have them."""
    if not cells:
        return
    reason, many = cells[0].setting.unstorable, len(cells)
    if cluster is not None:
        raise InputError(f"{reason}; a cluster cannot be handed it, got cluster = {cluster!r}")
    if kept:
        words = "1 cell of the sweep is" if many == 1 else f"{many} cells of the sweep are"
        warnings.warn(f"{reason}; {words} not kept in the folder, only in memory", stacklevel=3)


def outcome_in_memory(cell: Cell, *, theory: bool, memory: int) -> Outcome:
    """Simulate and predict a cell in this process; one that fails has its reason."""
    simulated, predicted, complaint, failure = None, None, None, None
    try:
        trajectory = simulate(cell.setting, memory=memory)
        simulated = replace(trajectory, origin=origin(cell.setting, trajectory.engine))
    except EXPECTED as error:
        failure = str(error) or type(error).__name__
    try:
        if theory:
            predicted = predict(cell.setting)
    except (NoTheoryError, NotConvergedError) as error:
        complaint = str(error)
    return Outcome(cell, simulated, predicted, complaint, failure)
