"""Sums of one link along many directions with power-law weights, as text and as an expression."""

from __future__ import annotations

import re
from fractions import Fraction

from giantstep.errors import InputError
from giantstep.language.expression import Expression, Number, Variable, add, multiply, substitute
from giantstep.language.parser import parse

MOST_DIRECTIONS = 2_000
"""Largest number of directions of a power-law sum: expressions of this length take a second."""

_TYPED = re.compile(r"separable\(\s*(\S.*?)\s*,\s*([^,]+?)\s*,\s*([^,]+?)\s*\)")


def read_power_sum(text: str) -> tuple[str, int, Expression] | None:
    """Name, r and expression of ``separable(LINK, r, exponent)``; None for another text."""
    match = _TYPED.fullmatch(text.strip())
    if match is None:
        return None
    link, directions, exponent = match.groups()
    try:
        count, power = int(directions), float(exponent)
    except ValueError:
        raise InputError(
            "target separable(LINK, r, exponent) must have a whole number r and a number for the "
            f"exponent, got {text[:60]!r}"
        ) from None
    return power_sum(link, count, power)


def power_sum(link: str, directions: int, exponent: float) -> tuple[str, int, Expression]:
    """sum_k k^-exponent link(x_k), k = 1 .. directions: its name as typed, r and expression.

    The sum of arXiv 2504.19983 and 2508.03688.
    """
    if not 1 <= directions <= MOST_DIRECTIONS:
        raise InputError(
            f"directions of a separable target must be 1 to {MOST_DIRECTIONS}, got {directions}"
        )
    if not 0.0 <= exponent <= 10.0:
        raise InputError(f"exponent of a separable target must be 0 to 10, got {exponent:g}")
    parsed = parse(link, "link", variable="z")
    weighted = [
        multiply(Number(Fraction((k + 1.0) ** -exponent)), substitute(parsed, (Variable(k),)))
        for k in range(directions)
    ]
    return f"separable({link.strip()}, {directions}, {exponent:g})", directions, add(*weighted)
