"""Intervals hold the truth as often as they say; errors that forget copies of rows do not."""

import numpy as np
import pytest

from giantstep.reports.interval import explained, gained, interval, jackknife


def test_numbers_are_written_with_their_interval() -> None:
    assert interval(0.63, 0.02).percent == "63 % (59 % to 67 %)"
    assert interval(0.012, 0.01).percent == "1.2 % (-0.8 % to 3.2 %)"
    assert interval(0.995, 0.001).percent == "99.5 % (99.3 % to 99.7 %)"


def test_student_reaches_further_than_the_normal_law() -> None:
    assert interval(0.0, 1.0).high == pytest.approx(1.959964, abs=1e-5)
    assert interval(0.0, 1.0, 4).high == pytest.approx(2.776445, abs=1e-5)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    """Leaving out one value at a time: exactly s/sqrt(n)."""
    values = np.random.default_rng(0).standard_normal(9)
    without = np.array([[np.delete(values, k).mean()] for k in range(9)])
    [error], freedom = jackknife(without, np.array([values.mean()]))
    assert error == pytest.approx(values.std(ddof=1) / 3.0)
    assert freedom == 8


def coverage(copies: int, forget: bool, draws: int = 400, rows: int = 150) -> float:
    """Share of intervals of 1 - 0.4^2/1 with every row ``copies`` times."""
    key, inside = np.random.default_rng(5), 0
    for _ in range(draws):
        error, signal = 0.4 * key.standard_normal(rows), np.sqrt(0.84) * key.standard_normal(rows)
        losses, totals = (np.repeat(e**2, copies) for e in (error, signal + error))
        groups = np.arange(len(losses)) if forget else np.repeat(np.arange(rows), copies)
        share = explained(losses, totals, groups)
        inside += share.low <= 0.84 <= share.high
    return inside / draws


def test_intervals_of_a_share_hold_it_in_95_percent() -> None:
    """Three standard errors of 400 draws are 3.3 %; one for two more that small samples cost."""
    assert abs(coverage(1, False) - 0.95) < 0.045
    assert abs(coverage(3, False) - 0.95) < 0.045


def test_errors_that_take_copies_for_rows_are_seen() -> None:
    assert coverage(3, True) < 0.85


def test_a_gain_is_a_difference_of_shares() -> None:
    key = np.random.default_rng(0)
    losses, others, totals = (key.exponential(scale, 500) for scale in (1.0, 2.0, 4.0))
    groups = np.arange(500)
    gain = gained(losses, others, totals, groups)
    shares = [explained(each, totals, groups).value for each in (losses, others)]
    assert gain.value == pytest.approx(shares[0] - shares[1])
    assert gain.above_zero
