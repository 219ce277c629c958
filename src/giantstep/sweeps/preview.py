"""What a sweep would take, before anything runs: cells, runs, memory, time, the largest cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from giantstep.errors import InputError
from giantstep.simulation.estimate import Estimate, Speed, estimate, pilot_speed
from giantstep.store.folder import Store
from giantstep.store.identity import prediction_name
from giantstep.sweeps.grid import Cell, Grid
from giantstep.sweeps.local import check_workers, process_count, share_accelerators


@dataclass(frozen=True)
class Preview:
    """Runs that are there and that are missing, and what these take.

    ``predictions`` are those that are missing; ``seconds`` those of simulations and predictions
    shared out to the workers, ``bytes`` the arrays of the largest cell; ``largest`` are the cells
    whose simulations take longest, all of their runs counted.
    """

    cells: int
    runs: int
    held: int
    predictions: int
    workers: int
    seconds: float
    bytes: int
    largest: tuple[tuple[Cell, Estimate], ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "cells": self.cells,
            "runs": self.runs,
            "finished": self.held,
            "predictions": self.predictions,
            "workers": self.workers,
            "seconds": self.seconds,
            "bytes": self.bytes,
            "largest": [
                {"at": dict(cell.values), **expected.as_dict()} for cell, expected in self.largest
            ],
        }


def preview(
    grid: Grid,
    store: Store,
    *,
    memory: int,
    workers: int | None,
    theory: bool = True,
    named: int = 3,
) -> Preview:
    """Estimate every cell, and name the ``named`` largest; one that no engine can run is refused.

    Pilot runs are made of the largest cell of each engine, and say how fast the others are.
    """
    check_workers(workers)
    share_accelerators()
    estimates = _estimates(grid, memory)
    missing = [len(store.missing(cell.setting)) for cell in grid.cells]
    most = max(expected.bytes for _, expected in estimates)
    settings = (cell.setting for cell in grid.cells)
    count = workers or process_count(settings, max(1, sum(missing)), most)
    seconds = sum(
        expected.seconds * left / cell.setting.runs
        for (cell, expected), left in zip(estimates, missing, strict=True)
    )
    predicted = [
        # Seconds on one core: 4 to 14 with spectra, 0.01 to 2 without.
        8.0 if cell.setting.spectra else 1.0
        for cell in grid.cells
        if theory and not store.holds(prediction_name(cell.setting))
    ]
    longest = sorted(estimates, key=lambda entry: -entry[1].seconds)[:named]
    return Preview(
        cells=len(grid.cells),
        runs=grid.runs,
        held=grid.runs - sum(missing),
        predictions=len(predicted),
        workers=count,
        seconds=(seconds + sum(predicted)) / count,
        bytes=most,
        largest=tuple(longest),
    )


def _estimates(grid: Grid, memory: int) -> list[tuple[Cell, Estimate]]:
    """The cells with what their runs take on one thread of this machine."""
    typical = [(cell, _estimate(cell, memory)) for cell in grid.cells]
    largest: dict[str, tuple[float, Cell]] = {}
    for cell, each in typical:
        if each.seconds > largest.get(each.engine, (0.0,))[0]:
            largest[each.engine] = (each.seconds, cell)
    speeds = {
        engine: pilot_speed(cell.setting, memory=memory, threads=1)
        for engine, (_, cell) in largest.items()
    }
    return [(cell, _estimate(cell, memory, speeds[each.engine])) for cell, each in typical]


def _estimate(cell: Cell, memory: int, speed: Speed | None = None) -> Estimate:
    try:
        return estimate(cell.setting, memory=memory, calibrate=False, speed=speed)
    except InputError as error:
        raise InputError(f"{error}, in the cell {cell.text}") from None
