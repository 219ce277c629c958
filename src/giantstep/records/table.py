"""A tidy table: a row for each run and step, a column for each field and observable."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.errors import InputError
from giantstep.problem.differing import differing_fields, given_differing, told_apart
from giantstep.problem.setting import Setting
from giantstep.records.cube import data_set
from giantstep.records.observables import expected, observed
from giantstep.records.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas
    import xarray

CALLABLE = ("target", "activation")
"""Fields that may be Python functions, of which several may have the same name."""

SIZES = ("d", "n", "p")
"""Fields that every table has; of the others those in which its settings differ."""


class Tabled(ABC):
    """A record that has a ``table``, as data of other packages too."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """The record as a table."""

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of pandas, where that is installed."""
        return self.table.to_pandas()

    def to_xarray(self) -> xarray.Dataset:
        """The table as a data set of xarray, where that is installed."""
        return self.table.to_xarray()


@dataclass(frozen=True)
class Table:
    """Columns by name, all of one length; those of ``index`` tell the rows apart."""

    columns: Mapping[str, Sequence[Any]]
    index: tuple[str, ...]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows one by one, by the names of the columns."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))

    def as_csv(self) -> str:
        """Comma-separated text, names in its first line; numbers read back exactly."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(zip(*self.columns.values(), strict=True))
        return text.getvalue()

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of pandas, where that is installed."""
        try:
            import pandas
        except ImportError:
            raise InputError(
                "to_pandas needs pandas, which is not installed: pip install pandas"
            ) from None
        return pandas.DataFrame({name: list(values) for name, values in self.columns.items()})

    def to_xarray(self) -> xarray.Dataset:
        """The observables over runs, steps and fields as a data set of xarray, if installed.

        Fields that follow others, as n = 4d follows d, are coordinates and no dimensions.
        """
        try:
            return data_set(self.columns, self.index)
        except ImportError:
            raise InputError(
                "to_xarray needs xarray, which is not installed: pip install xarray"
            ) from None


def make_table(
    trajectories: Sequence[Trajectory], predictions: Sequence[Trajectory | None]
) -> Table:
    """Runs by steps of simulations, beside each observable ``predicted_*`` where it is."""
    fields = _fields([trajectory.setting for trajectory in trajectories])
    rows: list[dict[str, Any]] = []
    for trajectory, prediction, given in zip(trajectories, predictions, fields, strict=True):
        measured = observed(trajectory)
        theory = {} if prediction is None else expected(prediction)
        for run in range(trajectory.runs):
            for place, step in enumerate(trajectory.steps):
                row = given | {"run": run, "step": int(step)}
                for name, values in measured.items():
                    row[name] = float(values[run, place])
                    row[f"predicted_{name}"] = (
                        float(theory[name][place]) if name in theory else None
                    )
                rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row))
    kept = [
        name
        for name in names
        if not name.startswith("predicted_") or any(_known(row.get(name)) for row in rows)
    ]
    # Fields that were given come before those that follow them: they are the better dimensions.
    first = given_differing([trajectory.setting for trajectory in trajectories])
    order = sorted(fields[0] if fields else (), key=lambda field: field not in first)
    index = (*order, "run", "step")
    return Table({name: [row.get(name) for row in rows] for name in kept}, index)


def trajectory_table(trajectory: Trajectory) -> Table:
    """Runs by steps of a simulation; of a prediction one row for each step, without a run."""
    if trajectory.theory is None:
        return make_table([trajectory], [None])
    [fields] = _fields([trajectory.setting])
    values = expected(trajectory)
    steps = trajectory.steps.tolist()
    constant = fields | {"theory": trajectory.theory}
    columns: dict[str, list[Any]] = {name: [v] * len(steps) for name, v in constant.items()}
    columns |= {"step": steps} | {name: row.tolist() for name, row in values.items()}
    return Table(columns, (*constant, "step"))


def _known(value: float | None) -> bool:
    return value is not None and not np.isnan(value)


def _fields(settings: Sequence[Setting]) -> list[dict[str, Any]]:
    """Sizes, and the fields in which the settings differ but for their runs, as plain values."""
    differing = differing_fields(settings)
    names = [name for name in Setting.fields if name in SIZES or name in differing]
    records = [setting.as_dict() for setting in settings]
    columns = {name: [_text(record[name]) for record in records] for name in names}
    for name in CALLABLE:
        if name in differing:
            held = [getattr(setting, name) for setting in settings]
            columns[name] = told_apart(held, columns[name])
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _text(value: Any) -> Any:
    """Lists as texts: a column holds numbers or words."""
    return ", ".join(f"{part}" for part in value) if isinstance(value, list) else value
