"""What is wrong with a table before any fit: too few rows, the label as a column, copies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError
from giantstep.reports.columns import names_rows
from giantstep.reports.interval import Folds, Interval, explained
from giantstep.reports.labels import Labels
from giantstep.reports.table import Column, Table

LEAST_ROWS = 20
"""Different rows below which nothing can be held out."""

LEAK = 0.99
"""Share of the label that one column alone explains, from which on it is called a leak."""


@dataclass(frozen=True)
class Leak:
    """A column that alone predicts (almost) all of the label on rows held out.

    exact -> it is the label itself, in other units or under other names, and was left out.
    """

    column: str
    share: Interval
    exact: bool

    @property
    def sentence(self) -> str:
        if self.exact:
            return (
                f"Column {self.column!r} is the label itself, as it is or in other units or names. "
                "It was left out."
            )
        return (
            f"Column {self.column!r} alone predicts {self.share.percent} of the label: is it known "
            "before the label is? If not, leave it out (--drop)."
        )


def labelled(table: Table) -> tuple[Table, tuple[str, ...]]:
    """The rows that have a label, and what was left out."""
    missing = table.label.missing
    _refuse_few(len(missing), least=1)
    if missing.all():
        raise InputError(f"label {table.label.name!r} must have values, got only empty cells")
    if not missing.any():
        return table, ()
    count = int(missing.sum())
    one = "1 row without a label is" if count == 1 else f"{count:,} rows without a label are"
    return table.take(np.flatnonzero(~missing)), (f"{one} left out.",)


def row_groups(table: Table) -> Int[np.ndarray, " n"]:
    """A number for every row, the same for rows with the same inputs; too few are refused.

    Columns that number the rows would make every row another one.  Rows are compared without them
    where rows agree in all other columns more often than independent columns would let them.
    """
    if not table.columns:
        raise InputError("the table must have a column beside the label, got none")
    if all(column.missing.all() for column in table.columns):
        raise InputError("columns must have values, got only empty cells beside the label")
    copies = _copies(table)
    single = _first(copies)
    if len(single) == 1 < len(copies):
        raise InputError(f"columns must vary, got the same cells in all of the {len(copies)} rows")
    _refuse_few(len(single))
    groups = np.empty(int(copies.max()) + 1, dtype=int)
    groups[copies[single]] = _groups_without_numbers(table.take(single))
    _refuse_few(int(groups.max()) + 1, seen=" without columns that number or name rows")
    return groups[copies]


def _refuse_few(distinct: int, least: int = LEAST_ROWS, seen: str = "") -> None:
    """InputError for fewer than ``least`` different rows."""
    if distinct < least:
        raise InputError(
            f"the table must have at least {LEAST_ROWS} different rows, so that some can be held "
            f"out, got {distinct}{seen}"
        )


def _copies(table: Table) -> Int[np.ndarray, " n"]:
    """A number for every row, the same for rows that agree in all columns."""
    return _groups([_codes(column) for column in table.columns])


def _first(groups: Int[np.ndarray, " n"]) -> Int[np.ndarray, " g"]:
    """The first row of every group, in the order of the table."""
    return np.sort(np.unique(groups, return_index=True)[1])


def _groups_without_numbers(table: Table) -> Int[np.ndarray, " n"]:
    """Groups of rows that all differ, seen without their numbers where these only name copies."""
    columns = [c for c in table.columns if c.numeric or not names_rows(c)] or list(table.columns)
    codes = {column.name: _codes(column) for column in columns}
    # A column of the first kind may well be an input, so that agreement must be beyond chance.
    for numbers, sure in ((_may_number, False), (_numbers, True)):
        some = [codes[column.name] for column in columns if not numbers(column)]
        if not 0 < len(some) < len(columns):
            continue
        groups = _groups(some)
        agree, chance = _pairs(groups), _chance(some)
        distinct = int(groups.max()) + 1
        many = len(table) - distinct >= len(table) / 20
        beyond = agree > 2.0 * chance if sure else many and chance < 1.0
        if beyond and distinct >= LEAST_ROWS:
            return groups
    return _groups(list(codes.values()))


@dataclass(frozen=True)
class RowNumber:
    """A column that looks like a row number.

    parts -> rows that agree in all other columns differ in it; it was left out, since a fit would
    take these copies for rows of their own.
    """

    column: str
    parts: bool

    @property
    def sentence(self) -> str:
        seems = f"Column {self.column!r} looks like a row number and should be dropped"
        if self.parts:
            return f"{seems}: rows that are equal without it differ in it. It was left out."
        return f"{seems} (--drop), unless it is known of new rows and means something there."


def row_numbers(table: Table, groups: Int[np.ndarray, " n"]) -> tuple[RowNumber, ...]:
    """Columns that look like row numbers: they count, or they alone part equal rows."""
    # A whole copy of a row has its number too.
    single = _first(_copies(table))
    table, groups = table.take(single), groups[single]
    suspects = [column for column in table.columns if _may_number(column)]
    count = int(groups.max())
    parting = {c.name: int(_groups([groups, _codes(c)]).max()) > count for c in suspects}
    return tuple(
        RowNumber(column.name, parting[column.name])
        for column in suspects
        if parting[column.name] or _numbers(column)
    )


def _numbers(column: Column) -> bool:
    """Whether a column has whole numbers with few gaps between them, another one in every row."""
    return _different(column) and float(np.ptp(column.values)) < 2.0 * len(column.values)


def _may_number(column: Column) -> bool:
    """Whether a column may number rows: whole numbers, another one in every row, or sorted ones."""
    if not column.numeric or column.missing.any():
        return False
    steps = np.diff(column.values)
    ordered = bool(np.all(steps >= 0) or np.all(steps <= 0))
    return _different(column) or (ordered and 2 * column.distinct > len(column.values))


def _different(column: Column) -> bool:
    """Whether a column has another whole number in every row."""
    if not column.numeric or column.missing.any() or np.any(column.values % 1.0 != 0.0):
        return False
    return column.distinct == len(column.values)


def _groups(codes: list[np.ndarray]) -> Int[np.ndarray, " n"]:
    return np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel()


def _pairs(codes: Int[np.ndarray, " n"]) -> float:
    """Number of pairs of rows that have the same code."""
    counts = np.bincount(codes).astype(float)
    return float(np.sum(counts * (counts - 1.0)) / 2.0)


def _chance(codes: list[np.ndarray]) -> float:
    """Pairs of rows that would agree in all columns if these were independent."""
    every = len(codes[0]) * (len(codes[0]) - 1) / 2.0
    return every * float(np.prod([_pairs(each) / every for each in codes]))


def _codes(column: Column) -> Int[np.ndarray, " n"]:
    if column.numeric:
        return np.unique(column.values, return_inverse=True)[1].ravel()
    known: dict[str | None, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in column.values])


def duplicates(table: Table, groups: Int[np.ndarray, " n"]) -> tuple[str, ...]:
    """A sentence on rows with the same inputs, and whether their labels differ."""
    repeated = len(groups) - (int(groups.max()) + 1)
    if not repeated:
        return ()
    pairs = np.unique(np.column_stack([groups, _codes(table.label)]), axis=0)
    differ = int(np.sum(np.bincount(pairs[:, 0]) > 1))
    one = "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
    sentence = (
        f"{one} the inputs of another row. Rows with the same inputs are held out together, so "
        "that no fit sees one of them and is tested on another."
    )
    several = "1 group of such rows has" if differ == 1 else f"{differ:,} groups of such rows have"
    labels = f"{several} different labels." if differ else ""
    return (sentence, *([labels] if labels else []))


def leaks(
    table: Table, labels: Labels, groups: Int[np.ndarray, " n"], most: int = 5_000
) -> tuple[Leak, ...]:
    """Columns that alone predict the label on rows held out, the exact ones marked.

    most -> rows that trees are fitted on and try, drawn at random.
    """
    if len(table) > most:
        some = np.sort(np.random.default_rng(0).permutation(len(table))[:most])
        groups = np.unique(groups[some], return_inverse=True)[1].ravel()
        table, labels = table.take(some), replace(labels, scores=labels.scores[some])
    order = np.random.default_rng(0).permutation(int(groups.max()) + 1)
    half = order[groups] % 2 == 0
    listed = []
    for column in table.columns:
        codes = _codes(column)
        if _same(column, table.label, codes, labels):
            one = Interval(1.0, 0.0, 1.0, 1.0)
            listed.append(Leak(column.name, one, exact=True))
            continue
        if _neighbours_differ(column, codes, labels):
            continue
        share = _alone(column, codes, labels, half, groups)
        if share.value > LEAK:
            listed.append(Leak(column.name, share, exact=False))
    return tuple(listed)


def _same(column: Column, label: Column, codes: np.ndarray, labels: Labels) -> bool:
    """Whether a column is the label in other units, or in other names."""
    if column.missing.any():
        return False
    if labels.classes:
        pairs = len(np.unique(np.column_stack([codes, labels.place]), axis=0))
        return pairs == len(labels.classes) == len(np.unique(codes))
    if not column.numeric or column.distinct < 3:
        return False
    x, y = column.values - column.values.mean(), labels.scores[:, 0] - labels.scores[:, 0].mean()
    # Up to rounding of numbers that were written with six digits.
    return bool(abs(x @ y) > (1.0 - 1e-10) * np.sqrt((x @ x) * (y @ y)) > 0)


def _neighbours_differ(column: Column, codes: np.ndarray, labels: Labels) -> bool:
    """Whether rows with the nearest cells have labels too different for a leak.

    Half the mean squared difference of neighbours is the variance where a column says nothing of
    the label.  It is a hundredth of it beside a function that leaves a hundredth, plus its jumps: a
    tree whose leaves have three rows of one half jumps at a sixth of the rows at most, which makes
    a third, and a label far from all others makes a half.
    """
    order = np.argsort(column.values if column.numeric else codes, kind="stable")
    scores = labels.scores[order]
    near = np.sum(np.diff(scores, axis=0) ** 2) / 2.0
    return bool(near > 0.75 * np.sum((scores - scores.mean(axis=0)) ** 2))


def _alone(
    column: Column,
    codes: np.ndarray,
    labels: Labels,
    half: np.ndarray,
    groups: Int[np.ndarray, " n"],
) -> Interval:
    """What the column alone explains of the halves not seen, in the way that explains most."""
    from sklearn.tree import DecisionTreeRegressor

    # Of words: means of the label by category are what a tree needs to cut between categories.
    values = np.where(column.missing, np.nan, column.values) if column.numeric else codes
    x = values.astype(float)[:, None]
    ways = [(DecisionTreeRegressor(min_samples_leaf=3, random_state=0), x)]
    if column.numeric and not column.missing.any() and column.distinct > 2:
        ways += _smooth_ways(x)
    shares = [_halves_explained(way, z, labels, half, groups) for way, z in ways]
    return max(shares, key=lambda share: share.value)


def _smooth_ways(x: Float[np.ndarray, "n 1"]) -> list[tuple[Any, Float[np.ndarray, "n 1"]]]:
    """A line, a curve, and a line in logarithms: for them the steps of a tree are too coarse."""
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer

    # Frequent values are quantiles several times over.
    knots = np.unique(np.quantile(x, np.linspace(0.0, 1.0, 6)))[:, None]
    curve = make_pipeline(SplineTransformer(knots=knots), LinearRegression())
    logarithms = [(LinearRegression(), np.log(x))] if x.min() > 0.0 else []
    return [(LinearRegression(), x), (curve, x), *logarithms]


def _halves_explained(
    way: Any,
    x: Float[np.ndarray, "n 1"],
    labels: Labels,
    half: np.ndarray,
    groups: Int[np.ndarray, " n"],
) -> Interval:
    """What an estimator that is fitted on one half explains of the other one."""
    losses, totals = np.zeros(len(x)), np.zeros(len(x))
    for side in (half, ~half):
        train, test = np.flatnonzero(~side), np.flatnonzero(side)
        predicted = way.fit(x[train], labels.scores[train]).predict(x[test])
        losses[test] = labels.losses(predicted.reshape(len(test), -1), test)
        totals[test] = labels.totals(train, test)
    return explained(losses, totals, groups, Folds(2))
