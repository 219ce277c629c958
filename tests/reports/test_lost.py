"""What held-out rows lose without a column, of a fit that is known."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantstep.reports.columns import Prepared
from giantstep.reports.labels import make_labels
from giantstep.reports.lost import lost
from giantstep.reports.plan import QUICK
from giantstep.reports.resamples import HeldOut, make_problem
from giantstep.reports.table import make_column


class Known:
    """Predicts x1 + x2 * (c is "a")."""

    n_fitted_ = 1
    feature_importances_ = np.array([0.2, 0.2, 0.2, 0.2, 0.2])

    def predict(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows, dtype=object)
        return (rows[:, 0] + rows[:, 1] * (rows[:, 3] == "a")).astype(float)


def held_out(rows: int = 600) -> tuple[HeldOut, Any]:
    key = np.random.default_rng(0)
    x = np.empty((rows, 4), dtype=object)
    x[:, :3], x[:, 3] = key.standard_normal((rows, 3)), key.choice(["a", "b", "c"], rows)
    prepared = Prepared(x, ["x1", "x2", "x3", "c"], [0, 1, 2], [3], ())
    y = Known().predict(x) + 0.3 * key.standard_normal(rows)
    labels = make_labels(make_column("y", y), "numbers")
    problem = make_problem(prepared, labels, np.arange(rows), QUICK)
    pipelines: dict[int, Any] = {fold: Known() for fold in range(problem.folds)}
    return HeldOut(problem, {}, pipelines), labels


def test_columns_that_are_used_are_named_with_what_is_lost() -> None:
    """Var y = 1 + 1/3 + .09.  Shuffling x1 costs 2, x2 2/3, c 4/9; x3 is not used."""
    held, _ = held_out()
    names = ["x1", "x2", "x3"]
    encoded = [SimpleNamespace(source=name) for name in [*names, "c", "c"]]
    object.__setattr__(held.problem.prepared, "encoded", lambda front: encoded)
    pipeline = [None, Known()]
    direction = SimpleNamespace(certain=True, references=("c = a",), often=True)
    found = lost(held, pipeline, [direction])
    assert [each.column for each in found] == ["x1", "x2", "c"]
    variance = 1.0 + 1.0 / 3.0 + 0.09
    for each, loss in zip(found, (2.0, 2.0 / 3.0, 4.0 / 9.0), strict=True):
        assert each.share.value == pytest.approx(loss / variance, abs=4 * each.share.error)
    plain = SimpleNamespace(certain=True, references=(), often=True)
    unsure = SimpleNamespace(certain=False, references=("c = a",), often=False)
    assert lost(held, pipeline, [plain, unsure]) == ()
    lacking = SimpleNamespace(certain=True, references=(), often=False)
    assert [each.column for each in lost(held, pipeline, [lacking])] == ["x1", "x2", "c"]


class Many(Known):
    """Predicts all of 20 columns, of which labels depend on none."""

    def predict(self, rows: Any) -> np.ndarray:
        return 0.5 * np.asarray(rows, dtype=float).sum(axis=1)


def tables_with_a_name(tables: int = 40, columns: int = 20, rows: int = 150) -> int:
    """How many tables have a column that is said to cost something, where none does."""
    names = [f"x{j}" for j in range(columns)]
    encoded = [SimpleNamespace(source=name) for name in names]
    model, direction = Many(), SimpleNamespace(certain=True, references=(), often=False)
    model.feature_importances_ = np.ones(columns)
    count = 0
    for seed in range(tables):
        key = np.random.default_rng(seed)
        prepared = Prepared(
            key.standard_normal((rows, columns)), names, list(range(columns)), [], ()
        )
        object.__setattr__(prepared, "encoded", lambda front: encoded)
        labels = make_labels(make_column("y", key.standard_normal(rows)), "numbers")
        problem = make_problem(prepared, labels, np.arange(rows), QUICK)
        pipelines: dict[int, Any] = dict.fromkeys(range(problem.folds), model)
        count += lost(HeldOut(problem, {}, pipelines), [None, model], [direction]) != ()
    return count


def test_a_column_is_named_beyond_the_errors_of_all_that_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At most one table in forty names one; single 95 % intervals would name one in two of five.

    Of 40 tables more than 4 have a name with probability .003.
    """
    assert tables_with_a_name() <= 4
    monkeypatch.setattr("giantstep.reports.lost.ndtri", lambda p: 1.96)
    assert tables_with_a_name() > 8
