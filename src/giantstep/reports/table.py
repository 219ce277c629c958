"""A table with a label: columns of numbers or words, gaps as NaN or None."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown, unknown_name

DATES = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?")
"""Texts that are dates, with or without a time of the day."""

GAPS = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
"""Cells of a text that hold nothing, in small letters."""

LARGEST = 1e30
"""Largest number in a column: trees compute in single precision, which ends at 3e38."""

SMALLEST = 1e-30
"""What the largest number of a column must reach, unless all are 0: its fourth power is no 0."""


@dataclass(frozen=True)
class Column:
    """One column: numbers with NaN for gaps, or words with None for gaps."""

    name: str
    values: np.ndarray

    @property
    def numeric(self) -> bool:
        return self.values.dtype.kind == "f"

    @property
    def missing(self) -> np.ndarray:
        """Which rows have a gap."""
        if self.numeric:
            return np.isnan(self.values)
        return np.array([value is None for value in self.values], dtype=bool)

    @property
    def distinct(self) -> int:
        """Number of different values, gaps not counted."""
        return len(set(self.values[~self.missing].tolist()))

    def take(self, rows: np.ndarray) -> Column:
        return Column(self.name, self.values[rows])


@dataclass(frozen=True)
class Table:
    """The columns that may predict, and the column to be predicted."""

    columns: tuple[Column, ...]
    label: Column

    def __len__(self) -> int:
        return len(self.label.values)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def take(self, rows: np.ndarray) -> Table:
        return Table(tuple(column.take(rows) for column in self.columns), self.label.take(rows))

    def without(self, names: Sequence[str]) -> Table:
        """The table without some columns."""
        return Table(tuple(c for c in self.columns if c.name not in names), self.label)


def make_column(name: str, values: Any) -> Column:
    """A column of whatever came; dates are refused with what to do about them."""
    array = np.asarray(values)
    if array.dtype.kind in "Mm":
        raise _date(name, array.flat[0])
    if array.dtype.kind in "iuf" and not _categorical(values):
        return _of_numbers(name, array.astype(float))
    if array.dtype.kind == "c":
        raise InputError(f"column {name!r} must hold numbers or words, got {shown(array.flat[0])}")
    return _of_words(name, array.tolist(), named=_categorical(values) or array.dtype.kind == "b")


def _of_words(name: str, cells: list[Any], named: bool) -> Column:
    """Words, or numbers that came as text or beside gaps; ``named`` ones are names of something."""
    words = np.empty(len(cells), dtype=object)
    words[:] = [word_of(cell) for cell in cells]
    present = [word for word in words if word is not None]
    if present and all(DATES.fullmatch(word) for word in present):
        raise _date(name, present[0])
    if not named and not any(isinstance(cell, bool) for cell in cells):
        try:
            numbers = np.array([np.nan if word is None else float(word) for word in words])
        except ValueError:
            return Column(name, words)
        return _of_numbers(name, numbers)
    return Column(name, words)


def word_of(cell: Any) -> str | None:
    """A cell as a word, None for a gap."""
    return None if _gap(cell) else str(cell).strip()


def _of_numbers(name: str, numbers: Float[np.ndarray, " n"]) -> Column:
    """Numbers with gaps; those that models cannot compute with are refused."""
    for beyond, words in (
        (np.isinf(numbers), "must be finite"),
        (np.abs(numbers) > LARGEST, f"must be at most {LARGEST:g} in size"),
    ):
        if beyond.any():
            row = int(np.flatnonzero(beyond)[0])
            raise InputError(f"column {name!r} {words}, got {numbers[row]:g} in row {row + 1}")
    largest = float(np.max(np.abs(numbers), initial=0.0, where=~np.isnan(numbers)))
    if 0.0 < largest < SMALLEST:
        raise InputError(
            f"column {name!r} must reach {SMALLEST:g} in size, got at most {largest:g}; write it "
            "in another unit"
        )
    return Column(name, numbers)


def _categorical(values: Any) -> bool:
    """Whether a frame calls the column one of categories, whatever their names."""
    return str(getattr(values, "dtype", "")).lower().startswith(("categor", "enum"))


def _gap(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in GAPS
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _date(name: str, value: Any) -> InputError:
    return InputError(
        f"column {name!r} holds dates, such as {shown(str(value))}; leave it out (--drop), or put "
        "numbers in its place, such as the year, the month or days since the first row"
    )


def make_table(columns: Sequence[Column], label: str) -> Table:
    """The table with the column of labels taken out of the others."""
    names = [column.name for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"every column must have a name of its own, got {shown(twice)} twice")
    if label not in names:
        if len(names) > 20:
            raise unknown_name("label", label, names, "the first line of the file")
        raise InputError(f"label must be a column ({', '.join(names)}), got {shown(label)}")
    others = tuple(column for column in columns if column.name != label)
    return Table(others, columns[names.index(label)])


def table_of(x: Any, y: Any, label: str | None = None) -> Table:
    """The table of a frame or an array and its labels."""
    name = label or str(getattr(y, "name", None) or "label")
    if hasattr(x, "columns"):
        columns = [make_column(str(key), x[key]) for key in x.columns]
    else:
        array = np.asarray(x)
        if array.ndim != 2:
            raise InputError(f"X must be a table of rows and columns, got shape {array.shape}")
        columns = [make_column(f"x{j + 1}", array[:, j]) for j in range(array.shape[1])]
    values = np.asarray(y, dtype=object if _categorical(y) else None)
    if values.ndim != 1:
        raise InputError(f"y must be one column of labels, got shape {values.shape}")
    if len(values) != (len(columns[0].values) if columns else 0):
        rows = len(columns[0].values) if columns else 0
        raise InputError(f"y must have a label for each of the {rows} rows of X, got {len(values)}")
    return make_table([*columns, make_column(name, values)], name)
