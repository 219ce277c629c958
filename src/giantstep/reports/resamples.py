"""Folds: models are fitted without the rows of a fold, and these are predicted."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from threadpoolctl import threadpool_limits

from giantstep.reports.columns import Prepared
from giantstep.reports.interval import Folds, Interval, explained, gained
from giantstep.reports.labels import Labels
from giantstep.reports.models import GIANT_STEPS, fit_model, predict_scores
from giantstep.reports.plan import Plan
from giantstep.simulation.processes import SHARING, Process
from giantstep.simulation.threads import cores


@dataclass(frozen=True)
class Job:
    """One fit: a model, the fold it leaves out, and the share of the other rows that it sees.

    fold -> None leaves out no row.
    """

    model: str
    fold: int | None
    share: float = 1.0


@dataclass(frozen=True)
class Problem:
    """All that a fit needs: rows, labels, folds; equal rows are in one fold."""

    prepared: Prepared
    labels: Labels
    groups: Int[np.ndarray, " n"]
    fold_of: Int[np.ndarray, " n"]
    order: Int[np.ndarray, " n"]
    plan: Plan

    @property
    def folds(self) -> int:
        return int(self.fold_of.max()) + 1

    def test(self, fold: int | None) -> Int[np.ndarray, " k"]:
        """Rows that a fold holds out."""
        return np.flatnonzero(self.fold_of == fold)

    def train(self, fold: int | None, share: float = 1.0) -> Int[np.ndarray, " k"]:
        """Rows that a fold is fitted on, in random order; some of them for a share.

        Every fold takes other rows for a share, so that what one choice of rows does averages out.
        """
        if fold is None:
            return np.arange(len(self.groups))
        rows = self.order[self.fold_of[self.order] != fold]
        first = fold * len(rows) // self.folds
        return np.roll(rows, -first)[: max(round(share * len(rows)), 2)]


def make_problem(
    prepared: Prepared, labels: Labels, groups: Int[np.ndarray, " n"], plan: Plan, seed: int = 0
) -> Problem:
    """Folds at random, classes spread over all of them."""
    key = np.random.default_rng(seed)
    count = int(groups.max()) + 1
    first = np.full(count, 0)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    shuffled = key.permutation(count)
    if labels.classes:
        shuffled = shuffled[np.argsort(labels.place[first[shuffled]], kind="stable")]
    fold_of_group = np.empty(count, dtype=int)
    fold_of_group[shuffled] = np.arange(count) % plan.folds_of(count)
    order = key.permutation(len(groups))
    return Problem(prepared, labels, groups, fold_of_group[groups], order, plan)


def held_out(job: Job, problem: Problem) -> tuple[Job, Float[np.ndarray, "k m"], Any]:
    """Predictions of the rows that a fold holds out, and the pipeline where others look at it."""
    train, test = problem.train(job.fold, job.share), problem.test(job.fold)
    # Trees and linear algebra: one thread each, since folds are fitted side by side.
    with threadpool_limits(1):
        pipeline = fit_model(job.model, problem.prepared, problem.labels, train, problem.plan)
        predicted = predict_scores(pipeline, problem.prepared, problem.labels, test)
    kept = pipeline if job.model == GIANT_STEPS and job.share == 1.0 else None
    return job, predicted, kept


def run_jobs(
    jobs: Sequence[Job], problem: Problem, processes: int
) -> Generator[tuple[Job, Float[np.ndarray, "k m"], Any], None, None]:
    """Results of all fits as they are ready, by this process and the others that it starts."""
    others = min(processes, len(jobs), cores()) - 1
    if others < 1:
        yield from (held_out(job, problem) for job in jobs)
        return
    waiting, done = deque(jobs), queue.SimpleQueue[Done]()
    pool = [Process(SHARING) for _ in range(others)]
    try:
        for process in pool:
            arguments = (process, problem, waiting, done)
            threading.Thread(target=_attend, args=arguments, daemon=True).start()
        for _ in jobs:
            yield _next_result(problem, waiting, done)
    finally:
        waiting.clear()
        # They end here, so that their memory and time are counted.
        for process in pool:
            process.end()


Done = tuple[Job, Float[np.ndarray, "k m"], Any] | Exception | None
"""What another process made: a result, why there is none, or nothing: a fit was given back."""


def _next_result(
    problem: Problem, waiting: deque[Job], done: queue.SimpleQueue[Done]
) -> tuple[Job, Float[np.ndarray, "k m"], Any]:
    """A result that is there, else that of a fit by this process, else the next one."""
    while True:
        result = None
        try:
            result = done.get(block=not waiting)
        except queue.Empty:
            with suppress(IndexError):
                return held_out(waiting.popleft(), problem)
        if isinstance(result, Exception):
            raise result
        if result is not None:
            return result


def _attend(
    process: Process, problem: Problem, waiting: deque[Job], done: queue.SimpleQueue[Done]
) -> None:
    """Let a process make fits while there are any; if it is lost, others make the one it had."""
    job = None
    try:
        process.outcome(_remember, problem)
        while waiting:
            job = waiting.popleft()
            done.put(process.outcome(_held_out, job)[1])
            job = None
    except IndexError:  # another one took the last of them
        return
    except EOFError:
        if job is not None:
            waiting.append(job)
            done.put(None)


REMEMBERED: list[Problem] = []
"""The problem of a process that fits for another one: it is sent once, not with every job."""


def _remember(problem: Problem) -> None:
    REMEMBERED[:] = [problem]


def _held_out(job: Job) -> tuple[Job, Float[np.ndarray, "k m"], Any]:
    return held_out(job, REMEMBERED[0])


@dataclass
class HeldOut:
    """What the fits of all folds predict of the rows that they have not seen."""

    problem: Problem
    predicted: dict[Job, Float[np.ndarray, "k m"]]
    pipelines: dict[int, Any]

    def complete(self, model: str, share: float = 1.0) -> bool:
        """Whether every fold has been predicted by a model."""
        folds = range(self.problem.folds)
        return all(Job(model, fold, share) in self.predicted for fold in folds)

    def predictions(self, model: str = GIANT_STEPS, share: float = 1.0) -> Float[np.ndarray, "n m"]:
        """Predictions of all rows, each by the fit that has not seen it."""
        values = np.empty_like(self.problem.labels.scores)
        for fold in range(self.problem.folds):
            values[self.problem.test(fold)] = self.predicted[Job(model, fold, share)]
        return values

    def losses(self, model: str = GIANT_STEPS, share: float = 1.0) -> Float[np.ndarray, " n"]:
        """Squared errors of all rows by a model."""
        return np.sum((self.problem.labels.scores - self.predictions(model, share)) ** 2, axis=1)

    @property
    def totals(self) -> Float[np.ndarray, " n"]:
        """Squared errors of all rows by the mean of the rows that a fold is fitted on."""
        problem, values = self.problem, np.empty(len(self.problem.groups))
        for fold in range(problem.folds):
            test = problem.test(fold)
            values[test] = problem.labels.totals(problem.train(fold), test)
        return values

    def smaller(self, *models: str, share: float = 1.0) -> float | None:
        """The next smaller share of the training rows that all these models were fitted on."""
        shares = [s for s in self.problem.plan.shares if s < share]
        return max((s for s in shares if all(self.complete(m, s) for m in models)), default=None)

    def folds(
        self,
        losses: Callable[[float], Float[np.ndarray, " n"]],
        *models: str,
        share: float = 1.0,
    ) -> Folds:
        """How losses at a share of the training rows change with the next smaller share."""
        less = self.smaller(*models, share=share)
        if less is None:
            return Folds(self.problem.folds)
        return Folds(self.problem.folds, losses(less) - losses(share), less / share)

    def score(self, model: str = GIANT_STEPS, share: float = 1.0) -> Interval:
        """Share of the label's variance that a model explains of rows it has not seen."""
        losses = partial(self.losses, model)
        folds = self.folds(losses, model, share=share)
        return explained(losses(share), self.totals, self.problem.groups, folds)

    def gain(self, model: str, over: str) -> Interval:
        """What a model explains more than another, on the same rows."""

        def difference(share: float) -> Float[np.ndarray, " n"]:
            return self.losses(over, share) - self.losses(model, share)

        folds = self.folds(difference, model, over)
        ours, theirs = self.losses(model), self.losses(over)
        return gained(ours, theirs, self.totals, self.problem.groups, folds)
