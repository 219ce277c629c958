"""Drift: whether the first rows of a table differ from the last ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import ks_2samp, spearmanr

from giantstep.reports.resamples import HeldOut
from giantstep.reports.table import Column, Table


@dataclass(frozen=True)
class Moved:
    """Something that differs between the first and the last half of the rows."""

    what: str
    p_value: float


@dataclass(frozen=True)
class Drift:
    """What differs between the first and the last rows, and at which level it was tested.

    tests -> number of comparisons, each at level/tests.  inputs, label -> columns and labels;
    relation -> whether the errors of held-out rows depend on the number of the row; slopes ->
    columns of numbers, none of ``inputs``, whose product with these errors does.
    """

    inputs: tuple[Moved, ...]
    label: Moved | None
    relation: Moved | None
    level: float
    tests: int
    slopes: tuple[Moved, ...] = ()

    @property
    def seen(self) -> bool:
        """Whether anything differs."""
        return any((self.inputs, self.slopes, self.label, self.relation))

    @property
    def sentences(self) -> tuple[str, ...]:
        lines = []
        if self.inputs:
            names = _names(self.inputs)
            lines.append(f"The first half of the rows differs from the last half in {names}.")
        if self.label is not None:
            lines.append(
                "The label changes from the first rows to the last: they may be sorted, or times "
                "have changed."
            )
        if self.relation is not None:
            lines.append(
                "Errors of held-out rows change along the table, so that a score on new rows may "
                "be another."
            )
        if self.slopes:
            lines.append(
                f"How the label depends on {_names(self.slopes)} changes along the table. A score "
                "is a mean over all of its rows, and the next rows may be predicted worse."
            )
        if not lines:
            lines.append("No drift is seen between the first and the last rows.")
        return (
            *lines,
            f"These are {self.tests} tests (of columns in use and their slopes, the label and "
            f"errors), at level {self.level:g} for all together.",
        )


def _names(moved: Sequence[Moved], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(moved) - most} more" if len(moved) > most else ""
    return ", ".join(repr(each.what) for each in moved[:most]) + more


def drift(table: Table, held: HeldOut, numbers: Sequence[str] = (), level: float = 0.01) -> Drift:
    """Kolmogorov and Smirnov's test of halves for every column, rank correlations for errors.

    Errors times a column correlate with the row number where the slope of the label changes.

    numbers -> columns that number the rows, which differ between halves by their nature.
    """
    half = len(table) // 2
    used = set(held.problem.prepared.sources) - set(numbers)
    columns = [column for column in table.columns if column.name in used]
    tests = len(columns) + sum(column.numeric for column in columns) + 3
    bound = level / tests
    inputs = [Moved(column.name, _halves(column, half)) for column in columns]
    label = Moved(table.label.name, _halves(table.label, half))
    residual = held.problem.labels.scores - held.predictions()
    number = np.arange(len(table))
    signed, size = residual[:, -1], np.sum(residual**2, axis=1)
    p_values = [_trend(number, signed), _trend(number, size)]
    relation = Moved("errors", min(p_values))

    def beyond(moved: Sequence[Moved]) -> tuple[Moved, ...]:
        return tuple(sorted((m for m in moved if m.p_value < bound), key=lambda m: m.p_value))

    # Of a column that moves itself a bend that the fit misses looks like another slope.
    moving = {moved.what for moved in beyond(inputs)}
    slopes = [
        Moved(column.name, _trend(number, signed * _centred(column.values)))
        for column in columns
        if column.numeric and column.name not in moving
    ]
    return Drift(
        inputs=beyond(inputs),
        slopes=beyond(slopes),
        label=label if label.p_value < bound else None,
        relation=relation if relation.p_value < bound else None,
        level=level,
        tests=tests,
    )


def _halves(column: Column, half: int) -> float:
    """p-value of equal laws; words count by how often they are in the column."""
    values = column.values
    if not column.numeric:
        known = {word: place for place, word in enumerate(sorted(set(map(str, values))))}
        values = np.array([known[str(word)] for word in values], dtype=float)
    first, last = (part[~np.isnan(part)] for part in (values[:half], values[half:]))
    if min(len(first), len(last)) < 2:
        return 1.0
    return float(ks_2samp(first, last, method="asymp").pvalue)


def _centred(values: np.ndarray) -> np.ndarray:
    """Deviations from the mean, 0 in gaps."""
    return np.nan_to_num(values - np.nanmean(values))


def _trend(number: np.ndarray, values: np.ndarray) -> float:
    return 1.0 if np.ptp(values) == 0 else float(spearmanr(number, values).pvalue)
