"""Drift between the first and the last rows, of labels whose relation to columns is known."""

from typing import Any

import numpy as np
import pytest

from giantstep.reports.columns import Prepared
from giantstep.reports.drift import Drift, drift
from giantstep.reports.labels import make_labels
from giantstep.reports.models import GIANT_STEPS
from giantstep.reports.plan import QUICK
from giantstep.reports.resamples import HeldOut, Job, make_problem
from giantstep.reports.table import Table, table_of


def seen(x: np.ndarray, y: np.ndarray) -> Drift:
    """The drift of a table of which a fit predicts x1."""
    table: Table = table_of(x, y)
    names, none = [f"x{j + 1}" for j in range(x.shape[1])], np.nan_to_num(x[:, :1])
    prepared = Prepared(x, names, list(range(x.shape[1])), [], ())
    problem = make_problem(prepared, make_labels(table.label), np.arange(len(x)), QUICK)
    predicted: dict[Job, Any] = {
        Job(GIANT_STEPS, fold): none[problem.test(fold)] for fold in range(problem.folds)
    }
    return drift(table, HeldOut(problem, predicted, {}))


def columns(seed: int, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    key = np.random.default_rng(seed)
    return key.standard_normal((rows, 4)), 0.5 * key.standard_normal(rows)


@pytest.mark.parametrize("gaps", [False, True])
def test_a_slope_that_changes_along_the_table_is_named(gaps: bool) -> None:
    """y = x1 + cos(pi t) x2: neither a column, nor the label, nor the size of errors moves."""
    x, noise = columns(1)
    y = x[:, 0] + np.cos(np.pi * np.linspace(0.0, 1.0, len(x))) * x[:, 1] + noise
    if gaps:
        x[::7, 1] = np.nan
    found = seen(x, y)
    assert [moved.what for moved in found.slopes] == ["x2"]
    assert (found.inputs, found.label, found.relation) == ((), None, None)
    assert found.seen
    assert found.tests == 11
    assert "How the label depends on 'x2' changes along the table." in found.sentences[0]


def test_tables_in_random_order_have_no_drift() -> None:
    """At level .01 for all tests together more than 3 of 60 tables have one with probability .003.

    In the order of its errors a table has one.
    """
    drifting = 0
    for seed in range(60):
        x, noise = columns(seed)
        drifting += seen(x, x[:, 0] + x[:, 1] ** 2 + noise).seen
    assert drifting <= 3
    x, noise = columns(0)
    order = np.argsort(noise)
    assert seen(x[order], (x[:, 0] + noise)[order]).relation is not None


def test_a_column_that_moves_is_named_for_that_alone() -> None:
    """The fit misses x2^2, and x2 counts the rows: its slope changes with its values."""
    x, noise = columns(2)
    x[:, 1] = np.linspace(-2.0, 2.0, len(x))
    found = seen(x, x[:, 0] + x[:, 1] ** 2 * np.sign(x[:, 1]) + noise)
    assert [moved.what for moved in found.inputs] == ["x2"]
    assert found.slopes == ()
