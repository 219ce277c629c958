"""The size of the readout's entries against drawn ones."""

import math

import numpy as np
import pytest

from giantstep.problem.network import start_readout
from giantstep.problem.setting import Setting
from giantstep.problem.starts import readout_rms


@pytest.mark.parametrize("readout_start", ["signs", "alternating", "gaussian", "uniform"])
def test_rms_is_that_of_drawn_entries(readout_start: str) -> None:
    """Mean square of 40,000 entries within 5 standard errors; 5 % more is told apart."""
    setting = Setting("x1", p=40_000, d=2, start="sphere", readout_start=readout_start)
    squares = start_readout(setting, 0) ** 2
    expected = readout_rms(readout_start, setting.p) ** 2
    error = float(np.std(squares)) / math.sqrt(setting.p) + 1e-15
    assert abs(np.mean(squares) - expected) < 5 * error
    assert abs(np.mean(squares) - 1.05 * expected) > 5 * error
