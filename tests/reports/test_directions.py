"""Weights of columns in a direction and their correlations with it, and refits that lack it."""

import numpy as np
import pytest

from giantstep.reports.columns import Encoded
from giantstep.reports.directions import FOUND
from giantstep.reports.report import report
from giantstep.reports.weights import correlations, references, relative

# Columns of which each correlates by .8 with the one before, and the true weights.
COVARIANCE = 0.8 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
TRUE = np.array([1.0, -0.5, 0.0, 0.5])


def columns(names: str) -> list[Encoded]:
    return [Encoded(name, name) for name in names]


def coverage(refits: bool, draws: int = 400, rows: int = 100, folds: int = 5) -> float:
    """Share of intervals that hold the correlation with the true direction."""
    spread = COVARIANCE @ TRUE / np.sqrt(TRUE @ COVARIANCE @ TRUE)
    root, inside = np.linalg.cholesky(COVARIANCE), []
    for seed in range(draws):
        key = np.random.default_rng([11, seed])
        x = key.standard_normal((rows, 4)) @ root.T
        y = x @ TRUE + 2.0 * key.standard_normal(rows)
        kept = [np.arange(rows) % folds != fold for fold in range(folds)]
        every = [np.linalg.lstsq(x[k], y[k], rcond=None)[0] for k in [kept[0] | True, *kept]]
        seen = [x @ weights for weights in every[1:]] if refits else []
        for each in correlations(x, x @ every[0], seen, folds, columns("0123")):
            # Without refits: errors of rows alone, as wide as these errors would allow.
            reach = 2.776 * each.weight.error
            inside.append(abs(each.weight.value - spread[int(each.column)]) <= reach)
    return float(np.mean(inside))


@pytest.mark.law
def test_intervals_of_correlations_hold_the_truth() -> None:
    """At least 95 %, less three standard errors of 400 draws (.033)."""
    assert coverage(refits=True) > 0.917


@pytest.mark.law
@pytest.mark.sentinel
def test_errors_that_forget_refits_are_seen() -> None:
    assert coverage(refits=False) < 0.85


def test_columns_that_depend_on_each_other_correlate_with_what_they_share() -> None:
    """Of two equal columns one may get all the weight: both correlate with the direction alike."""
    x = np.random.default_rng(0).standard_normal((50, 2))
    x = np.column_stack([x, x[:, 0]])
    [first, second, third] = correlations(x, x[:, 0] + 0.1 * x[:, 1], [], 5, columns("abc"))
    assert {first.column, second.column} == {"a", "c"}
    assert first.weight.value == pytest.approx(second.weight.value)
    assert first.weight.value > 0.98
    assert third.column == "b"


def one_hot(key: np.random.Generator, rows: int = 400) -> np.ndarray:
    """A column of numbers, and the 0/1 columns of four categories of different sizes."""
    place = key.choice(4, rows, p=[0.1, 0.2, 0.3, 0.4])
    return np.column_stack([key.standard_normal(rows), np.eye(4)[place]])


def test_weights_of_categories_are_differences_from_one() -> None:
    """Only the second category matters, whatever constant is added to the weights of all."""
    encoded = [Encoded("a", "a"), *(Encoded(f"c = {k}", "c", complete=True) for k in range(4))]
    x = one_hot(np.random.default_rng(0))
    spread = x.std(axis=0)
    raw = np.array([0.5, 0.0, 1.0, 0.0, 0.0])
    for constant in (0.0, -0.25, 3.0):
        shifted = raw + constant * np.array([0.0, 1.0, 1.0, 1.0, 1.0])
        # The coordinate is the same up to its mean.
        assert np.std(x @ shifted - x @ raw) < 1e-12
        taken = references(shifted * spread, spread, encoded)
        weights = relative(shifted * spread, spread, taken)
        expected = raw * spread / np.linalg.norm(raw * spread)
        assert weights == pytest.approx(expected)
        assert taken[0].reference != 2
    numbers = references(raw, spread, [Encoded(name, name) for name in "abcde"])
    assert numbers == ()


@pytest.mark.slow
def test_a_refit_without_a_direction_is_counted_and_not_drawn() -> None:
    """A weak second direction of three refits: one of them lacks it."""
    pandas = pytest.importorskip("pandas")
    key = np.random.default_rng(3)
    x = key.standard_normal((400, 8))
    city = np.array(["Berlin", "Paris", "Rome", "Oslo"], dtype=object)[key.integers(0, 4, 400)]
    y = np.abs(x[:, 0] + x[:, 1] - x[:, 2]) + 0.6 * (city == "Rome")
    frame = pandas.DataFrame(x, columns=[f"x{j}" for j in range(8)]).assign(city=city)
    record = report(frame, y + 0.3 * key.standard_normal(400), quick=True)
    first, second = record.directions
    assert (first.found, second.found) == (3, 2)
    assert min(second.stability) < FOUND < np.median(second.stability)
    # Each of three parts holds out a third of the rows.
    assert np.isfinite(first.coordinate).all()
    assert np.sum(np.isnan(second.coordinate)) == pytest.approx(400 / 3, abs=1)
    for weight in (*first.weights, *second.weights, *second.correlations):
        assert -1.0 <= weight.weight.low <= weight.weight.value <= weight.weight.high <= 1.0
    assert record.as_dict()["directions"][1]["found"] == 2
    assert "Found in 2 of 3 refits" in record.html()
    # The category that differs from the others is the only one in front.
    assert second.weights[0].column == "city = Rome"
    assert len(second.references) == 1
    assert second.references[0] != "city = Rome"
