"""What the claims about the words of a step are made of: predicted times and singular values."""

import math

import numpy as np
import pytest

from giantstep.papers.claims.input_spikes import gradient_spikes, predicted_spikes
from giantstep.papers.claims.step_words import mean_path_time
from giantstep.problem.setting import Setting


@pytest.mark.parametrize(("exponent", "steps"), [(1, "artanh"), (2, "logarithm")])
def test_times_of_small_steps_have_closed_forms(exponent: int, steps: str) -> None:
    """Without what normalising takes m = tanh(eta t), or m^2/(1 - m^2) grows as e^(4 eta t)."""
    d, eta = 400, 1e-9
    start = d**-0.5
    weak = 0.5
    odds = [m * m / (1.0 - m * m) for m in (start, weak)]
    expected = {
        "artanh": math.atanh(weak) - math.atanh(start),
        "logarithm": 0.25 * math.log(odds[1] / odds[0]),
    }[steps]
    assert mean_path_time(exponent, eta, d, weak) * eta == pytest.approx(expected, rel=1e-5)
    assert mean_path_time(exponent, 0.1 / d, d, weak) * 0.1 / d > 1.01 * expected


def test_predicted_singular_values_of_a_strong_spike() -> None:
    """Mean of 12 runs within 4 standard errors and d^(-1/2); another strength is further off."""
    setting = Setting(
        "1 + x1",
        activation="softplus",
        d=160,
        n=120,
        p=200,
        steps=1,
        step_size=1.0,
        output_scale="1/sqrt(p)",
        start="sphere",
        readout_start="alternating",
        inputs="spiked(20, 0)",
        engine="dense",
        precision="float64",
        runs=12,
        readout_n=0,
        test_n=0,
    )
    found = np.array([spikes.values[:2] for spikes in gradient_spikes(setting)])
    error = found.std(axis=0, ddof=1) / math.sqrt(len(found))

    def far(strength: float) -> np.ndarray:
        predicted = np.array(predicted_spikes(setting, strength))
        allowed = 4.0 * error + predicted * setting.d**-0.5
        return np.abs(found.mean(axis=0) - predicted) > allowed

    assert not far(20.0).any()
    assert far(60.0)[1]
