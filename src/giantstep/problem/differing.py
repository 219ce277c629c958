"""Fields in which settings differ, and which of them were given so."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from giantstep.problem.setting import DEFAULTS, Setting


def differing_fields(settings: Sequence[Setting]) -> list[str]:
    """Names of the fields in which settings differ, but for the number of runs."""
    names = [name for name in Setting.fields if name != "runs"]
    return [name for name in names if _differ([getattr(each, name) for each in settings])]


def given_differing(settings: Sequence[Setting]) -> list[str]:
    """Those of them that were given differently; the others follow, as n = 4d follows d."""
    return [
        name
        for name in differing_fields(settings)
        if _differ([each.given.get(name, DEFAULTS[name]) for each in settings])
    ]


def _differ(values: Sequence[Any]) -> bool:
    # Arrays and callables are what they are: texts of them would be the same.
    return any(value is not values[0] and not _same(value, values[0]) for value in values)


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # arrays of numbers
        return False


def told_apart(values: Sequence[Any], texts: Sequence[str]) -> list[str]:
    """The texts of values; different values with the same text are numbered in their order."""
    told: list[str] = []
    for value, text in zip(values, texts, strict=True):
        same = [other for other, its in zip(values, texts, strict=True) if its == text]
        kinds = [each for k, each in enumerate(same) if not any(_same(each, o) for o in same[:k])]
        number = next(k for k, each in enumerate(kinds, 1) if _same(each, value))
        told.append(text if len(kinds) == 1 else f"{text} ({number})")
    return told


def field_text(setting: Setting, name: str) -> str:
    """The value of a field as it was given, such as 4d; of a callable its name."""
    given = setting.given.get(name)
    plain = isinstance(given, str | Real) and not isinstance(given, bool)
    value = given if plain else setting.as_dict()[name]
    if isinstance(value, list):
        return ", ".join(f"{part:g}" if isinstance(part, Real) else str(part) for part in value)
    return str(value)
