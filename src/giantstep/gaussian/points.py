"""Low-discrepancy points of N(0, I)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

LOG2_POINTS = 15
"""Points a scramble, as a power of two: errors of 1e-4 to 1e-3 after four steps."""

SHIFTS = 16
"""Independent shifts of the lattice: a mean over them has a t-distribution with 15 degrees."""

LATTICE_POINTS = 8192

# Of the odd multipliers below 8192, the one whose P_2 is smallest over dimensions 2, 3, 4, 6, 8.
MULTIPLIER = 4887


SCRAMBLES = 8
"""Independent scrambles: the whole recursion is run on each, and their spread is the error."""


@dataclass(frozen=True)
class Accuracy:
    """Of randomised quadrature: independent scrambles, and 2^log2_points points in each."""

    scrambles: int = SCRAMBLES
    log2_points: int = LOG2_POINTS


def normal_points(
    dimension: int, seed: int, log2_points: int = LOG2_POINTS
) -> Float[np.ndarray, "n q"]:
    """2^log2_points points of N(0, I), low discrepancy, scrambled by the seed."""
    # Both are slow to import, and only predictions need them.
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    uniform = Sobol(dimension, scramble=True, rng=np.random.default_rng(seed)).random_base2(
        log2_points
    )
    # Away from 0 and 1, whose normal quantiles are infinite: half of the finest grid of Sobol.
    tiny = 2.0**-33
    return np.asarray(ndtri(np.clip(uniform, tiny, 1.0 - tiny)), dtype=float)


@lru_cache(maxsize=2)
def lattice_points(dimension: int, seed: int = 0) -> Float[np.ndarray, "s n q"]:
    """Points of N(0, I) in SHIFTS independent sets, each the Korobov lattice under a random shift.

    x_i = frac(i (1, a, a^2, ..)/n + shift), folded (1 - |2x - 1|) and taken to normal quantiles:
    each set alone gives unbiased means, their scatter the standard error.  In few dimensions the
    mean of a smooth function is some 100 times closer than with independent points.
    """
    from scipy.special import ndtri  # slow to import, and polynomials need no points

    # The work is the same in many dimensions: fewer points.
    n = LATTICE_POINTS if dimension <= 8 else LATTICE_POINTS // 4
    generator = np.array([pow(MULTIPLIER, k, n) for k in range(dimension)])
    lattice = (np.arange(n)[:, None] * generator % n) / n
    shifts = np.random.default_rng(seed).random((SHIFTS, 1, dimension))
    folded = 1.0 - np.abs(2.0 * ((lattice + shifts) % 1.0) - 1.0)
    # Away from 0 and 1, whose quantiles are infinite; folding leaves gaps of 1e-4 in 0..1.
    points = np.asarray(ndtri(np.clip(folded, 1e-16, 1.0 - 1e-16)), dtype=float)
    points.flags.writeable = False
    return points
