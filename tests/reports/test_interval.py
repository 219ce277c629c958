"""Intervals hold the truth as often as they say; errors that forget copies of rows do not."""

import numpy as np
import pytest

from giantstep.reports.interval import Folds, explained, gained, interval, jackknife


def test_numbers_are_written_with_their_interval() -> None:
    assert interval(0.63, 0.02).percent == "63 % (59 % to 67 %)"
    assert interval(0.012, 0.01).percent == "1.2 % (-0.8 % to 3.2 %)"
    assert interval(0.995, 0.001).percent == "99.5 % (99.3 % to 99.7 %)"
    assert interval(0.883, 0.0117).percent == "88 % (86 % to 91 %)"
    assert interval(0.9996, 0.00004).percent == "99.96 % (99.95 % to 99.97 %)"
    assert interval(0.0, 0.0).nothing
    assert not interval(0.0, 0.001).nothing
    # A fit that predicts the mean may explain 1e-17 by rounding, with an error that is smaller.
    assert not interval(1e-17, 1e-18).above_zero
    assert interval(0.001, 1e-4).above_zero


def test_student_reaches_further_than_the_normal_law() -> None:
    assert interval(0.0, 1.0).high == pytest.approx(1.959964, abs=1e-5)
    assert interval(0.0, 1.0, 4).high == pytest.approx(2.776445, abs=1e-5)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    """Leaving out one value at a time: exactly s/sqrt(n)."""
    values = np.random.default_rng(0).standard_normal(9)
    without = np.array([[np.delete(values, k).mean()] for k in range(9)])
    [error], freedom = jackknife(without, np.array([values.mean()]), len(without))
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


def least_squares_coverage(slope: float, correct: bool, draws: int = 1000) -> float:
    """Share of intervals that hold what least squares of five folds explain of fresh rows.

    120 rows of five Gaussian columns, the label slope*x1 + noise of variance one.
    """
    key, (n, d, folds) = np.random.default_rng(7), (120, 5, 5)
    fold_of, inside = np.arange(n) % folds, 0
    for _ in range(draws):
        x, noise = key.standard_normal((n, d)), key.standard_normal(n)
        beta = slope * np.eye(d)[0]
        y = x @ beta + noise
        losses, half, totals, truth = np.zeros(n), np.zeros(n), np.zeros(n), 0.0
        for fold in range(folds):
            test, train = (np.flatnonzero(each) for each in (fold_of == fold, fold_of != fold))
            some = key.permutation(train)[: len(train) // 2]
            fitted, other = (np.linalg.lstsq(x[r], y[r], rcond=None)[0] for r in (train, some))
            losses[test], half[test] = ((y[test] - x[test] @ b) ** 2 for b in (fitted, other))
            totals[test] = y[test] ** 2
            truth += (1.0 + np.sum((fitted - beta) ** 2)) / (1.0 + slope**2) / folds
        known = Folds(folds, half - losses, 0.5) if correct else None
        share = explained(losses, totals, np.arange(n), known)
        inside += share.low <= 1.0 - truth <= share.high
    return inside / draws


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_scores_of_cross_validation_hold_the_truth(slope: float) -> None:
    """95 % up to three standard errors of 1,000 draws, 2.1 %."""
    assert least_squares_coverage(slope, correct=True) > 0.929


def test_errors_that_take_held_out_rows_for_independent_are_seen() -> None:
    """On labels of nothing the variance is twice theirs: 83 % of a normal law."""
    assert least_squares_coverage(0.0, correct=False) < 0.87


def test_pairs_add_at_most_what_nadeau_and_bengio_add() -> None:
    key = np.random.default_rng(0)
    values, rows = key.standard_normal(500), np.arange(500)
    alone = Folds(5, np.zeros(500)).error(values, rows)
    assert Folds(5).error(values, rows) == pytest.approx(1.5 * alone)
    assert Folds(5, 10.0 * values).error(values, rows) == pytest.approx(1.5 * alone)
    assert Folds(5, 0.5 * values, 0.5).error(values, rows) == pytest.approx(1.25**0.5 * alone)


def test_a_gain_is_a_difference_of_shares() -> None:
    key = np.random.default_rng(0)
    losses, others, totals = (key.exponential(scale, 500) for scale in (1.0, 2.0, 4.0))
    groups = np.arange(500)
    gain = gained(losses, others, totals, groups)
    shares = [explained(each, totals, groups).value for each in (losses, others)]
    assert gain.value == pytest.approx(shares[0] - shares[1])
    assert gain.above_zero
