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


@pytest.mark.parametrize("power", [2, 4])
@pytest.mark.parametrize("readout_start", ["signs", "alternating", "gaussian", "uniform"])
def test_the_law_of_an_entry_has_the_moments_of_drawn_entries(
    readout_start: str, power: int
) -> None:
    """Mean of u^2 and u^4 within 5 standard errors; 10 % more is told apart."""
    setting = Setting("x1", p=40_000, d=2, start="sphere", readout_start=readout_start)
    values, weights = setting.readout_law.rule(20)
    powers = (start_readout(setting, 0) / readout_rms(readout_start, setting.p)) ** power
    expected = float(weights @ values**power)
    error = float(np.std(powers)) / math.sqrt(setting.p) + 1e-12
    assert abs(np.mean(powers) - expected) < 5 * error
    assert abs(np.mean(powers) - 1.1 * expected) > 5 * error


def test_given_entries_are_their_own_law() -> None:
    law = Setting("x1", p=4, start="sphere", readout_start=[1.0, -2.0, 0.5, 0.5]).readout_law
    values, weights = law.rule(20)
    np.testing.assert_allclose(weights @ values**2, 1.0)
    np.testing.assert_allclose(values / values[0], [1.0, -2.0, 0.5, 0.5])
    assert law.fixed
    assert not law.one_size
