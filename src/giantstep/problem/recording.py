"""Which steps of a run are recorded: all, log-spaced ones, or every k-th; the last always."""

from __future__ import annotations

from functools import lru_cache

from giantstep.language.quantity import whole
from giantstep.language.word import Word, form_list, split_word

RECORD = {"all": (), "log": (), "every": ("k",)}
DESCRIPTION = form_list(RECORD)

PER_DECADE = 10
"""Log-spaced steps a decade."""


def read_record(value: object) -> Word:
    """What is recorded, from its text."""
    name, texts = split_word(value, "record", RECORD)
    return Word(name, *(float(whole(text, {}, f"record {name}")) for text in texts))


@lru_cache(maxsize=64)
def recorded_steps(record: Word, steps: int) -> tuple[int, ...]:
    """The steps after which a run is recorded, 0 (the start) and the last among them."""
    if record == "all":
        return tuple(range(steps + 1))
    if record.name == "every":
        return tuple(sorted({*range(0, steps + 1, int(record.numbers[0])), steps}))
    found, exponent = {0, steps}, 0
    while (step := round(10.0 ** (exponent / PER_DECADE))) <= steps:
        found.add(step)
        exponent += 1
    return tuple(sorted(found))
