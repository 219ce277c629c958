"""Correlations of columns with a direction: their intervals hold the truth as often as they say."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantstep.reports.directions import _correlations

# Columns of which each correlates by .8 with the one before, and the true weights.
COVARIANCE = 0.8 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
TRUE = np.array([1.0, -0.5, 0.0, 0.5])


def seen_by(weights: list[np.ndarray], x: np.ndarray) -> list[Any]:
    """Refits of a direction, each seen as its coordinates of all rows."""
    return [SimpleNamespace(along=lambda mean, w=w: x @ w + mean) for w in weights]


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
        seen = seen_by(every[1:], x) if refits else []
        for each in _correlations(x, x @ every[0], list("0123"), seen):
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
    [first, second, third] = _correlations(x, x[:, 0] + 0.1 * x[:, 1], list("abc"), [])
    assert {first.column, second.column} == {"a", "c"}
    assert first.weight.value == pytest.approx(second.weight.value)
    assert first.weight.value > 0.98
    assert third.column == "b"
