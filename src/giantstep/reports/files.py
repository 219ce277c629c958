"""Tables in files: texts, Parquet and NumPy archives; nothing is ever unpickled."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.problem.files import check_file
from giantstep.problem.table_text import cells_of, is_number, separator_of
from giantstep.reports.table import Table, make_column, make_table


def read_table(path: Path, label: str, drop: Sequence[str] = ()) -> Table:
    """The table of a file; ``drop`` names columns that are left out."""
    check_file(path, "file cannot be read, got")
    read = READERS.get(path.suffix.lower(), _text)
    try:
        named = read(path)
    except (OSError, ValueError, EOFError, KeyError, MemoryError, csv.Error) as error:
        raise InputError(f"file cannot be read, got {str(path)!r}: {error}") from None
    names = [name for name, _ in named]
    for name in drop:
        if name not in names:
            raise InputError(f"drop must name a column of {str(path)!r}, got {shown(name)}")
    return make_table([make_column(*each) for each in named if each[0] not in drop], label)


Named = list[tuple[str, np.ndarray]]


def _text(path: Path) -> Named:
    """Cells parted by commas, semicolons or tabs, below a line of names."""
    lines = cells_of(str(path), separator_of(str(path)))
    _, names = next(lines, (1, []))
    if all(is_number(name) for name in names):
        raise ValueError("its first line must be the names of the columns")
    rows = []
    for number, cells in lines:
        if len(cells) != len(names):
            raise ValueError(f"line {number} has {len(cells)} cells, the first line {len(names)}")
        rows.append(cells)
    names = [name.strip() for name in names]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    named = [(name, _cells(cells)) for name, cells in zip(names, columns, strict=True)]
    # A first column without a name is the index that pandas writes.
    return named[1:] if names[0] in ("", "Unnamed: 0") and len(names) > 1 else named


def _cells(cells: Sequence[str]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _parquet(path: Path) -> Named:
    try:
        import pandas

        frame = pandas.read_parquet(path)
    except ImportError as error:
        raise ValueError(f"Parquet needs pandas and pyarrow ({error})") from None
    return [(str(name), frame[name]) for name in frame.columns]


def _archive(path: Path) -> Named:
    """Arrays by name: X and y, or a column each."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
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
    return named


READERS: dict[str, Callable[[Path], Named]] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".npz": _archive,
}
"""How a file is read, by the end of its name; any other is a text."""
