"""Gaussian runs in place of a theory: what N(0, I) inputs of the same sizes do, run by run.

For every run of a setting a simulated one with the same readout at the start, Gaussian inputs, and
everything else the same.  It holds at any sizes, where theories need large ones, and is as exact as
the runs are many; a comparison takes the differences run by run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import DivergenceError, NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

FEWEST = 24
"""Runs at least: their mean is shown, where a single one would pass for it."""

FIELDS = ("overlap", "norms", "gram", "span", "gradient_cosine", "readout")
ERRORS = ("train_error", "test_error", "network_error")


def objection(setting: Setting) -> str | None:
    """None: there is no setting without Gaussian runs."""
    return None


def predict(setting: Setting, readouts: Float[np.ndarray, "rows p"], _: Accuracy) -> dict[str, Any]:
    """Fields of the record, a row for each run; nothing strays from its own row."""
    same = {"d": setting.d, "test_n": setting.test_n, "frame": "random", "spectra": 0}
    runs = max(setting.runs, FEWEST)
    try:
        found = simulate(setting.vary(inputs="gaussian", runs=runs, **same))
    except DivergenceError as error:
        raise NoTheoryError(f"no prediction: of Gaussian inputs {error}") from None
    kept = {name: getattr(found, name) for name in (*FIELDS, *ERRORS)}
    return kept | {"overlap_deviation": np.zeros_like(found.overlap), "own_runs": True}
