"""Too few rows, constant labels, classes, copies of rows, and columns that give the label away."""

from collections.abc import Callable

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.reports.checks import (
    _neighbours_differ,
    duplicates,
    labelled,
    leaks,
    row_groups,
    row_numbers,
)
from giantstep.reports.labels import make_labels
from giantstep.reports.table import Table, make_column, make_table, table_of

KEY = np.random.default_rng(0)


def normal(rows: int = 200, columns: int = 3) -> np.ndarray:
    return np.random.default_rng(rows).standard_normal((rows, columns))


def leaks_of(table: Table) -> dict[str, bool]:
    found = leaks(table, make_labels(table.label), row_groups(table))
    return {leak.column: leak.exact for leak in found}


def test_the_label_in_other_units_is_an_exact_leak() -> None:
    x = normal()
    y = x[:, 0] + 0.3 * KEY.standard_normal(200)
    copy = np.round(3.0 - 7.0 * y, 9)
    assert leaks_of(table_of(np.column_stack([x, copy]), y)) == {"x4": True}


def test_the_class_under_other_names_is_an_exact_leak() -> None:
    y = np.array(["sick", "well"] * 100)
    code = np.where(y == "sick", 17.0, 4.0)
    assert leaks_of(table_of(np.column_stack([normal(), code]), y)) == {"x4": True}
    code[0] = 4.0
    # One row of another class makes it a column that predicts almost all, not the label itself.
    assert leaks_of(table_of(np.column_stack([normal(), code]), y)) in ({}, {"x4": False})


def test_a_column_that_almost_gives_the_label_is_named_and_kept() -> None:
    x = normal(2000)
    y = x[:, 0] + x[:, 1]
    bent = np.exp(y + 0.01 * np.random.default_rng(1).standard_normal(2000))
    assert leaks_of(table_of(np.column_stack([x, bent]), y)) == {"x4": False}


@pytest.mark.parametrize("bend", [lambda y: 0.19 * y, np.exp, lambda y: 1.0 / (1.0 + np.exp(y))])
def test_a_smooth_leak_is_named_in_small_tables(bend: Callable[[np.ndarray], np.ndarray]) -> None:
    """200 rows: the steps of a tree on half of them explain less than 99 %."""
    x = normal()
    y = x[:, 0] + x[:, 1]
    leaking = bend(y + 0.02 * np.random.default_rng(1).standard_normal(200))
    assert leaks_of(table_of(np.column_stack([x, leaking]), y)) == {"x4": False}
    noisy = bend(y + 0.5 * np.random.default_rng(1).standard_normal(200))
    assert leaks_of(table_of(np.column_stack([x, noisy]), y)) == {}


def test_a_column_of_frequent_values_is_looked_at() -> None:
    x = normal()
    x[:, 2] = np.maximum(x[:, 2], 1.0)
    y = x[:, 2] + 0.01 * np.random.default_rng(1).standard_normal(200)
    assert leaks_of(table_of(x, y)) == {"x3": False}


def test_a_column_that_predicts_well_is_no_leak() -> None:
    x = normal(2000)
    assert leaks_of(table_of(x, x[:, 0] + 0.3 * x[:, 1])) == {}


def test_rows_with_the_same_inputs_are_counted() -> None:
    x = normal(40)
    x[7] = x[3]
    table = table_of(x, np.arange(40.0))
    groups = row_groups(table)
    assert groups[7] == groups[3]
    assert len(set(groups.tolist())) == 39
    said = duplicates(table, groups)
    assert said[0].startswith("1 row repeats the inputs")
    assert said[1] == "1 group of such rows has different labels."
    assert (
        duplicates(
            table_of(normal(40), np.arange(40.0)), row_groups(table_of(normal(40), np.arange(40.0)))
        )
        == ()
    )


def numbers_of(x: np.ndarray) -> tuple[int, dict[str, bool]]:
    """How many different rows a table has, and its row numbers with whether they part copies."""
    table = table_of(x, np.arange(float(len(x))))
    groups = row_groups(table)
    return len(set(groups.tolist())), {r.column: r.parts for r in row_numbers(table, groups)}


@pytest.mark.parametrize(
    "number",
    [
        np.arange(160.0),
        np.random.default_rng(5).permutation(160) + 1.0,
        np.random.default_rng(6).choice(10**8, 160, replace=False) * 1.0,
        1.7e9 + np.cumsum(np.random.default_rng(7).uniform(0.1, 3.0, 160)),
        np.arange(160.0) // 1.5,
    ],
    ids=["counts", "shuffled", "long numbers", "times", "counts with repeats"],
)
def test_copies_are_seen_behind_a_row_number(number: np.ndarray) -> None:
    x = np.tile(normal(40), (4, 1))
    assert numbers_of(np.column_stack([x, number])) == (40, {"x4": True})


def test_copies_of_coarse_columns_are_seen_behind_a_row_number() -> None:
    coarse = np.random.default_rng(8).integers(0, 4, (60, 6)).astype(float)
    x = np.column_stack([np.tile(coarse, (3, 1)), np.arange(180.0)])
    assert numbers_of(x) == (len(np.unique(coarse, axis=0)), {"x7": True})


def test_a_row_number_is_seen_beside_whole_copies_of_rows() -> None:
    x = np.column_stack([normal(160), np.arange(160.0)])
    assert numbers_of(np.concatenate([x, x[:20]])) == (160, {"x4": False})
    parted = np.column_stack([np.tile(normal(80), (2, 1)), np.arange(160.0)])
    assert numbers_of(np.concatenate([parted, parted[:20]])) == (80, {"x4": True})


