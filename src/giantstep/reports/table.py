"""A table with a label: columns of numbers or words, gaps as NaN or None."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown, unknown_name
from giantstep.problem.table_text import CONTROLS, DECIMAL_COMMA, check_names, is_number

DATES = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?")
"""Texts that are dates, with or without a time of the day."""

GAPS = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
"""Cells of a text that hold nothing, in small letters."""

WRITTEN = re.compile(r"(?=.*\d)[-+]?[$€£¥]?\s?(\d{1,3}([,'\s]\d{3})+|\d+)?(\.\d*)?\s?[%$€£¥]?")
"""Numbers as people write them: with separators of thousands, a sign of per cent or of money."""

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
    """The columns that may predict, the column to be predicted, and what reading left out."""

    columns: tuple[Column, ...]
    label: Column
    said: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.label.values)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def take(self, rows: np.ndarray) -> Table:
        columns = tuple(column.take(rows) for column in self.columns)
        return replace(self, columns=columns, label=self.label.take(rows))

    def without(self, names: Sequence[str]) -> Table:
        """The table without some columns."""
        return replace(self, columns=tuple(c for c in self.columns if c.name not in names))


def make_column(
    name: str, values: Any, *, lines: Sequence[int] | None = None, label: bool = False
) -> Column:
    """A column of whatever came; dates are refused with what to do about them.

    lines -> those of a text that the cells stand in, for messages; ``label``: it is no column that
    could be left out.
    """
    array, ways = np.asarray(values), "" if label else "leave the column out (--drop), or "
    if array.dtype.kind in "Mm":
        raise _date(name, array.flat[0], ways)
    if array.dtype.kind in "iuf" and not _categorical(values):
        return _of_numbers(name, array.astype(float), lines)
    if array.dtype.kind in "cV":
        got = array.flat[0] if array.size else array.dtype
        raise InputError(f"column {name!r} must hold numbers or words, got {shown(got)}")
    cells = array.tolist()
    for row, cell in enumerate(cells):
        if hasattr(cell, "__len__") and not isinstance(cell, str | bytes):
            raise InputError(
                f"column {name!r} must hold numbers or words, got {shown(cell)} in "
                f"{_place(row, lines)}"
            )
    words = np.empty(len(cells), dtype=object)
    words[:] = [word_of(cell) for cell in cells]
    present = [word for word in words if word is not None]
    if present and all(DATES.fullmatch(word) for word in present):
        raise _date(name, present[0], ways)
    named = _categorical(values) or any(isinstance(cell, bool) for cell in cells)
    if not named and all(map(is_number, present)):
        numbers = np.array([np.nan if word is None else float(word) for word in words])
        return _of_numbers(name, numbers, lines)
    for row, word in enumerate(words):
        if word is not None and CONTROLS.search(word.replace("\r\n", "\n")):
            raise InputError(
                f"column {name!r} must hold no control characters, got {shown(word)} in "
                f"{_place(row, lines)}"
            )
    if not named:
        _refuse_odd_cell(name, words, lines, ways)
    return Column(name, words)


def word_of(cell: Any) -> str | None:
    """A cell as a word, None for a gap."""
    return None if _gap(cell) else str(cell).strip()


def _refuse_odd_cell(
    name: str, words: np.ndarray, lines: Sequence[int] | None, ways: str, share: float = 0.9
) -> None:
    """Refuse words in a column of numbers: a typing error would make a category of every number.

    share -> of the cells that must be numbers, in plain digits or as people write them.  A single
    number beside words may be the name of something.
    """
    present = [k for k, word in enumerate(words) if word is not None]
    plain = {k for k in present if is_number(words[k])}
    written = {
        k for k in present if WRITTEN.fullmatch(words[k]) or DECIMAL_COMMA.fullmatch(words[k])
    }
    seen = {words[k] for k in plain | written}
    if len(plain | written) <= share * len(present) or len(seen) < 2:
        return
    odd = [k for k in present if k not in plain]
    first = next((k for k in odd if k not in written), odd[0])
    raise InputError(
        f"column {name!r} holds numbers, but {shown(words[first])} in {_place(first, lines)}; "
        f"{ways}write plain numbers, without % or separators of thousands, or nothing where none "
        "is known. Names of categories need a letter in every cell"
    )


def _place(row: int, lines: Sequence[int] | None) -> str:
    """Where a cell is: lines are counted as a spreadsheet does."""
    return f"row {row + 1}" if lines is None else f"line {lines[row]}"


def _of_numbers(
    name: str, numbers: Float[np.ndarray, " n"], lines: Sequence[int] | None = None
) -> Column:
    """Numbers with gaps; those that models cannot compute with are refused."""
    for beyond, words in (
        (np.isinf(numbers), "must be finite"),
        (np.abs(numbers) > LARGEST, f"must be at most {LARGEST:g} in size"),
    ):
        if beyond.any():
            row = int(np.flatnonzero(beyond)[0])
            where = _place(row, lines)
            raise InputError(f"column {name!r} {words}, got {numbers[row]:g} in {where}")
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


def _date(name: str, value: Any, ways: str) -> InputError:
    return InputError(
        f"column {name!r} holds dates, such as {shown(str(value))}; {ways}put numbers in their "
        "place, such as the year, the month or days since the first row"
    )


def make_table(columns: Sequence[Column], label: str) -> Table:
    """The table with the column of labels taken out of the others."""
    names = [column.name for column in columns]
    check_names(names)
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"every column must have a name of its own, got {shown(twice)} twice")
    if label not in names:
        if len(names) > 20 or sum(map(len, names)) > 400:
            raise unknown_name("label", label, names, "the first line of the file")
        raise InputError(f"label must be a column ({', '.join(names)}), got {shown(label)}")
    others = tuple(column for column in columns if column.name != label)
    return Table(others, columns[names.index(label)])


def table_of(x: Any, y: Any, label: str | None = None) -> Table:
    """The table of a frame or an array and its labels."""
    if not isinstance(label, str | None):
        raise InputError(f"label must be the name of y as a text, got {shown(label)}")
    name = str(getattr(y, "name", None) or "label") if label is None else label
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
    return make_table([*columns, make_column(name, values, label=True)], name)
