"""Kurtosis: Gaussian rows are Gaussian in 95 % of samples, others are seen."""

import numpy as np

from giantstep.reports.gaussianity import mean_kurtosis


def covered(columns: int, scale: float = 1.0, draws: int = 400, rows: int = 150) -> float:
    """Share of samples of Gaussian rows whose interval, ``scale`` times as long, holds 3."""
    key, inside = np.random.default_rng(3), 0
    axes = key.standard_normal((columns, 64 if columns > 1 else 1))
    for _ in range(draws):
        found = mean_kurtosis(key.standard_normal((rows, columns)) @ axes)
        inside += abs(found.value - 3.0) <= scale * (found.high - found.value)
    return inside / draws


def test_intervals_of_gaussian_rows_hold_three() -> None:
    """95 % up to three standard errors of 400 draws, 3.3 %."""
    assert covered(1) > 0.917
    assert covered(6) > 0.917


def test_intervals_of_half_the_length_are_seen() -> None:
    assert covered(6, scale=0.5) < 0.917


def test_a_uniform_law_is_seen() -> None:
    """Its kurtosis is 1.8; 200 rows know it to 0.3."""
    found = mean_kurtosis(np.random.default_rng(0).uniform(-1.0, 1.0, (200, 1)))
    assert found.high < 3.0
    assert abs(found.value - 1.8) < 0.3
