"""Sizes and step sizes in terms of d, n and p: ``4d``, ``d^1.5``, ``d/2``, ``p*d^0.5``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Integral, Real

from giantstep.errors import InputError

_PIECE = re.compile(
    r"\s*(?P<operator>[*/]?)\s*(?P<sign>-?)\s*"
    r"(?:(?P<number>[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)|(?P<letter>[a-z]))"
    r"(?:\s*\^\s*(?P<exponent>-?[0-9]*\.?[0-9]+))?",
    re.ASCII,
)


def quantity(value: object, letters: Mapping[str, float], field: str) -> float:
    """The number meant by a number or a text: a product of numbers and powers of letters."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        raise InputError(f"{field} must be a number or a text such as '4d', got {value!r}")
    if not isinstance(value, str):
        try:
            result = float(value)
        except OverflowError:  # an integer beyond the floats, perhaps beyond printing too
            raise InputError(f"{field} must be finite, got {hex(math.trunc(value))[:40]}") from None
    else:
        result = _product(value, letters, field)
    if not math.isfinite(result):
        raise InputError(f"{field} must be finite, got {value!r}")
    return result


def _product(text: str, letters: Mapping[str, float], field: str) -> float:
    names = ", ".join(letters) or "no letters"
    complaint = InputError(
        f"{field} must be a number or a product of powers of {names}, such as "
        f"'4d' or 'd^1.5', got {text[:40]!r}"
    )
    if not text.strip() or len(text) > 100:
        raise complaint
    result, position = 1.0, 0
    while position < len(text.rstrip()):
        match = _PIECE.match(text, position)
        if match is None or (match["operator"] if position == 0 else match["sign"]):
            raise complaint
        if position and match["number"] and not match["operator"]:  # "10 500", "1.5.5"
            raise complaint
        if match["sign"]:
            result = -result
        if match["letter"]:
            if match["letter"] not in letters:
                raise complaint
            base = letters[match["letter"]]
        else:
            base = float(match["number"])
        try:
            factor = base ** float(match["exponent"] or 1)
            result = result / factor if match["operator"] == "/" else result * factor
        except (OverflowError, ZeroDivisionError):
            raise complaint from None
        position = match.end()
    return result


def whole(value: object, letters: Mapping[str, float], field: str, least: int = 1) -> int:
    """A size: the nearest integer, at least ``least``."""
    number = quantity(value, letters, field)
    if not isinstance(value, str) and number != int(number):
        raise InputError(f"{field} must be a whole number, got {value!r}")
    # An integer keeps its last digit: a seed may be beyond 2^53.
    size = int(value) if isinstance(value, Integral) else round(number)
    if size < least:
        raise InputError(f"{field} must be at least {least}, got {value!r}")
    return size
