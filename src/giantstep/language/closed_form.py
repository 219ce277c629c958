"""Numbers of which a closed form is known: fractions, square roots and powers of pi."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

RECOGNISED = 1e-13
"""Relative distance at which a number is taken for a closed form: quadrature leaves 1e-14.

Fractions with numerator and denominator up to 1000 lie a millionth apart, so that another number
is taken for one of them in one of ten million cases.
"""

PI_POWERS = (0, 2, -1, 1, -2)
"""Powers of pi that are tried under the square root, the plainest first."""


@dataclass(frozen=True)
class ClosedForm:
    """sign * sqrt(square * pi^pi_power); the square of a fraction gives the fraction itself."""

    sign: int
    square: Fraction
    pi_power: int


def closed_form(value: float) -> ClosedForm | None:
    """The closed form of a number, None where none is close enough.

    >>> from giantstep.language.closed_form import closed_form
    >>> closed_form(0.3989422804014327)  # 1/sqrt(2 pi)
    ClosedForm(sign=1, square=Fraction(1, 2), pi_power=-1)
    """
    if value == 0 or not math.isfinite(value):
        return None
    sign = 1 if value > 0 else -1
    if value == round(value):
        return ClosedForm(sign, Fraction(value) ** 2, 0)
    if (plain := _fraction(abs(value))) is not None:
        return ClosedForm(sign, plain**2, 0)
    for power in PI_POWERS:
        square = value * value / math.pi**power
        if math.isfinite(square) and (under := _fraction(square)) is not None:
            return ClosedForm(sign, under, power)
    return None


def _fraction(value: float, most: int = 1000) -> Fraction | None:
    """The small fraction that a positive number is up to rounding."""
    nearest = Fraction(value).limit_denominator(most)
    close = abs(float(nearest) - value) <= RECOGNISED * value
    return nearest if 0 < nearest.numerator <= most and close else None
