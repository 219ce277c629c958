"""Which samples a step is taken on.  A new kind is one entry of ``BATCHES``."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.language.quantity import whole
from giantstep.language.word import Word, split_word

BATCHES = {"fresh": (), "reused": (), "repeat": ("k",), "minibatch": ("N",)}
"""fresh samples at every step, the same at all of them, each batch k times in a row, or n of a
fixed set of N samples, drawn anew at every step."""

DESCRIPTION = (
    "samples of a step: fresh, reused, repeat(k) (each batch k times in a row), minibatch(N) (n of "
    "a fixed set of N, drawn anew)"
)


def read_batches(value: object, letters: Mapping[str, float]) -> Word:
    """The kind of batches from its text; numbers in terms of d, n and p are rounded."""
    name, texts = split_word(value, "batches", BATCHES)
    least = int(letters["n"]) if name == "minibatch" else 1
    numbers = (whole(text, letters, f"batches {name}", least=least) for text in texts)
    return Word(name, *map(float, numbers))


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
