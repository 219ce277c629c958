"""Records as plain values: lists, numbers and texts, which JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A record, or a list of records, as plain values; None for numbers that are not finite.

    A record with ``as_dict`` says itself what it shows, any other shows its fields.
    """
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value):
        return fields_of(value)
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def fields_of(record: Any, *others: str) -> dict[str, Any]:
    """The fields of a record, but for the ``others``, as plain values."""
    names = (field.name for field in fields(record) if field.name not in others)
    return {name: plain(getattr(record, name)) for name in names}
