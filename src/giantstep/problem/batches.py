"""Which samples a step is taken on.  A new kind is one entry of ``BATCHES``."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.errors import InputError
from giantstep.language.word import Word, form_list, read_word

BATCHES = {"fresh": (), "reused": (), "repeat": ("k",), "minibatch": ("N",)}
"""fresh samples at every step, the same at all of them, each batch k times in a row, or n of a
fixed set of N samples, drawn anew at every step."""

DESCRIPTION = form_list(BATCHES)


def read_batches(value: object, letters: Mapping[str, float]) -> Word:
    """The kind of batches from its text; numbers in terms of d, n and p are rounded."""
    word = read_word(value, "batches", forms=BATCHES, letters=letters)
    numbers = tuple(float(round(number)) for number in word.numbers)
    least = letters["n"] if word.name == "minibatch" else 1
    if numbers and not least <= numbers[0] <= 2**53:
        raise InputError(f"batches {word.name} needs a number of at least {least:g}, got {word!r}")
    return Word(word.name, *numbers)


def set_of(batches: Word, step: int) -> int:
    """The number of the set of samples that step ``step`` is taken on or draws from."""
    if batches == "fresh":
        return step
    return step // int(batches.numbers[0]) if batches.name == "repeat" else 0


def uses(batches: Word, steps: int) -> int:
    """The most steps taken on one set of samples."""
    if batches == "fresh":
        return 1
    return min(int(batches.numbers[0]), steps) if batches.name == "repeat" else steps


def set_size(batches: Word, n: int) -> int:
    """Samples of a set: the n of a step, or the N it draws them from."""
    return int(batches.numbers[0]) if batches.name == "minibatch" else n
