"""Labels as numbers: one column of a regression, or one of 0 and 1 for each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError, shown
from giantstep.reports.table import Column

TASKS = ("auto", "numbers", "classes")
"""What the label may be taken for."""

FEW_VALUES = 10
"""Whole numbers with at most so many different values count as classes unless told otherwise."""


@dataclass(frozen=True)
class Labels:
    """Labels of rows without gaps.

    scores -> the label itself, or a column of 0 and 1 for each class; classes -> their names, none
    for numbers; ``given`` is what estimators are handed.
    """

    name: str
    scores: Float[np.ndarray, "n m"]
    classes: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def place(self) -> Int[np.ndarray, " n"]:
        """Number of the class of every row."""
        return self.scores.argmax(axis=1)

    @property
    def given(self) -> np.ndarray:
        """What estimators are handed: names of classes, or numbers."""
        return np.array(self.classes)[self.place] if self.classes else self.scores[:, 0]

    def totals(self, train: np.ndarray, test: np.ndarray) -> Float[np.ndarray, " k"]:
        """Squared errors on test rows of the mean of training rows."""
        return np.sum((self.scores[test] - self.scores[train].mean(axis=0)) ** 2, axis=1)

    def losses(
        self, predicted: Float[np.ndarray, "k m"], test: np.ndarray
    ) -> Float[np.ndarray, " k"]:
        """Squared errors on test rows of predictions, summed over classes."""
        return np.sum((self.scores[test] - predicted) ** 2, axis=1)


def make_labels(column: Column, task: str = "auto") -> Labels:
    """Numbers or classes; a label that is constant or names single rows is refused."""
    if task not in TASKS:
        raise InputError(f"task must be one of {', '.join(TASKS)}, got {shown(task)}")
    values, distinct = column.values, column.distinct
    if distinct < 2:
        only = values.tolist()[0] if len(values) else "nothing"
        raise InputError(f"label {column.name!r} must vary, got {shown(only)} in every row")
    if task == "numbers" and not column.numeric:
        raise InputError(f"label {column.name!r} must be numbers, got {shown(values[0])}")
    whole = column.numeric and bool(np.all(values == np.round(values)))
    few = distinct == 2 or (whole and distinct <= FEW_VALUES)
    if column.numeric and (task == "numbers" or (task == "auto" and not few)):
        return Labels(column.name, values[:, None].astype(float))
    texts = [f"{value:g}" if column.numeric else str(value) for value in values]
    classes = tuple(sorted(set(texts), key=_order))
    if len(classes) > max(len(values) // 5, 2):
        raise InputError(
            f"label {column.name!r} must have several rows a class, got {len(classes)} classes in "
            f"{len(values)} rows"
        )
    scores = np.equal.outer(np.array(texts), np.array(classes)).astype(float)
    said = (
        (
            f"The label has {distinct} different values and is read as classes; --task numbers "
            "reads it as a number.",
        )
        if column.numeric and task == "auto"
        else ()
    )
    return Labels(column.name, scores, classes, said)


def _order(text: str) -> tuple[float, str]:
    """Numbers by their size, words by the alphabet."""
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text
