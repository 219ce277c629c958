"""A record in one line: arrays by their shapes, what is not there left out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def brief_value(value: Any, most: int = 4) -> str:
    """A value in a few words; of an array at most so many numbers are written out."""
    if isinstance(value, np.ndarray):
        if value.size <= most and value.ndim <= 1:
            return np.array2string(value, precision=4, separator=", ")
        return f"<{' x '.join(map(str, value.shape))}>"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def brief(record: Any) -> str:
    """The fields of a dataclass in one line: ``__repr__ = brief`` in its body."""
    named = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    parts = [f"{name}={brief_value(v)}" for name, v in named.items() if v is not None]
    return f"{type(record).__name__}({', '.join(parts)})"
