"""Fields in which settings differ, and which of them were given so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from giantstep.problem.setting import DEFAULTS, Setting


def differing_fields(settings: Sequence[Setting]) -> list[str]:
    """Names of the fields in which settings differ, but for the number of runs."""
    names = [name for name in Setting.model_fields if name != "runs"]
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
