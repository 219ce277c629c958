"""Sums of links along so many directions that the staircase is not computed for them."""

from __future__ import annotations

import numpy as np

from giantstep.errors import InputError
from giantstep.gaussian.independent_sums import is_separable
from giantstep.gaussian.series import MOST_TURNED
from giantstep.problem.target import Target

MOST_ODD = 100
"""Directions of a sum of odd links up to which it is analyzed: beyond, label powers take minutes,
and rounding decides about the weak directions."""


MOST_EVEN = 500
"""Directions of a sum of even links up to which it is analyzed: bases of all directions take r^3
operations each, and minutes beyond."""


def refuse_long_sums(f: Target) -> None:
    """InputError for a sum of links along more directions than the staircase is computed for."""
    if f.r <= MOST_TURNED or not f.is_polynomial or not is_separable(f.series):
        return
    if f.r > MOST_EVEN and f.series.degree > 1:
        raise InputError(
            f"target must have at most {MOST_EVEN} directions to be analyzed, got {f.r} directions"
        )
    degrees = f.series.degrees
    if f.series.degree > 1 and np.any(degrees == 1):
        raise InputError(
            f"target of more than {MOST_TURNED} directions must have links without a linear part "
            f"to be analyzed, got {f.r} directions"
        )
    if f.r > MOST_ODD and f.series.degree > 1 and np.any(degrees % 2 == 1):
        raise InputError(
            f"target of more than {MOST_ODD} directions must have even links to be analyzed, "
            f"got {f.r} directions"
        )
