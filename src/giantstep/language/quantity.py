"""Sizes and step sizes in terms of others: ``4d``, ``d^1.5``, ``d*log(d)``, ``3*giant``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np

from giantstep.errors import InputError, shown

_PIECE = re.compile(
    r"\s*(?P<operator>[*/]?)\s*(?P<sign>-?)\s*"
    r"(?:(?P<number>[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|log\(\s*(?P<log>[a-z])\s*\)|(?P<letter>giant|[a-z]))"
    r"(?:\s*\^\s*(?P<exponent>-?[0-9]*\.?[0-9]+))?",
    re.ASCII,
)
_DIGITS = re.compile(r"\s*-?[0-9]+\s*", re.ASCII)

EXACT = 2**53
"""Whole numbers up to here are exact in float64."""


def listed(value: object) -> list[object]:
    """One value, several, or a text with commas, as a list."""
    if isinstance(value, str):
        return list(value.split(","))
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist())
    return list(value) if isinstance(value, list | tuple) else [value]


def quantity(
    value: object,
    letters: Mapping[str, float],
    field: str,
    *,
    kind: str = "a number",
    like: str = "'4d', 'd^1.5' or 'log(d)'",
) -> float:
    """The number meant by a number or a text: a product of numbers, powers of letters and logs.

    A letter is d, n or p, or ``giant``; log is the natural one.  ``kind`` is what a complaint says
    is expected, ``like`` what it gives for examples of a product.
    """
    products = f" or a product of powers of {', '.join(letters)}, such as {like}" if letters else ""
    expected = kind + products
    complaint = InputError(f"{field} must be {expected}, got {shown(value)}")
    if isinstance(value, bool) or not isinstance(value, Real | str):
        raise complaint
    try:
        result = _product(value, letters) if isinstance(value, str) else float(value)
    except (OverflowError, ZeroDivisionError):
        result = math.inf
    if result is None:
        raise complaint
    if not math.isfinite(result):
        raise InputError(f"{field} must be finite, got {shown(value)}")
    return result


def _product(text: str, letters: Mapping[str, float]) -> float | None:
    """The value of a text, None where it is no product of numbers and powers of letters."""
    if not text.strip() or len(text) > 100:
        return None
    result, position = 1.0, 0
    while position < len(text.rstrip()):
        match = _PIECE.match(text, position)
        if match is None or (match["operator"] if position == 0 else match["sign"]):
            return None
        if position and match["number"] and not match["operator"]:  # "10 500", "1.5.5"
            return None
        if match["sign"]:
            result = -result
        letter = match["letter"] or match["log"]
        if letter and letter not in letters:
            return None
        base = letters[letter] if letter else float(match["number"])
        base = math.log(base) if match["log"] else base
        factor = base ** float(match["exponent"] or 1)
        result = result / factor if match["operator"] == "/" else result * factor
        position = match.end()
    return result


def whole(
    value: object,
    letters: Mapping[str, float],
    field: str,
    *,
    least: int = 1,
    most: int = EXACT,
) -> int:
    """A size from ``least`` to ``most``.

    What is given in terms of a letter (``1.5d``, ``d^1.5``) is rounded to the nearest integer, ties
    to the even one; a plain number must be whole, and an integer keeps its last digit.
    """
    number = quantity(value, letters, field, kind="a whole number")
    if isinstance(value, str) and any(letter in value for letter in letters):
        size = round(number)
    elif isinstance(value, Integral) or (isinstance(value, str) and _DIGITS.fullmatch(value)):
        size = int(value)
    elif not number.is_integer():
        raise InputError(f"{field} must be a whole number, got {shown(value)}")
    elif EXACT <= abs(number) <= most:  # 2^53 + 1 reads as 2^53 too
        raise InputError(f"{field} must be written in full from 2^53 on, got {shown(value)}")
    else:
        size = int(number)
    if size < least:
        raise InputError(f"{field} must be at least {least}, got {shown(value)}")
    if size > most:
        raise InputError(f"{field} must be at most {most}, got {shown(value)}")
    return size
