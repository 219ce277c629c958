"""Plain values: lists, numbers and texts that JSON has."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

DIGITS = 7
"""Significant digits of an array's numbers: more than a picture shows, a third of the bytes."""


def plain(value: Any) -> Any:
    """The value with arrays as lists, and None for what is not a finite number."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def encoded(value: Any) -> bytes:
    """JSON without spaces."""
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":")).encode()