def test_copies_are_seen_behind_names_of_rows() -> None:
    cells = np.column_stack([np.tile(normal(40), (2, 1)), np.zeros(80)]).astype(object)
    cells[:, 3] = [f"row {k}" for k in range(80)]
    columns = [make_column(f"x{j}", list(cells[:, j])) for j in range(4)]
    table = make_table([*columns, make_column("y", np.arange(80.0))], "y")
    groups = row_groups(table)
    assert len(set(groups.tolist())) == 40
    assert row_numbers(table, groups) == ()


@pytest.mark.parametrize(
    ("x", "numbers"),
    [
        (normal(200), {}),
        (np.column_stack([normal(200), np.arange(200.0)]), {"x4": False}),
        # A sorted input beside coarse ones is no row number, and equal coarse cells no copies.
        (np.column_stack([np.sort(normal(200, 1)[:, 0]), normal(200, 2) > 0]), {}),
        (np.column_stack([np.arange(1900.0, 2100.0), normal(200, 2) > 0]), {"x1": False}),
        (np.linspace(0.0, 1.0, 200)[:, None], {}),
        (np.arange(200.0)[:, None], {"x1": False}),
    ],
    ids=["noise", "counts", "sorted", "years", "grid", "alone"],
)
def test_rows_that_differ_are_no_copies(x: np.ndarray, numbers: dict[str, bool]) -> None:
    assert numbers_of(x.astype(float)) == (200, numbers)


def test_a_row_number_is_named() -> None:
    table = table_of(np.column_stack([normal(200), np.arange(200.0)]), np.arange(200.0))
    [number] = row_numbers(table, row_groups(table))
    assert number.sentence.startswith("Column 'x4' looks like a row number and should be dropped")


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([2.0] * 30, "must vary, got 2.0 in every row"),
        ([np.nan] * 30, "must have values, got only empty cells"),
        ([f"name {k}" for k in range(30)], "several rows a class, got 30 classes in 30 rows"),
    ],
)
def test_labels_that_tell_nothing_are_refused(y: list, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        make_labels(labelled(table_of(normal(30), y))[0].label)
    assert sentence in str(error.value)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(InputError, match=r"at least 20 different rows.* got 1"):
        row_groups(table_of(normal(1), [1.0]))
    with pytest.raises(InputError, match="columns must vary, got the same cells in all of the 50"):
        row_groups(table_of(np.ones((50, 2)), np.arange(50.0)))


def test_tables_of_one_row_and_of_none_are_refused() -> None:
    """One row with a word, whose pairs are none, and a table of names alone."""
    word, number = make_column("a", ["x"]), make_column("b", [1.0])
    one = make_table([word, number, make_column("y", [2.0])], "y")
    with pytest.raises(InputError, match=r"at least 20 different rows.* got 1"):
        row_groups(one)
    none = make_table([make_column("a", []), make_column("y", [])], "y")
    with pytest.raises(InputError, match=r"at least 20 different rows.* got 0"):
        labelled(none)
    names = make_column("b", [f"row {k}" for k in range(40)])
    words = make_table([make_column("a", ["u", "v"] * 20), names, make_column("y", range(40))], "y")
    with pytest.raises(InputError, match="got 2 without columns that number or name rows"):
        row_groups(words)
    alone = make_table([make_column("y", np.arange(40.0))], "y")
    with pytest.raises(InputError, match="must have a column beside the label, got none"):
        row_groups(alone)


def test_rows_without_a_label_are_left_out_and_said() -> None:
    table, said = labelled(table_of(normal(30), [np.nan, *range(29)]))
    assert len(table) == 29
    assert said == ("1 row without a label is left out.",)


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        ([1, 2, 3] * 10, "auto", ("1", "2", "3")),
        ([1, 2, 3] * 10, "numbers", ()),
        ([0.5, 1.5] * 15, "auto", ("0.5", "1.5")),
        (list(np.linspace(0, 1, 30)), "auto", ()),
        (["b", "a"] * 15, "auto", ("a", "b")),
        ([10, 9] * 15, "classes", ("9", "10")),
    ],
)
def test_labels_are_numbers_or_classes(values: list, task: str, classes: tuple) -> None:
    labels = make_labels(make_column("y", values), task)
    assert labels.classes == classes
    assert labels.scores.shape == (30, max(len(classes), 1))
    if classes:
        assert labels.given[0] == str(values[0])


def test_a_task_must_fit_the_label() -> None:
    words = make_table([make_column("y", ["a", "b"] * 9)], "y").label
    with pytest.raises(InputError, match="must be numbers, got 'a'"):
        make_labels(words, "numbers")
    with pytest.raises(InputError, match="task must be one of auto, numbers, classes"):
        make_labels(words, "guess")


def test_columns_that_say_nothing_are_not_fitted() -> None:
    """Of 300 independent columns nearly none, of those that know the label every one."""
    key = np.random.default_rng(3)
    y = key.standard_normal(60)
    known = [y, y**3, np.abs(y - y.min()) + 0.05 * key.standard_normal(60), np.round(y, 1)]
    y_far = np.where(np.arange(60) == 7, 100.0, y)
    for label, columns in ((y_far, [y_far]), (y, known)):
        column = make_column("label", label)
        labels = make_labels(column)
        for values in columns:
            other = make_column("a", values)
            assert not _neighbours_differ(other, np.zeros(60, dtype=int), labels)
    noise = [make_column("a", key.standard_normal(60)) for _ in range(300)]
    fitted = [c for c in noise if not _neighbours_differ(c, np.zeros(60, dtype=int), labels)]
    assert len(fitted) < 30
