"""Data sets as inputs: read, made of mean 0 and variance one, and dealt out to a run row by row.

Rows are dealt without replacement: a run shuffles them, and its test samples, the samples of its
readout and its batches are different rows.  What n, readout_n and test_n ask for together must be
there.  Readouts after different steps are fitted and tested on the same rows.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError, shown
from giantstep.gaussian.accuracy import RANK, ROUNDING, SINGLE_PRECISION
from giantstep.problem.batches import BatchWord, set_of, set_size
from giantstep.problem.files import check_file
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.table_text import check_names, is_index, read_text

if TYPE_CHECKING:
    from giantstep.problem.fields import Reading
    from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class DataSet:
    """Rows of inputs, the names of their columns, and labels of the user's own where asked for.

    Labels, too, have mean 0 and variance one: errors are shares of their variance.
    """

    path: str
    names: tuple[str, ...]
    rows: Float[np.ndarray, "rows d"]
    labels: Float[np.ndarray, " rows"] | None = None

    @property
    def d(self) -> int:
        return self.rows.shape[1]

    def axes(self, names: tuple[str, ...]) -> list[int]:
        """Numbers of the columns with these names."""
        for name in names:
            if name not in self.names:
                raise InputError(f"frame must name columns of {self.path!r}, got {name!r}")
        return [self.names.index(name) for name in names]

    @property
    def far_from_gaussian(self) -> str:
        """What theory cannot know of the rows it takes for N(0, I), in one sentence."""
        key = np.random.default_rng(0)
        directions = key.standard_normal((self.d, 64))
        along = self.rows @ (directions / np.linalg.norm(directions, axis=0))
        columns, probes = (kurtosis(values) for values in (self.rows, along))
        variances = np.linalg.eigvalsh(self.rows.T @ self.rows / len(self.rows))
        correlated = ""
        if variances[-1] > 1.0 + SINGLE_PRECISION:
            correlated = (
                f"; principal variances from {variances[0]:.2g} to {variances[-1]:.3g} (1 for it)"
            )
        return (
            f"theory takes the rows of {Path(self.path).name} for N(0, I): kurtosis of the columns "
            f"from {columns.min():.3g} to {columns.max():.3g}, of random directions "
            f"{np.median(probes):.3g} (3 for it){correlated}"
        )


def kurtosis(values: Float[np.ndarray, "rows k"]) -> Float[np.ndarray, " k"]:
    """E z^4 of every column, z standardised: 3 for a Gaussian."""
    centred = values - values.mean(axis=0)
    return np.mean(centred**4, axis=0) / np.mean(centred**2, axis=0) ** 2


# -- reading --------------------------------------------------------------------------------------


def data_set(path: str, make: Callable[[DataSet], DataSet], label: str) -> DataSet:
    """The inputs of a file as ``make`` wants them, without the column of labels where it is named.

    A file that has changed is read anew.
    """
    status = check_file(path, "inputs cannot read the data set")
    return _prepared(path, status.st_mtime_ns, make, label)


@lru_cache(maxsize=2)
def _prepared(path: str, changed: int, make: Callable[[DataSet], DataSet], label: str) -> DataSet:
    table = _read(path)
    if label:
        table = _labelled(table, label)
    if table.d < 2:
        raise InputError(f"inputs needs at least 2 columns for x, {path!r} has {table.d}")
    return make(table)


def _read(path: str) -> DataSet:
    """A matrix from a .npy file or a text; nothing is ever unpickled.

    Cells of a text are parted by commas, semicolons or tabs.  Its first line are the names of the
    columns, unless it consists of numbers; without names they are x1, x2, ...  A first column
    without a name that counts the rows is the index that pandas writes, and no input.
    """
    names: tuple[str, ...] = ()
    try:
        if Path(path).suffix == ".npy":
            rows: Any = np.load(path, allow_pickle=False)
        else:
            names, rows = read_text(path)
    except (OSError, ValueError, EOFError, MemoryError, csv.Error) as error:
        raise InputError(f"inputs cannot read the data set {path!r}: {error}") from None
    if rows.ndim != 2 or rows.dtype.kind not in "iuf" or len(rows) < 2:
        raise InputError(f"inputs needs a matrix of numbers, {path!r} has shape {rows.shape}")
    rows = rows.astype(float)
    names = names or tuple(f"x{k + 1}" for k in range(rows.shape[1]))
    if len(names) != rows.shape[1]:
        raise InputError(
            f"inputs needs a name for every column, {path!r} has {len(names)} names and "
            f"{rows.shape[1]} columns"
        )
    if len(names) > 1 and is_index(names[0], rows[:, 0]):
        names, rows = names[1:], rows[:, 1:]
    check_names(names)
    bad = np.flatnonzero(~np.all(np.isfinite(rows), axis=0))
    if len(bad):
        row = int(np.flatnonzero(~np.isfinite(rows[:, bad[0]]))[0])
        raise InputError(
            f"inputs needs finite numbers, {path!r} holds {rows[row, bad[0]]} in row {row + 1}, "
            f"column {names[bad[0]]!r}"
        )
    return DataSet(path, names, rows)


def _labelled(table: DataSet, label: str) -> DataSet:
    """The table with the column of labels taken out and standardised."""
    if table.names.count(label) != 1:
        names = ", ".join(table.names[:20])
        raise InputError(
            f"target must name one column of {table.path!r} ({names}), got {shown(label)}"
        )
    place = table.names.index(label)
    alone = replace(table, names=(label,), rows=table.rows[:, [place]])
    return DataSet(
        table.path,
        table.names[:place] + table.names[place + 1 :],
        np.delete(table.rows, place, axis=1),
        standardised(alone).rows[:, 0],
    )


# -- what becomes of the columns ------------------------------------------------------------------


def standardised(table: DataSet) -> DataSet:
    """Every column of mean 0 and variance one."""
    # In units of half the range nothing overflows.
    low, high = table.rows.min(axis=0) / 2, table.rows.max(axis=0) / 2
    unit = high - low
    # A range within rounding of the values is no range.
    flat = np.flatnonzero(unit <= ROUNDING * np.maximum(np.abs(low), np.abs(high)))
    if len(flat):
        value, name = 2 * low[flat[0]], table.names[flat[0]]
        raise InputError(
            f"inputs needs columns that vary, {table.path!r} has {value:g} only in {name!r}"
        )
    rows = (table.rows / 2 - low) / unit
    rows -= rows.mean(axis=0)
    return replace(table, rows=rows / rows.std(axis=0))


def whitened(table: DataSet) -> DataSet:
    """Rows whose covariance is the identity, as near to the standardised columns as can be.

    X (X^T X/N)^(-1/2): column k is what comes closest to column k of X.
    """
    table = standardised(table)
    count = len(table.rows)
    if count <= table.d:
        raise InputError(
            f"inputs cannot whiten {table.path!r}: {count} rows are too few for {table.d} columns"
        )
    u, values, rows = np.linalg.svd(table.rows, full_matrices=False)
    if values[-1] <= RANK * values[0]:
        twin = table.names[int(np.argmax(np.abs(rows[-1])))]
        raise InputError(
            f"inputs cannot whiten {table.path!r}: column {twin!r} is a sum of the others"
        )
    return replace(table, rows=math.sqrt(count) * u @ rows)


def frame_columns(frame: str) -> tuple[str, ...] | None:
    """The names in ``columns(NAME, ...)``, None for another text."""
    match = re.fullmatch(r"\s*columns\((.*)\)\s*", frame)
    return None if match is None else tuple(name.strip() for name in match[1].split(","))


# -- which rows a run takes -----------------------------------------------------------------------


def batch_count(batches: BatchWord, steps: int) -> int:
    """Different sets of rows that a run takes its steps on, or draws them from."""
    return set_of(batches, steps - 1) + 1 if steps else 0


def batch_rows(fields: Mapping[str, Any] | Reading) -> int:
    """Rows that the batches of a run take."""
    batches = fields["batches"]
    return batch_count(batches, fields["steps"]) * set_size(batches, fields["n"])


def rows_taken(fields: Mapping[str, Any] | Reading) -> int:
    """Rows that batches and readout of a run take; a readout on the last batch takes its rows."""
    drawn = fields["readout_batch"] == "fresh" or fields["steps"] == 0
    return batch_rows(fields) + drawn * fields["readout_n"]


def check_rows(setting: Setting, data: DataSet) -> None:
    """Refuse sizes that ask for more rows than there are."""
    needed, there = rows_taken(setting.__dict__) + setting.test_n, len(data.rows)
    if needed > there:
        field = "n"
        asked = f"n = {setting.n} ({batch_count(setting.batches, setting.steps)} times)"
        if setting.batches.kind.draws:
            field, asked = "batches", f"batches = {setting.batches}"
        raise InputError(
            f"{field} must leave rows for the test: {asked}, readout_n = {setting.readout_n} and "
            f"test_n = {setting.test_n} are {needed} rows, {data.path!r} has {there}"
        )


@dataclass(frozen=True)
class Deal:
    """The rows of a run in the order they are dealt: to the test, the readout, the batches."""

    order: Int[np.ndarray, " rows"]
    readout: int
    batches: int
    size: int

    @classmethod
    def of(cls, setting: Setting, data: DataSet, run: int) -> Deal:
        order = generator(setting.seed, run, Purpose.ROWS).permutation(len(data.rows))
        fields = setting.__dict__
        batches = setting.test_n + rows_taken(fields) - batch_rows(fields)
        return cls(order, setting.test_n, batches, set_size(setting.batches, setting.n))

    def rows(self, purpose: Purpose, step: int, samples: slice) -> Int[np.ndarray, " k"]:
        """Numbers of the rows that are these samples of a stream, for a batch of set ``step``."""
        first = {Purpose.TEST: 0, Purpose.READOUT: self.readout}
        start = first.get(purpose, self.batches + step * self.size)
        return self.order[start + samples.start : start + samples.stop]
