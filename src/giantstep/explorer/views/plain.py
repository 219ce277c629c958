"""Plain values: lists, numbers and texts that JSON has."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any, digits: int = 7) -> Any:
    """The value with arrays as lists, and None for what is not a finite number.

    Numbers have so many significant ``digits``: more than a picture shows, a third of the bytes.
    """
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), digits)
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(part, digits) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part, digits) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def encoded(value: Any) -> bytes:
    """JSON without spaces."""
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":")).encode()
