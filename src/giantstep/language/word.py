"""Words of the record, each with its kind and its numbers: ``huber(1)``, ``every(10)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Self, TypeVar

from giantstep.errors import InputError, shown
from giantstep.language.quantity import quantity

Kind = TypeVar("Kind")


class Word(str, Generic[Kind]):
    """A name with its numbers, equal to the text it is typed as.

    A subclass has the table ``kinds`` of its names, and ``kind`` is the entry of this one: a record
    that says what callers want to know.  ``kind.numbers`` are letters for the numbers it takes.

    >>> from giantstep import Setting
    >>> loss = Setting("x1", loss="huber(1)").loss
    >>> loss, loss.name, loss.numbers, loss.kind.plain
    ('huber(1)', 'huber', (1.0,), False)
    """

    kinds: ClassVar[Mapping[str, Any]] = {}
    name: str
    numbers: tuple[float, ...]

    def __new__(cls, name: str, *numbers: float) -> Self:
        arguments = ", ".join(shortest(number) for number in numbers)
        word = super().__new__(cls, f"{name}({arguments})" if numbers else name)
        word.name, word.numbers = name, numbers
        return word

    def __getnewargs__(self) -> tuple[str | float, ...]:  # type: ignore[override]
        return (self.name, *self.numbers)

    @property
    def kind(self) -> Kind:
        """The record of this kind of word."""
        entry: Kind = self.kinds[self.name]
        return entry

    @classmethod
    def forms(cls) -> str:
        """How the words are typed, separated by commas, with what they mean where that is told."""
        return ", ".join(
            (f"{name}({', '.join(kind.numbers)})" if kind.numbers else name)
            + getattr(kind, "meaning", "")
            for name, kind in cls.kinds.items()
        )

    @classmethod
    def read(
        cls,
        value: object,
        field: str,
        number: Callable[[str, str, Kind], float] = lambda text, field, _: quantity(
            text, {}, field
        ),
    ) -> Self:
        """A word of a field from its text; ``number(text, field, kind)`` reads its numbers."""
        match = (
            re.fullmatch(r"\s*([a-z]+)\s*(?:\(([^()]*)\))?\s*", value)
            if isinstance(value, str)
            else None
        )
        if match and match[1] in cls.kinds:
            texts = match[2].split(",") if (match[2] or "").strip() else []
            kind, where = cls.kinds[match[1]], f"{field} {match[1]}"
            if len(texts) == len(kind.numbers) and all(text.strip() for text in texts):
                return cls(match[1], *(number(text, where, kind) for text in texts))
        raise InputError(f"{field} must be one of {cls.forms()}, got {shown(value)}")


def shortest(number: float) -> str:
    """A number as it is typed: the shortest text that gives it back."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
