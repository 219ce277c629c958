"""A folder of results: what is there, what is missing, and everything in it as one record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.problem.setting import Setting
from giantstep.records.drafts import remove_drafts
from giantstep.records.file import (
    packed,
    rebuilt,
    trajectory_bytes,
    unpacked,
    write_whole,
)
from giantstep.records.origin import origin, revision
from giantstep.records.spectrum import Spectrum
from giantstep.records.table import Table, make_table
from giantstep.records.trajectory import SPECTRA, Trajectory
from giantstep.store.identity import different_fields, prediction_name, run_name, stored_fields


class Store:
    """Runs and predictions in a folder, a file each, written once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Make the folder, and remove what killed writers have left."""
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_drafts(self.folder)

    def holds(self, name: str) -> bool:
        """Whether a file is there; one that is damaged is refused by name where it is read."""
        return (self.folder / name).exists()

    def missing(
        self, setting: Setting, directions: Float[np.ndarray, "r d"] | None = None
    ) -> list[int]:
        """The runs of a resolved setting that are not there."""
        runs = range(setting.runs)
        return [run for run in runs if not self.holds(run_name(setting, run, directions))]

    def write(self, name: str, content: bytes) -> None:
        """Keep a result; of two writers of the same one the first is kept."""
        if not self.holds(name):
            write_whole(self.folder / name, content)

    def runs(
        self, setting: Setting, directions: Float[np.ndarray, "r d"] | None = None
    ) -> Trajectory:
        """The runs 0, 1, ... of a resolved setting as one record, all of which must be there."""
        return stacked(setting, [self.run(setting, k, directions) for k in range(setting.runs)])

    def run(
        self, setting: Setting, run: int, directions: Float[np.ndarray, "r d"] | None = None
    ) -> Trajectory:
        """One run of a resolved setting, which must be there."""
        asked = stored_fields(setting) | {"kind": "run", "run": run}
        trajectory, _ = self._read(run_name(setting, run, directions), asked)
        assert trajectory is not None, "only a prediction may have no arrays"
        return trajectory

    def prediction(
        self, setting: Setting, theory: str | None = None
    ) -> tuple[Trajectory | None, str | None]:
        """What theory says of a resolved setting, or the sentence why it says nothing."""
        asked = stored_fields(setting) | {
            "kind": "prediction",
            "runs": setting.runs,
            "revision": revision(),
        }
        trajectory, record = self._read(prediction_name(setting, theory), asked)
        return trajectory, str(record["complaint"]) if trajectory is None else None

    def _read(
        self, name: str, asked: Mapping[str, Any]
    ) -> tuple[Trajectory | None, Mapping[str, Any]]:
        """What a file holds, None for a sentence without arrays, and its text.

        A file that is damaged, or of something else than its name stands for, is refused by name.
        """
        path = self.folder / name
        try:
            arrays, record = unpacked(path)
            _check_content(path, record, asked)
            if "complaint" in record:
                return None, record
            return rebuilt(path, arrays, record), record
        except InputError as error:
            raise InputError(
                f"{error}; once it is removed the same command makes it anew"
            ) from None


def run_bytes(
    trajectory: Trajectory, run: int, *, keep: Collection[str] = (), most_numbers: int = 2**17
) -> bytes:
    """The file of a run, without matrices that are large but for those to keep.

    Gram matrices and rows are stored up to ``most_numbers`` each, 1 MiB: thousands of runs of wide
    networks would fill a disk with them.
    """
    large: dict[str, Any] = {
        name: None
        for name in {"gram", "rows"} - set(keep)
        if (value := getattr(trajectory, name)) is not None and value.size > most_numbers
    }
    return trajectory_bytes(replace(trajectory, **large), kind="run", run=run)


def prediction_bytes(
    setting: Setting, predicted: Trajectory | None, complaint: str | None
) -> bytes:
    """The file of a prediction for a resolved setting, or of the sentence why there is none."""
    if predicted is not None:
        return trajectory_bytes(replace(predicted, setting=setting), kind="prediction")
    about = {"setting": setting.as_dict(), "origin": dict(origin(setting, "theory"))}
    return packed({}, about | {"kind": "prediction", "complaint": complaint})


def _check_content(path: Path, record: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse a file that holds something else than its name stands for: it may be a copy."""
    parts = (record.get("origin"), record, record.get("setting"))
    held = {name: v for part in parts if isinstance(part, dict) for name, v in part.items()}
    for name in different_fields(asked, held):
        raise InputError(
            f"file must hold the result of {name} = {shown(asked[name])}, got {str(path)!r} of "
            f"{name} = {shown(held.get(name))}"
        )


