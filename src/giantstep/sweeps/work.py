"""The work of a sweep, a task at a time: some runs of a setting, or what theory says of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

from giantstep.errors import (
    DivergenceError,
    InputError,
    NotConvergedError,
    NoTheoryError,
    memory_words,
)
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.simulation.processes import Pool
from giantstep.simulation.simulate import simulate_runs
from giantstep.store.folder import Store, prediction_bytes, run_bytes
from giantstep.store.identity import prediction_name, run_name

EXPECTED = (InputError, NoTheoryError, NotConvergedError, DivergenceError, MemoryError)
"""What may go wrong with a setting; anything else is a bug and keeps its traceback."""


class Task(TypedDict):
    """Plain values, so that any process can be handed one; without ``runs`` it is a prediction."""

    setting: dict[str, Any]
    runs: list[int]
    memory: int


class Report(TypedDict):
    """How a task ended: None where all is well, else a sentence, with the traceback of a bug."""

    failure: str | None
    traceback: str | None


def results(task: Task) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files of a task, each as soon as it is finished."""
    setting = Setting(**task["setting"])
    if not task["runs"]:
        yield prediction_name(setting), _predicted(setting)
        return
    for run, trajectory in simulate_runs(setting, task["runs"], memory=task["memory"]):
        yield run_name(setting, run), run_bytes(trajectory, run)


def _predicted(setting: Setting) -> bytes:
    try:
        return prediction_bytes(setting, predict(setting), None)
    except (NoTheoryError, NotConvergedError) as error:
        return prediction_bytes(setting, None, str(error))


def perform(task: Task, write: Callable[[str, bytes], None]) -> Report:
    """Do a task and write what it gives; a disk that cannot be written is for the caller."""
    pending = results(task)
    while True:
        try:
            file = next(pending, None)
        except MemoryError as error:
            return {"failure": memory_words(error), "traceback": None}
        except EXPECTED as error:
            return {"failure": str(error), "traceback": None}
        except Exception as error:
            text = "".join(traceback.format_exception(error))
            return {"failure": f"a bug: {error!r}", "traceback": text}
        if file is None:
            return {"failure": None, "traceback": None}
        write(*file)


def perform_here(task: Task, folder: Path) -> Report:
    """Do a task and write what it gives into a folder of this machine."""
    return perform(task, Store(folder).write)


def local_reports(pool: Pool, tasks: Sequence[Task], folder: Path) -> Iterator[tuple[int, Report]]:
    """The number and the report of each task as it ends; OSError where none can be written."""
    for number, outcome in pool.run([(perform_here, (task, folder)) for task in tasks]):
        if isinstance(outcome, OSError):
            raise OSError(None, outcome.strerror or str(outcome), str(folder)) from outcome
        if isinstance(outcome, MemoryError):
            outcome = Report(failure=memory_words(outcome), traceback=None)
        elif isinstance(outcome, Exception):
            outcome = Report(failure=str(outcome), traceback=None)
        yield number, outcome


def perform_away(task: Task) -> tuple[Report, list[tuple[str, bytes]]]:
    """Do a task where the folder cannot be reached: the files come back with the report."""
    from giantstep.simulation.threads import use_threads

    use_threads(1)
    files: list[tuple[str, bytes]] = []
    return perform(task, lambda *file: files.append(file)), files
