"""Threads for drawing samples and for small array work, and sums over their blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from typing import Any

import numpy as np


@cache
def workers() -> ThreadPoolExecutor:
    """Threads for drawing and for small array work: NumPy lets go of the interpreter in both."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="giantstep")


@cache
def ahead() -> ThreadPoolExecutor:
    """One thread that prepares the next chunk; the workers draw its blocks."""
    return ThreadPoolExecutor(1, thread_name_prefix="giantstep-ahead")


def ordered(function: Callable[[int], Any], count: int) -> Iterator[Any]:
    """function(0), function(1), ... in order, a few at a time in threads."""
    if count == 1:
        yield function(0)
        return
    pool, most = workers(), 2 * (os.cpu_count() or 1)
    indices = iter(range(count))
    pending = [pool.submit(function, index) for index in islice(indices, most)]
    try:
        while pending:
            result = pending.pop(0).result()
            pending.extend(pool.submit(function, index) for index in islice(indices, 1))
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
