"""A giant step is as long as the row, whatever the update and the loss: measured with decay = 1."""

from typing import Any

import numpy as np
import pytest

from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    "target": "x1",
    "d": 100,
    "n": 20_000,
    "p": 4,
    "steps": 1,
    "start": "given",
    "start_gram": 9.0 * np.eye(4),
    "activation": "erf",
    "decay": 1.0,
    "readout_n": 0,
    "test_n": 0,
}


@pytest.mark.parametrize(
    ("changes", "low", "high"),
    [
        ({"update": "normalised"}, 0.999, 1.001),
        ({"update": "orthogonal"}, 0.999, 1.001),
        ({"update": "sign"}, 0.999, 1.001),
        ({}, 0.1, 3.0),
        ({"loss": "absolute", "target": "He3(x1)"}, 0.05, 3.0),
        ({"label_transform": "5*tanh(y)", "output_scale": "1"}, 0.1, 3.0),
    ],
)
def test_a_giant_update_is_as_long_as_the_row(
    changes: dict[str, Any], low: float, high: float
) -> None:
    """Lengths after the step over those before; a hundred times the size is rejected."""
    setting = Setting(**(BASE | changes))
    ratios = [
        float(np.mean(found.norms[0, 1] / found.norms[0, 0]))
        for found in map(simulate, (setting, setting.vary(step_size=100 * setting.step_size[0])))
    ]
    assert low < ratios[0] < high
    assert not low < ratios[1] < high
