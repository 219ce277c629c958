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
    relation -> whether the errors of held-out rows depend on the number of the row.
    """

    inputs: tuple[Moved, ...]
    label: Moved | None
    relation: Moved | None
    level: float
    tests: int

    @property
    def seen(self) -> bool:
        """Whether anything differs."""
        return bool(self.inputs) or self.label is not None or self.relation is not None

    @property
    def sentences(self) -> tuple[str, ...]:
        lines = []
        if self.inputs:
            names = ", ".join(repr(moved.what) for moved in self.inputs[:5])
            more = f" and {len(self.inputs) - 5} more" if len(self.inputs) > 5 else ""
            lines.append(f"The first half of the rows differs from the last half in {names}{more}.")
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
        if not lines:
            lines.append("No drift is seen between the first and the last rows.")
        return (
            *lines,
            f"These are {self.tests} tests (of columns in use, the label and errors), at level "
            f"{self.level:g} for all together.",
        )


def drift(table: Table, held: HeldOut, numbers: Sequence[str] = (), level: float = 0.01) -> Drift:
    """Kolmogorov and Smirnov's test of halves for every column, rank correlations for errors.

    numbers -> columns that number the rows, which differ between halves by their nature.
    """
    half = len(table) // 2
    used = set(held.problem.prepared.sources) - set(numbers)
    columns = [column for column in table.columns if column.name in used]
    tests = len(columns) + 3
    bound = level / tests
    inputs = [Moved(column.name, _halves(column, half)) for column in columns]
    label = Moved(table.label.name, _halves(table.label, half))
    residual = held.problem.labels.scores - held.predictions()
    number = np.arange(len(table))
    signed, size = residual[:, -1], np.sum(residual**2, axis=1)
    p_values = [_trend(number, signed), _trend(number, size)]
    relation = Moved("errors", min(p_values))
    return Drift(
        inputs=tuple(sorted((m for m in inputs if m.p_value < bound), key=lambda m: m.p_value)),
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


def _trend(number: np.ndarray, values: np.ndarray) -> float:
    return 1.0 if np.ptp(values) == 0 else float(spearmanr(number, values).pvalue)
