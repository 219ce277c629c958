"""``report``: a table in, the record of what can be learned from it out."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from jaxtyping import Float
from threadpoolctl import threadpool_limits

from giantstep.errors import InputError, shown
from giantstep.reports.checks import duplicates, labelled, leaks, row_groups, row_numbers
from giantstep.reports.columns import prepare
from giantstep.reports.comparison import compare_models, residual_test
from giantstep.reports.curve import learning_curve
from giantstep.reports.directions import directions
from giantstep.reports.drift import drift
from giantstep.reports.gaussianity import gaussianity
from giantstep.reports.hardness import hardness
from giantstep.reports.interval import explained
from giantstep.reports.labels import Labels, make_labels
from giantstep.reports.lost import lost
from giantstep.reports.models import GIANT_STEPS, MODELS
from giantstep.reports.plan import FULL, QUICK, Plan
from giantstep.reports.record import Report
from giantstep.reports.resamples import HeldOut, Job, Problem, make_problem, run_jobs
from giantstep.reports.table import Table, table_of

Note = Callable[[str, float], None]
"""Told what is being done, and which share of all is done."""


def report(
    X: Any,  # noqa: N803
    y: Any,
    *,
    label: str | None = None,
    task: str = "auto",
    quick: bool = False,
    jobs: int = 1,
    seed: int = 0,
    title: str = "table",
    note: Note | None = None,
) -> Report:
    """Say what can be learned of labels from a table, every number on rows that no fit has seen.

    Columns may hold numbers or words, with gaps; dates are refused.  An interrupt (Ctrl-C) after
    the fits of the folds keeps what is there.

    Parameters
    ----------
    X : frame or array of shape (n, d)
        The columns that may predict.
    y : column of n labels
        Numbers, or names of classes; rows without one are left out.
    label : str or None
        Name of the label; that of the column if not given.
    task : {"auto", "numbers", "classes"}
        What the label is: whole numbers of few values are classes unless told otherwise.
    quick : bool
        About a quarter of the work: three folds, a coarser search and learning curve, and wide
        intervals of what other models gain.
    jobs : int
        Processes that fit the folds, this one among them; at most one a processor.
    seed : int
        Of the folds.
    title : str
        Headline of the page.
    note : callable or None
        Told what is being done, and which share of all is done.

    Returns
    -------
    Report
        With ``answer``, ``as_dict``, ``html`` and ``save``.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import report
    >>> x = np.random.default_rng(0).standard_normal((200, 4))
    >>> found = report(x, np.tanh(2 * x[:, 0] - 2 * x[:, 1]), quick=True)
    >>> found.certain, found.score.low > 0.9
    (1, True)
    """
    work = begin(
        table_of(X, y, label),
        task=task,
        plan=QUICK if quick else FULL,
        jobs=jobs,
        seed=seed,
        title=title,
        note=note,
    )
    return finish(work, note)


@dataclass(frozen=True)
class Work:
    """A report under way: what all parts look at."""

    table: Table
    problem: Problem
    held: HeldOut
    pipeline: Any
    record: Report
    begun: float
    interrupted: bool


def finish(work: Work, note: Note | None = None) -> Report:
    """The parts beyond the answer, one after the other; an interrupt keeps those that are done."""
    say, record = note or _silent, work.record
    missing = [part.name for part in PARTS]
    try:
        for number, part in enumerate(PARTS):
            if work.interrupted and not part.instant:
                continue
            say(part.name, 0.8 + 0.2 * number / len(PARTS))
            with threadpool_limits(1):
                record = replace(record, **part.make(work))
            missing.remove(part.name)
    except KeyboardInterrupt:
        say("interrupted", 1.0)
    cut = ("some fits",) if work.interrupted else ()
    seconds = time.perf_counter() - work.begun
    return replace(record, missing=(*cut, *missing), seconds=seconds, memory=_memory())


def _silent(text: str, share: float) -> None:
    """Nobody is told."""


def begin(
    table: Table,
    *,
    task: str = "auto",
    plan: Plan = FULL,
    jobs: int = 1,
    seed: int = 0,
    title: str = "table",
    note: Note | None = None,
) -> Work:
    """Checks, then all fits; what is wrong with the table is said before any of them."""
    for name, number, least in (("jobs", jobs, 1), ("seed", seed, 0)):
        if not isinstance(number, Integral) or number < least:
            raise InputError(
                f"{name} must be a whole number of at least {least}, got {shown(number)}"
            )
    begun, say = time.perf_counter(), note or _silent
    say("reading the columns", 0.0)
    table, said = labelled(table)
    groups = row_groups(table)
    labels = make_labels(table.label, task)
    suspects = leaks(table, labels, groups)
    numbers = row_numbers(table, groups)
    useless = [leak.column for leak in suspects if leak.exact]
    table = table.without([*useless, *(number.column for number in numbers if number.parts)])
    prepared = prepare(table)
    problem = make_problem(prepared, labels, groups, plan, seed)
    held, pipeline, interrupted = _fits(problem, jobs, say)
    score, found = held.score(), directions(held, pipeline)
    if not score.above_zero:
        found = tuple(replace(direction, certain=False) for direction in found)
    words = (*table.said, *said, *labels.said, *prepared.said, *duplicates(table, groups))
    words += tuple(prepared.shortened(pipeline[0], pipeline[-1]._inputs.scaling.heavy))
    record = Report(
        title=title,
        label=labels.name,
        classes=labels.classes,
        rows=len(table),
        distinct=int(groups.max()) + 1,
        columns=len(prepared.sources),
        folds=problem.folds,
        level=float(pipeline[-1].level),
        said=words,
        leaks=suspects,
        row_numbers=numbers,
        score=score,
        directions=found,
        estimator=pipeline,
        outputs=labels.scores,
        quick=plan == QUICK,
        **_classes(held, labels),
    )
    return Work(table, problem, held, pipeline, record, begun, interrupted)


def _classes(held: HeldOut, labels: Labels) -> dict[str, Any]:
    """How often the class is named, and how often the most frequent one is."""
    if not labels.classes:
        return {"accuracy": None, "most_frequent": None}

    def wrong(share: float) -> Float[np.ndarray, " n"]:
        named = held.predictions(GIANT_STEPS, share).argmax(axis=1)
        return (named != labels.place).astype(float)

    ones, folds = np.ones(len(labels.place)), held.folds(wrong, GIANT_STEPS)
    groups = held.problem.groups
    others = 1.0 - labels.scores[:, np.argmax(labels.scores.mean(axis=0))]
    return {
        "accuracy": explained(wrong(1.0), ones, groups, folds),
        "most_frequent": explained(others, ones, groups),
    }


def _fits(problem: Problem, jobs: int, say: Note) -> tuple[HeldOut, Any, bool]:
    """The fit on all rows and those of folds; whether peers or smaller sizes were interrupted."""
    folds, peers = range(problem.folds), [m.name for m in MODELS if m.name != GIANT_STEPS]
    listed = [Job(GIANT_STEPS, fold) for fold in (None, *folds)]
    listed += [Job(name, fold) for name in peers for fold in folds]
    listed += [Job(GIANT_STEPS, fold, share) for share in problem.plan.shares for fold in folds]
    # Losses on fewer rows show how much training rows matter (interval.py).
    fewer = problem.plan.peer_shares
    listed += [Job(name, fold, share) for share in fewer for name in peers for fold in folds]
    held, pipeline, total = HeldOut(problem, {}, {}), None, len(listed)
    say(f"fit 1 of {total}", 0.0)
    results = run_jobs(listed, problem, jobs)
    try:
        for number, (job, predicted, fitted) in enumerate(results, start=1):
            if job.fold is None:
                pipeline = fitted
            else:
                held.predicted[job] = predicted
                if fitted is not None:
                    held.pipelines[job.fold] = fitted
            say(f"fit {min(number + 1, total)} of {total}", 0.8 * number / total)
    except KeyboardInterrupt:
        if pipeline is None or not held.complete(GIANT_STEPS):
            raise
        return held, pipeline, True
    finally:
        results.close()
    return held, pipeline, False


@dataclass(frozen=True)
class Part:
    """A part of the page beyond the answer, computed after the fits, that may be cut off.

    instant -> takes no time, so that it is made of whatever fits there are after an interrupt.
    """

    name: str
    make: Callable[[Work], dict[str, Any]]
    instant: bool = False


PARTS = (
    Part("other models", lambda work: {"models": compare_models(work.held)}, instant=True),
    Part("learning curve", lambda work: {"curve": learning_curve(work.held)}, instant=True),
    Part("residual tests", lambda work: {"left": residual_test(work.held)}),
    Part(
        "what is lost without columns",
        lambda work: {"lost": lost(work.held, work.pipeline, work.record.directions)},
    ),
    Part(
        "distance from Gaussian",
        lambda work: {"gaussianity": gaussianity(work.problem.prepared, work.record.directions)},
    ),
    Part(
        "drift",
        lambda work: {
            "drift": drift(
                work.table, work.held, [number.column for number in work.record.row_numbers]
            )
        },
    ),
    Part(
        "how hard it is",
        lambda work: {
            "hardness": hardness(
                work.held, work.pipeline, work.record.score, work.record.directions
            )
        },
    ),
)


def _memory() -> float:
    """Peak memory of this process and of the largest of its workers, in MiB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / unit
