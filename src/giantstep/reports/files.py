"""Tables in files: texts, Parquet and NumPy archives; nothing is ever unpickled."""

from __future__ import annotations

import csv
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.problem.files import check_file
from giantstep.problem.table_text import (
    DECIMAL_COMMA,
    cells_of,
    is_index,
    is_number,
    separator_of,
)
from giantstep.reports.table import GAPS, Table, make_column, make_table

UNREADABLE = (OSError, ValueError, EOFError, KeyError, MemoryError, csv.Error)
"""What reading a file may end in."""

_DIGITS = re.compile(r"\s*[+-]?\d[\d.,]*([eE][+-]?\d+)?\s*")


def read_table(path: Path, label: str, drop: Sequence[str] = ()) -> Table:
    """The table of a file; ``drop`` names columns that are left out."""
    check_file(path, "file cannot be read, got")
    read = READERS.get(path.suffix.lower(), _text)
    if label in drop:
        raise InputError(f"drop must leave the label in the table, got {shown(label)} for both")
    try:
        named, lines = read(path)
    except UNREADABLE as error:
        raise InputError(f"file cannot be read, got {str(path)!r}: {error}") from None
    names = [name for name, _ in named]
    if not names:
        raise InputError(f"file must hold columns, {str(path)!r} has none")
    for name in drop:
        if name not in names:
            raise InputError(f"drop must name a column of {str(path)!r}, got {shown(name)}")
    named = [each for each in named if each[0] not in drop]
    said: tuple[str, ...] = ()
    if lines is not None and len(named) > 1 and _is_index(*named[0]):
        named, said = named[1:], (INDEX,)
    columns = [make_column(*each, lines=lines, label=each[0] == label) for each in named]
    return replace(make_table(columns, label), said=said)


INDEX = (
    "The first column has no name and counts the rows: it is the index that pandas writes, and was "
    "left out."
)
"""What is said of a first column that is no input."""


def _is_index(name: str, cells: np.ndarray) -> bool:
    numbers = all(map(is_number, cells))
    return numbers and is_index(name, cells.astype(float).tolist())


Named = list[tuple[str, np.ndarray]]

Read = tuple[Named, Sequence[int] | None]
"""Columns, and the lines of a text that their cells stand in."""


def _text(path: Path) -> Read:
    """Cells parted by commas, semicolons or tabs, below a line of names."""
    try:
        separator = separator_of(str(path))
        lines = list(cells_of(str(path), separator))
    except UnicodeDecodeError:
        raise ValueError("it is not a text file in UTF-8") from None
    except csv.Error:  # of those that a text can have, a cell beyond the limit alone is left
        raise ValueError(f"a cell has more than {csv.field_size_limit()} characters") from None
    _, names = lines[0] if lines else (1, [])
    if all(is_number(name) or DECIMAL_COMMA.fullmatch(name) for name in names):
        raise ValueError("its first line must be the names of the columns")
    rows = []
    for number, cells in lines[1:]:
        if len(cells) != len(names):
            raise ValueError(f"line {number} has {len(cells)} cells, the first line {len(names)}")
        rows.append(cells)
    names = [name.strip() for name in names]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    named = [
        (name, _cells(_with_points(name, cells, separator)))
        for name, cells in zip(names, columns, strict=True)
    ]
    return named, [number for number, _ in lines[1:]]


def _with_points(name: str, cells: Sequence[str], separator: str) -> Sequence[str]:
    """Decimal commas of a column made into points: with semicolons, if all of its cells fit."""
    present = [cell for cell in cells if cell.strip().lower() not in GAPS]
    commas = [cell for cell in present if DECIMAL_COMMA.fullmatch(cell)]
    if not commas or not all(_DIGITS.fullmatch(cell) for cell in present):
        return cells
    others = [cell for cell in present if "." in cell or cell.count(",") > 1]
    if separator == ";" and not others:
        return [cell.replace(",", ".") for cell in cells]
    raise ValueError(
        f"column {name!r} has decimal commas, such as {shown(commas[0])}; they are read only "
        f"between semicolons{f' and without {shown(others[0])} in that column' if others else ''}"
    )


def _cells(cells: Sequence[str]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _parquet(path: Path) -> Read:
    if find_spec("pandas") is None or find_spec("pyarrow") is None:
        raise ValueError("Parquet needs pandas and pyarrow: pip install 'giantstep[report]'")
    import pandas

    try:
        frame = pandas.read_parquet(path)
    except (OSError, ValueError):
        raise ValueError("it is not a Parquet file") from None
    return [(str(name), frame[name]) for name in frame.columns], None


def _archive(path: Path) -> Read:
    """Arrays by name: X and y, or a column each."""
    if not zipfile.is_zipfile(path):
        raise ValueError("it is not an npz archive")
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: _array(archive, name) for name in archive.files}
    except (zipfile.BadZipFile, zlib.error):
        raise ValueError("it is a damaged npz archive") from None
    named: Named = []
    for name, array in arrays.items():
        if array.ndim == 1:
            named.append((name, array))
        elif array.ndim == 2:
            one = array.shape[1] == 1
            parts = [
                (name if one else f"{name}{j + 1}", array[:, j]) for j in range(array.shape[1])
            ]
            named += parts
        else:
            raise ValueError(f"the array {name!r} has shape {array.shape}, not rows and columns")
    if len({len(array) for _, array in named}) > 1:
        lengths = ", ".join(f"{name}: {len(array)}" for name, array in arrays.items())
        raise ValueError(f"its arrays must have as many rows ({lengths})")
    return named, None


def _single_array(path: Path) -> Read:
    raise ValueError("an npy file has no names; npz archives are read (numpy.savez)")


def _array(archive: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    try:
        array = archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise ValueError(f"the array {name!r} is damaged") from None
        raise ValueError(f"{name!r} is an array of Python objects, which are not read") from None
    except OverflowError:  # its header claims more than 2^63 rows
        raise ValueError(f"the array {name!r} is damaged") from None
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name!r} is not an array")
    return array


READERS: dict[str, Callable[[Path], Read]] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".npz": _archive,
    ".npy": _single_array,
}
"""How a file is read, by the end of its name; any other is a text."""
