"""What went wrong, as the page shows it: one sentence, the field it is about, the place in it."""

from __future__ import annotations

import re
from typing import Any

from giantstep.errors import (
    DivergenceError,
    InputError,
    NotConvergedError,
    NoTheoryError,
    memory_words,
)
from giantstep.problem.setting import DEFAULTS

SENTENCES = (InputError, NoTheoryError, NotConvergedError, DivergenceError, MemoryError)
"""Errors that are told; any other is a bug, and shows its traceback on the server's terminal."""

_POSITION = re.compile(r" at position (\d+)")
_FIELD = re.compile(r"(\w+)(?=[: ])")


def problem(error: Exception) -> dict[str, Any]:
    """The sentence of an error; ``position`` counts characters of the field from 1."""
    text = memory_words(error) if isinstance(error, MemoryError) else str(error)
    message = " ".join(text.split())
    first, place = _FIELD.match(message), _POSITION.search(message)
    field = first[1] if first is not None and first[1] in DEFAULTS else None
    return {
        "message": message,
        "field": field,
        "position": None if place is None else int(place[1]),
        "kind": type(error).__name__,
    }
