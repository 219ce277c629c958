"""Learning curves are extrapolated exactly where they follow a law, with an error where not."""

import numpy as np
import pytest

from giantstep.reports.curve import POWERS, extrapolated


@pytest.mark.parametrize("power", POWERS)
def test_a_curve_of_a_listed_power_is_continued(power: float) -> None:
    sizes = [100.0, 200.0, 400.0]
    mean = 0.2 + 0.5 * (np.array(sizes) / 400.0) ** -power
    found = extrapolated(sizes, mean, 1e-8 * np.eye(3), 800.0)
    truth = 1.0 - 0.2 - 0.5 * 2.0**-power
    assert found.value == pytest.approx(truth, abs=0.004)
    assert found.low <= truth <= found.high


def test_noise_widens_the_interval_and_distance_too() -> None:
    sizes, mean = [100.0, 200.0, 400.0], np.array([0.5, 0.4, 0.35])
    errors = [
        extrapolated(sizes, mean, variance * np.eye(3), rows).error
        for variance, rows in ((1e-6, 800.0), (1e-4, 800.0), (1e-4, 4000.0))
    ]
    assert errors[0] < errors[1] < errors[2]


def test_a_curve_that_gets_worse_is_not_said_to_get_better() -> None:
    """Neither the floor nor what rows bring is negative: the extrapolation is the mean."""
    found = extrapolated([100.0, 400.0], np.array([0.4, 0.5]), 1e-4 * np.eye(2), 800.0)
    assert found.value == pytest.approx(0.55, abs=0.001)


def test_intervals_hold_the_truth_and_shorter_ones_do_not() -> None:
    """200 curves with power 0.75: 95 % up to three standard errors, 4.6 %."""
    key, sizes = np.random.default_rng(0), np.array([100.0, 200.0, 400.0])
    truth = 0.2 + 0.3 * 2.0**-0.75
    inside = narrow = 0
    for _ in range(200):
        mean = 0.2 + 0.3 * (sizes / 400.0) ** -0.75 + 0.01 * key.standard_normal(3)
        found = extrapolated(sizes.tolist(), mean, 1e-4 * np.eye(3), 800.0)
        inside += found.low <= 1.0 - truth <= found.high
        narrow += abs(found.value - (1.0 - truth)) < 0.4 * found.error
    assert inside / 200 > 0.904
    assert narrow / 200 < 0.6
