"""Gaussian runs in place of a theory: what N(0, I) inputs of the same sizes do, run by run.

For every run of a setting a simulated one with the same readout at the start, Gaussian inputs, and
everything else the same: for the rows of a data set a table of as many Gaussian rows, made of
variance one or whitened and dealt out in the same way.  It holds at any sizes, where theories need
large ones, and is as exact as the runs are many; a comparison takes the differences run by run.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import DivergenceError, NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.tables import frame_columns
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

FEWEST = 24
"""Runs at least: their mean is shown, where a single one would pass for it."""

FIELDS = ("overlap", "norms", "gram", "span", "gradient_cosine", "readout")
ERRORS = ("train_error", "test_error", "network_error")


def predict(setting: Setting, readouts: Float[np.ndarray, "rows p"], _: Accuracy) -> dict[str, Any]:
    """Fields of the record, a row for each run; nothing strays from its own row."""
    try:
        found = gaussian_runs(setting)
    except DivergenceError as error:
        raise NoTheoryError(f"no prediction from runs on Gaussian inputs: {error}") from None
    kept = {name: getattr(found, name) for name in (*FIELDS, *ERRORS)}
    return kept | {"overlap_deviation": np.zeros_like(found.overlap), "own_runs": True}


def gaussian_runs(setting: Setting) -> Trajectory:
    """The runs of a setting on Gaussian inputs, FEWEST at least."""
    setting = setting.vary(runs=max(setting.runs, FEWEST), spectra=0)
    data = setting.data
    if data is None:
        return simulate(setting)
    frame, named = setting.frame, frame_columns(setting.frame)
    if named is not None:
        frame = f"columns({', '.join(f'x{axis + 1}' for axis in data.axes(named))})"
    key = generator(setting.seed, 0, Purpose.ROWS, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gaussian.npy"
        np.save(path, key.standard_normal(data.rows.shape))
        inputs = replace(setting.inputs, path=str(path))
        return simulate(setting.vary(inputs=inputs, frame=frame))
