"""Sweep a grid of settings: what is finished is never computed again, what fails is listed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.records.drafts import remove_drafts
from giantstep.simulation.cost import flops
from giantstep.simulation.processes import Pool
from giantstep.simulation.simulate import MEMORY
from giantstep.store.folder import Store
from giantstep.store.identity import prediction_name
from giantstep.sweeps.cluster import Cluster
from giantstep.sweeps.grid import Cell, Grid, make_grid
from giantstep.sweeps.in_memory import check_unstorable, outcome_in_memory
from giantstep.sweeps.local import check_workers, process_count, share_accelerators
from giantstep.sweeps.result import Outcome, Sweep
from giantstep.sweeps.work import Report, Task, local_reports


@dataclass(frozen=True)
class Progress:
    """How far a sweep is: runs and predictions that are done, of those that were missing."""

    done: int
    total: int
    share: float
    failed: int


@dataclass(frozen=True)
class Pending:
    """A task, the cell it is of, and its share of the work."""

    cell: int
    task: Task
    work: float


def sweep(
    base: Setting | Mapping[str, Any],
    axes: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    out: str | Path | None = None,
    theory: bool = True,
    workers: int | None = None,
    cluster: str | None = None,
    memory: int = MEMORY,
    progress: Callable[[Progress], None] | None = None,
) -> Sweep:
    """Simulate and predict every setting of a grid, and return what was found.

    ``axes`` maps fields to values (``{"d": [1000, 10_000], "n": "d^1..d^2:9"}``); in a list of
    mappings the fields of each vary together.  Runs are kept in ``out``, a file each: a sweep that
    was stopped, or is asked for more runs, takes up what is there.  Work is shared out to
    processes of this machine, or with ``cluster`` ("local", or the address of a scheduler) to
    Dask's; ``memory`` bounds the arrays of each.  A cell that fails has its reason, the others
    go on.  Targets and activations may be Python functions: their cells run one after another in
    this process, and stay in memory.

    >>> import tempfile
    >>> from giantstep import sweep
    >>> base = {"target": "x1", "p": 2, "steps": 1, "readout_n": 0, "test_n": 0}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweep(base, {"d": [50, 100]}, out=folder, workers=1)
    Sweep(over d (2): 2 of 2 cells finished)
    """
    grid = make_grid(base, axes)
    unstorable = [cell for cell in grid.cells if cell.setting.unstorable is not None]
    places = {cell.place for cell in unstorable}
    check_unstorable(unstorable, kept=out is not None, cluster=cluster)
    with ExitStack() as stack:
        if out is None:
            out = stack.enter_context(TemporaryDirectory(prefix="giantstep-"))
        swept = run_grid(
            Grid(grid.axes, tuple(cell for cell in grid.cells if cell.place not in places)),
            Store(Path(out)),
            theory=theory,
            workers=workers,
            cluster=cluster,
            memory=memory,
            progress=progress,
        )
    outcomes = {outcome.cell.place: outcome for outcome in swept.outcomes}
    for number, cell in enumerate(unstorable, 1):
        outcomes[cell.place] = outcome_in_memory(cell, theory=theory, memory=memory)
        if progress is not None:
            failed = sum(outcome.failure is not None for outcome in outcomes.values())
            progress(Progress(number, len(unstorable), number / len(unstorable), failed))
    return Sweep(grid, tuple(outcomes[cell.place] for cell in grid.cells), swept.skipped)


def run_grid(
    grid: Grid,
    store: Store,
    *,
    theory: bool = True,
    workers: int | None = None,
    cluster: str | None = None,
    memory: int = MEMORY,
    progress: Callable[[Progress], None] | None = None,
) -> Sweep:
    """Do what a store is missing of a grid, and read what it then holds."""
    check_workers(workers)
    store.prepare()
    share_accelerators()
    settings = (cell.setting for cell in grid.cells)
    count = workers or process_count(settings, max(1, grid.runs), memory)
    pending = missing_tasks(grid, store, theory=theory, memory=memory, workers=count)
    failures: dict[int, str] = {}
    if pending:
        total = sum(len(entry.task["runs"]) or 1 for entry in pending)
        work, done, finished = sum(entry.work for entry in pending), 0, 0.0
        with _workers(store, min(count, len(pending)), cluster) as run:
            for number, report in run([entry.task for entry in pending]):
                entry = pending[number]
                if report["failure"] is not None:
                    failures.setdefault(entry.cell, report["failure"])
                if report["traceback"] is not None:
                    print(report["traceback"], file=sys.stderr)
                done += len(entry.task["runs"]) or 1
                finished += entry.work
                if progress is not None:
                    progress(Progress(done, total, finished / work, len(failures)))
        remove_drafts(store.folder)  # of workers that were lost
    return read_grid(grid, store, failures, theory=theory)


@contextmanager
def _workers(
    store: Store, count: int, cluster: str | None
) -> Iterator[Callable[[Sequence[Task]], Iterator[tuple[int, Report]]]]:
    if cluster is None:
        with Pool(count) as pool:
            yield lambda tasks: local_reports(pool, tasks, store.folder)
        return
    with Cluster(cluster, count) as remote:
        yield lambda tasks: remote.run(tasks, store)


def missing_tasks(
    grid: Grid, store: Store, *, theory: bool, memory: int, workers: int, shares: int = 8
) -> list[Pending]:
    """What is to be done, the largest first: they must not be left for the end.

    Runs of a cell are one task up to one of ``shares`` of what a process has to do, so that the
    last ones end nearly together.
    """
    missing = [store.missing(cell.setting) for cell in grid.cells]
    each = [flops(cell.setting) for cell in grid.cells]
    total = sum(work * len(runs) for work, runs in zip(each, missing, strict=True))
    tasks: list[Pending] = []
    for index, (cell, work, runs) in enumerate(zip(grid.cells, each, missing, strict=True)):
        fields = cell.setting.as_dict()
        most = max(1, int(total / (shares * workers * work)))
        for first in range(0, len(runs), most):
            part = runs[first : first + most]
            task = Task(setting=fields, runs=part, memory=memory)
            tasks.append(Pending(index, task, work * len(part)))
        if theory and not store.holds(prediction_name(cell.setting)):
            # A prediction takes one to two seconds, some 3e9 operations.
            tasks.append(Pending(index, Task(setting=fields, runs=[], memory=memory), 3e9))
    return sorted(tasks, key=lambda entry: -entry.work)


def read_grid(grid: Grid, store: Store, failures: Mapping[int, str], *, theory: bool) -> Sweep:
    """The cells of a grid as a store holds them; a file that cannot be read fails its cell."""
    skipped: list[str] = []
    outcomes = [
        _outcome(cell, store, failures.get(index), theory=theory, skipped=skipped)
        for index, cell in enumerate(grid.cells)
    ]
    return Sweep(grid, tuple(outcomes), tuple(skipped))


def _outcome(
    cell: Cell, store: Store, failure: str | None, *, theory: bool, skipped: list[str]
) -> Outcome:
    simulated, predicted, complaint = None, None, None
    try:
        simulated = store.runs(cell.setting)
    except FileNotFoundError:
        failure = failure or "not finished"
    except InputError as error:
        failure = str(error)
        skipped.append(failure)
    try:
        if theory:
            predicted, complaint = store.prediction(cell.setting)
    except FileNotFoundError:
        complaint = failure
    except InputError as error:
        complaint = str(error)
        skipped.append(complaint)
    return Outcome(cell, simulated, predicted, complaint, failure)
