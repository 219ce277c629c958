"""Which steps of a run are recorded: all, log-spaced ones, or every k-th; the last always."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from giantstep.language.word import Word


@dataclass(frozen=True)
class Recording:
    """``steps(last, *numbers)`` are steps up to the last one, after which a run is recorded."""

    steps: Callable[..., Iterable[int]]
    numbers: tuple[str, ...] = ()


def _log_spaced(last: int, per_decade: int = 10) -> list[int]:
    """Ten steps a decade: neighbours differ by a quarter, as points do on a log axis."""
    chosen, exponent = [0], 0
    while (step := round(10.0 ** (exponent / per_decade))) <= last:
        chosen.append(step)
        exponent += 1
    return chosen


RECORDINGS = {
    "all": Recording(lambda last: range(last + 1)),
    "log": Recording(_log_spaced),
    "every": Recording(lambda last, k: range(0, last + 1, int(k)), ("k",)),
}


class RecordWord(Word[Recording]):
    """Which steps of a run are recorded."""

    kinds = RECORDINGS


@lru_cache(maxsize=64)
def recorded_steps(record: RecordWord, steps: int) -> tuple[int, ...]:
    """The steps after which a run is recorded, 0 (the start) and the last among them."""
    return tuple(sorted({*record.kind.steps(steps, *record.numbers), steps}))
