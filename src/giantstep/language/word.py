"""Words of the record that may carry numbers: ``square``, ``huber(1)``, ``every(10)``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Self

from giantstep.errors import InputError, shown
from giantstep.language.quantity import quantity

_FORM = re.compile(r"\s*([a-z]+)\s*(?:\(([^()]*)\))?\s*")


class Word(str):
    """A name with its numbers, equal to the text it is typed as.

    >>> Word("huber", 1.0)
    'huber(1)'
    >>> Word("huber", 1.0).numbers
    (1.0,)
    """

    name: str
    numbers: tuple[float, ...]

    def __new__(cls, name: str, *numbers: float) -> Self:
        arguments = ", ".join(shortest(number) for number in numbers)
        word = super().__new__(cls, f"{name}({arguments})" if numbers else name)
        word.name, word.numbers = name, numbers
        return word

    def __getnewargs__(self) -> tuple[str | float, ...]:  # type: ignore[override]
        return (self.name, *self.numbers)


def shortest(number: float) -> str:
    """A number as it is typed: the shortest text that gives it back."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def read_word(
    value: object,
    field: str,
    *,
    forms: Mapping[str, Sequence[str]],
    letters: Mapping[str, float] | None = None,
) -> Word:
    """A word of a field from its text; ``forms`` are the names with what their numbers stand for.

    Numbers may be given in terms of ``letters`` (``minibatch(4d)``).
    """
    name, texts = split_word(value, field, forms)
    return Word(name, *(quantity(text, letters or {}, f"{field} {name}") for text in texts))


def split_word(
    value: object, field: str, forms: Mapping[str, Sequence[str]]
) -> tuple[str, list[str]]:
    """The name of a word of a field, and the texts of its numbers."""
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    if match and match[1] in forms:
        texts = [] if match[2] is None else match[2].split(",")
        if len(texts) == len(forms[match[1]]):
            return match[1], texts
    raise InputError(f"{field} must be one of {form_list(forms)}, got {shown(value)}")


def form_list(forms: Mapping[str, Sequence[str]]) -> str:
    """How the words of a field are typed, separated by commas."""
    return ", ".join(f"{name}({', '.join(n)})" if n else name for name, n in forms.items())
