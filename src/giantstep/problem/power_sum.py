"""Sums of one link along many directions with power-law weights, as text and as an expression."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.language.expression import Expression, Number, Variable, add, multiply, substitute
from giantstep.language.parser import parse

MOST_DIRECTIONS = 2_000
"""Largest number of directions of a power-law sum: expressions of this length take a second."""

_TYPED = re.compile(r"separable\(\s*(\S.*?)\s*,\s*([^,]+?)\s*,\s*([^,]+?)\s*\)")


def read_power_sum(text: str) -> tuple[str, int, Expression] | None:
    """Name, r and expression of ``separable(LINK, r, exponent)``; None for another text."""
    typed = text.strip()
    if not typed.startswith("separable("):
        return None
    complaint = (
        "target separable(LINK, r, exponent) must have an expression LINK in z, a whole number r "
        f"and a number for the exponent, and nothing beside it, got {shown(typed)}"
    )
    match = _TYPED.fullmatch(typed)
    if match is None:
        raise InputError(complaint)
    link, directions, exponent = match.groups()
    try:
        count, power = int(directions), float(exponent)
    except ValueError:
        raise InputError(complaint) from None
    return power_sum(link, count, power)


def check_links(links: Any) -> None:
    """Refuse links that are neither texts nor functions."""
    if not isinstance(links, Sequence) or not links:
        raise InputError(f"links must be a text or a list of at least one, got {shown(links)}")
    for k, link in enumerate(links):
        if not (isinstance(link, str) or callable(link)):
            raise InputError(f"link {k + 1} must be a text or a function of z, got {shown(link)}")


def power_sum(link: str, directions: Any, exponent: Any) -> tuple[str, int, Expression]:
    """sum_k k^-exponent link(x_k), k = 1 .. directions: its name as typed, r and expression.

    The sum of arXiv 2504.19983 and 2508.03688.
    """
    if isinstance(directions, bool) or not isinstance(directions, int):
        raise InputError(f"directions must be a whole number for one link, got {shown(directions)}")
    if not isinstance(exponent, (int, float)):
        raise InputError(f"exponent must be a number, got {shown(exponent)}")
    if not 1 <= directions <= MOST_DIRECTIONS:
        raise InputError(
            f"directions of a separable target must be 1 to {MOST_DIRECTIONS}, got {directions}"
        )
    if not 0.0 <= exponent <= 10.0:
        raise InputError(f"exponent of a separable target must be 0 to 10, got {exponent:g}")
    parsed = parse(link, "link of a separable target", variable="z")
    weighted = [
        multiply(Number(Fraction((k + 1.0) ** -exponent)), substitute(parsed, (Variable(k),)))
        for k in range(directions)
    ]
    return f"separable({link.strip()}, {directions}, {exponent:g})", directions, add(*weighted)
