"""Tables that are texts: which sign parts their cells, their names and numbers, and what is wrong.

Lines are counted as a spreadsheet does, from 1, the line of names among them.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown

SEPARATORS = (",", ";", "\t")
"""What may part the cells of a text."""

DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
"""A number with a comma in place of the decimal point."""

CONTROLS = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal obeys in place of showing them, beside tabs and ends of lines."""

_ONLY_NUMBERS = re.compile(r"[\s\d.,;\"eE+-]*")


def read_text(path: str) -> tuple[tuple[str, ...], Float[np.ndarray, "rows d"]]:
    """Names and numbers of a text; ValueError says which cell is none.

    The first line are the names of the columns, unless it consists of numbers: then there are none.
    """
    separator = separator_of(path)
    names = _header(path, separator)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a text without numbers: its shape will say so
            rows = np.loadtxt(
                path,
                delimiter=separator,
                ndmin=2,
                skiprows=int(bool(names)),
                quotechar='"',
                comments=None,
                encoding="utf-8-sig",
            )
    except ValueError as error:
        raise ValueError(_complaint(path, separator, names) or str(error)) from None
    if not np.all(np.isfinite(rows)):
        raise ValueError(_complaint(path, separator, names) or "not all numbers are finite")
    return names, rows


def separator_of(path: str) -> str:
    """The separator that parts the first line into most cells.

    In a line of numbers with semicolons or tabs commas stand for decimal points.
    """
    with open(path, newline="", encoding="utf-8-sig") as file:
        line = file.readline()
    others = [sign for sign in SEPARATORS[1:] if sign in line]
    signs = others if others and _ONLY_NUMBERS.fullmatch(line) else SEPARATORS
    return max(signs, key=lambda one: _cells_in(line, one))


def _cells_in(line: str, separator: str) -> int:
    """How many cells a separator makes of a line; 0 where one is longer than csv takes."""
    try:
        return len(next(csv.reader([line], delimiter=separator), []))
    except csv.Error:
        return 0


def _header(path: str, separator: str) -> tuple[str, ...]:
    """The first line of a text where it is not made of numbers."""
    _, cells = next(cells_of(path, separator), (1, []))
    if all(is_number(cell) or DECIMAL_COMMA.fullmatch(cell) for cell in cells):
        return ()
    return tuple(cell.strip() for cell in cells)


def cells_of(path: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of every line with its number, empty lines left out."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=separator)
        yield from ((reader.line_num, cells) for cells in reader if cells)


def is_index(name: str, values: Sequence[float]) -> bool:
    """Whether a first column is the index that pandas writes: without a name, it counts the rows.

    It begins at 0 or at 1.
    """
    starts = (range(first, first + len(values)) for first in (0, 1))
    return name in ("", "Unnamed: 0") and any(np.array_equal(values, start) for start in starts)


def check_names(names: Sequence[str]) -> None:
    """Refuse columns without a name, and names with control characters, which a terminal obeys."""
    for place, name in enumerate(names):
        if not name.strip():
            beside = f"after {names[place - 1]!r}" if place else "for the first one"
            raise InputError(f"every column must have a name, got {name!r} {beside}")
        if CONTROLS.search(name):
            raise InputError(f"names of columns must hold no control characters, got {shown(name)}")


def is_number(cell: str) -> bool:
    """Whether a cell is a number, maybe an infinite one; 1_2 is one for Python alone."""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _complaint(path: str, separator: str, names: Sequence[str]) -> str | None:
    """The first cell that is no finite number, or the first line of another length."""
    width = len(names)
    for number, cells in cells_of(path, separator):
        width = width or len(cells)
        if len(cells) != width:
            return f"line {number} has {len(cells)} cells, the first line {width}"
        if names and number == 1:
            continue
        for place, cell in enumerate(cells):
            if not (is_number(cell) and math.isfinite(float(cell))):
                named = names[place] if names else ""
                where = f"line {number}, column {repr(named) if named else place + 1}"
                return f"{where} {_what_is_wrong(cell, separator)}"
    return None


def _what_is_wrong(cell: str, separator: str) -> str:
    if not cell.strip():
        return "is empty"
    if not DECIMAL_COMMA.fullmatch(cell):
        return f"holds {shown(cell)}, which is no finite number"
    if separator == ",":
        return f"holds {shown(cell)}: numbers must be written without commas"
    return (
        f"holds {shown(cell)}: the file has decimal commas, numbers must have decimal points, as "
        "sed 's/,/./g' FILE > NEW writes them"
    )
