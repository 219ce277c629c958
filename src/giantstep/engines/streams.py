"""Random numbers that depend on (seed, run, step, sample) alone, whatever the chunk size.

Samples come in blocks, each with a generator of its own, and a block is filled sample by sample: a
shorter batch is a prefix of a longer one.  SFC64 draws a normal in about 8 ns on one core, JAX's
threefry in about 20 (benchmarks/generator.py), so that on a CPU the numbers come from NumPy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from functools import cache
from itertools import islice
from typing import Any

import numpy as np


class Purpose(IntEnum):
    """What a stream of random numbers is for."""

    START = 0
    BATCH = 1
    READOUT = 2
    TEST = 3
    HIDDEN = 4
    NOISE = 5
    FRAME = 6
    SIGNS = 7
    REVEAL = 8


def generator(seed: int, run: int, purpose: int, *where: int) -> np.random.Generator:
    """The generator of one block of one stream; the seed always takes two words of 32 bits."""
    words = [seed & 0xFFFFFFFF, seed >> 32, run, purpose, *where]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))


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


class Meter:
    """Counts samples as they are used and reports the share of those expected."""

    def __init__(self, expected: int, report: Callable[[float, int], None] | None) -> None:
        self.expected, self.report, self.done = max(expected, 1), report, 0

    def add(self, samples: int) -> None:
        self.done += samples
        if self.report is not None:
            self.report(min(self.done / self.expected, 1.0), self.done)


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