def stacked(setting: Setting, runs: Sequence[Trajectory]) -> Trajectory:
    """Runs of one setting as one record; the oldest of them is its origin."""
    first = runs[0]

    def joined(name: str) -> Any:
        values = [getattr(run, name) for run in runs]
        return None if any(value is None for value in values) else np.concatenate(values)

    fields: dict[str, Any] = {name: joined(name) for name in _array_fields(first)}
    for matrix in SPECTRA:
        parts = [getattr(run, matrix) for run in runs]
        if parts[0] is not None:
            fields[matrix] = Spectrum(
                **{
                    name: np.concatenate([getattr(part, name) for part in parts])
                    for name in parts[0].arrays()
                }
            )
    return replace(
        first,
        setting=setting if setting.runs == len(runs) else setting.vary(runs=len(runs)),
        seconds=sum(run.seconds for run in runs),
        origin=min(runs, key=_made).origin or {},
        **fields,
    )


def _array_fields(trajectory: Trajectory) -> Iterator[str]:
    return (name for name, value in vars(trajectory).items() if isinstance(value, np.ndarray))


@dataclass(frozen=True)
class Results:
    """Everything in a folder: runs of the same setting as one Trajectory, in the order of runs.

    ``predictions`` stand beside the trajectories, None where there is none; ``skipped`` are the
    files that could not be read, with the reason.

    ``load`` reads it; ``table``, ``to_pandas`` and ``to_xarray`` have a row for each run and step.
    """

    trajectories: tuple[Trajectory, ...]
    predictions: tuple[Trajectory | None, ...]
    skipped: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        runs = sum(trajectory.runs for trajectory in self.trajectories)
        predicted = sum(each is not None for each in self.predictions)
        return (
            f"Results({len(self.trajectories)} settings, {runs} runs, {predicted} predictions, "
            f"{len(self.skipped)} files skipped)"
        )

    @cached_property
    def table(self) -> Table:
        """A row for each run and step: fields that differ, observables, predictions."""
        return make_table(self.trajectories, self.predictions)

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas, where that is installed."""
        return self.table.to_pandas()

    def to_xarray(self) -> Any:
        """The table as a data set of xarray, where that is installed."""
        return self.table.to_xarray()


def load(folder: str | Path) -> Results:
    """Read every result in a folder and the folders in it, also while others write there.

    A truncated or foreign file is reported by name and skipped; nothing is unpickled.

    >>> import tempfile
    >>> from giantstep import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(folder)
    Results(0 settings, 0 runs, 0 predictions, 0 files skipped)
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"folder must be one of results, got {str(folder)!r}")
    single: dict[Setting, dict[int, Trajectory]] = {}
    complete: list[Trajectory] = []
    predictions: dict[Setting, Trajectory] = {}
    skipped: list[tuple[str, str]] = []
    for path in sorted(root.rglob("*.npz")):
        try:
            arrays, record = unpacked(path)
            if "complaint" in record:
                continue
            trajectory = rebuilt(path, arrays, record)
        except InputError as error:
            skipped.append((str(path.relative_to(root)), str(error)))
            continue
        except FileNotFoundError:  # removed meanwhile
            continue
        if trajectory.theory is not None:
            beside = predictions.setdefault(trajectory.setting.vary(runs=1), trajectory)
            # Of those that different revisions of the package made, the newest.
            if _made(trajectory) > _made(beside):
                predictions[trajectory.setting.vary(runs=1)] = trajectory
        elif "run" in record:
            single.setdefault(trajectory.setting, {})[int(record["run"])] = trajectory
        else:
            complete.append(trajectory)
    trajectories = [
        stacked(setting, [runs[k] for k in sorted(runs)]) for setting, runs in single.items()
    ]
    trajectories = sorted(
        [*trajectories, *complete], key=lambda trajectory: _order(trajectory.setting)
    )
    theory = [predictions.get(trajectory.setting.vary(runs=1)) for trajectory in trajectories]
    return Results(tuple(trajectories), tuple(theory), tuple(skipped))


def _made(trajectory: Trajectory) -> str:
    """When a record was made."""
    return str((trajectory.origin or {}).get("time", ""))


def _order(setting: Setting) -> tuple[Any, ...]:
    """Settings by their sizes, then by everything else: the same order in every folder."""
    return (setting.d, setting.n, setting.p, repr(sorted(setting.as_dict().items())))
