"""Which samples a step is taken on.  A new kind is one entry of ``BATCHES``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from giantstep.language.word import Word


@dataclass(frozen=True)
class BatchKind:
    """How samples are dealt out to the steps.

    Samples come in sets, each for ``steps_per_set(*numbers)`` steps in a row.  A step takes the
    whole set, or where it ``draws``, n samples of a set of N.  ``fresh``: every step has samples of
    its own.  ``same``: all steps take the same n samples.  ``meaning`` explains it in the help.
    """

    steps_per_set: Callable[..., float]
    numbers: tuple[str, ...] = ()
    meaning: str = ""
    draws: bool = False
    fresh: bool = False
    same: bool = False


BATCHES = {
    "fresh": BatchKind(lambda: 1, fresh=True),
    "reused": BatchKind(lambda: math.inf, same=True),
    "repeat": BatchKind(lambda k: k, ("k",), " (each batch k times in a row)"),
    "minibatch": BatchKind(
        lambda size: math.inf, ("N",), " (n of a fixed set of N, drawn anew)", draws=True
    ),
}


class BatchWord(Word[BatchKind]):
    """The kind of batches that a run takes its steps on."""

    kinds = BATCHES

    @property
    def steps_per_set(self) -> float:
        """Steps in a row that are taken on one set of samples."""
        return self.kind.steps_per_set(*self.numbers)


def set_of(batches: BatchWord, step: int) -> int:
    """The number of the set of samples that step ``step`` is taken on or draws from."""
    return int(step // batches.steps_per_set)


def uses(batches: BatchWord, steps: int) -> int:
    """The most steps taken on one set of samples."""
    return 1 if batches.kind.fresh else int(min(batches.steps_per_set, steps))


def set_size(batches: BatchWord, n: int) -> int:
    """Samples of a set: the n of a step, or the N it draws them from."""
    return int(batches.numbers[0]) if batches.kind.draws else n
