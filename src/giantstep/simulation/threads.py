"""Threads for drawing samples and for small array work, and sums over their blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from giantstep.simulation.limits import within_limit

ALLOWED: list[int] = []
"""The number of threads of this process where it is one of several that share the processors."""


def share_processors() -> None:
    """One thread from now on, as one of several processes: our own, of BLAS and of JAX.

    JAX reads its number when it is loaded.
    """
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
    use_threads(1)
    within_limit()


def use_threads(count: int) -> None:
    """Let this process use so many threads of its own, and of BLAS, from now on."""
    ALLOWED[:] = [count]
    blas().limit(limits=count)


def cores() -> int:
    """Processors this process may use: fewer than the machine has inside a container or a job."""
    if ALLOWED:
        return ALLOWED[0]
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def workers() -> ThreadPoolExecutor:
    """Threads for drawing and for small array work: NumPy lets go of the interpreter in both."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="giantstep")


@cache
def ahead() -> ThreadPoolExecutor:
    """One thread that prepares the next chunk; the workers draw its blocks."""
    return ThreadPoolExecutor(1, thread_name_prefix="giantstep-ahead")


FEW_NEURONS = 512
"""Up to here p x p matrices take one thread a fraction of a second: more would gain little, and
beside other load they wait for each other many times as long (benchmarks/threads.py)."""

LIMIT = Lock()
"""Held while the number of threads of BLAS is changed."""

LIMITED: list[Any] = []
"""The limit in force, once for everyone who works under it."""


@cache
def blas() -> ThreadpoolController:
    """The libraries of linear algebra, searched for once: NumPy's, and SciPy's own."""
    import scipy.linalg  # noqa: F401

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def single_blas(when: bool = True) -> Iterator[None]:
    """One thread for BLAS inside, for example while our own threads work; then those of before.

    The number belongs to the process: the first caller sets it, and the last one to leave puts
    back the number from before.
    """
    if not when:
        yield
        return
    with LIMIT:
        LIMITED.append(LIMITED[0] if LIMITED else blas().limit(limits=1))
    try:
        yield
    finally:
        with LIMIT:
            limit = LIMITED.pop()
            if not LIMITED:
                limit.restore_original_limits()


def submit(pool: ThreadPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Run a function in a pool as it would run here: np.errstate belongs to the context."""
    return pool.submit(copy_context().run, function, *arguments)


def ordered(function: Callable[[int], Any], count: int) -> Iterator[Any]:
    """function(0), function(1), ... in order, a few at a time in threads."""
    if count == 1 or cores() == 1:
        yield from map(function, range(count))
        return
    pool, most = workers(), 2 * cores()
    indices = iter(range(count))
    pending = [submit(pool, function, index) for index in islice(indices, most)]
    try:
        while pending:
            result = pending.pop(0).result()
            pending.extend(submit(pool, function, index) for index in islice(indices, 1))
            yield result
    finally:
        for task in pending:
            task.cancel()


def added_up(parts: Iterator[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Sums of the parts in float64, in order: the same on any number of threads."""
    totals: list[np.ndarray] = []
    for part in parts:
        if not totals:
            totals = [np.array(value, dtype=np.float64) for value in part]
        else:
            for total, value in zip(totals, part, strict=True):
                total += value
    return totals
