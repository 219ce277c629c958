"""Low-discrepancy points of N(0, I)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float, UInt32

LOG2_POINTS = 15
"""Points a scramble at most, as a power of two: errors of 1e-4 to 1e-3 after four steps."""

SHIFTS = 16
"""Independent shifts of the lattice: a mean over them has a t-distribution with 15 degrees."""

SCRAMBLES = 8
"""Independent scrambles: the whole recursion is run on each, and their spread is the error."""


@dataclass(frozen=True)
class Accuracy:
    """Of randomised quadrature: independent scrambles, and 2^log2_points points in each.

    None leaves the points to the theory.  Without ``deviations`` the means alone are wanted.
    ``draws`` are the runs that are drawn at least where a theory draws some, None as it needs.
    """

    scrambles: int = SCRAMBLES
    log2_points: int | None = None
    deviations: bool = True
    draws: int | None = None


def normal_points(
    dimension: int, seed: int, log2_points: int = LOG2_POINTS
) -> Float[np.ndarray, "n q"]:
    """2^log2_points points of N(0, I), low discrepancy, randomised by the seed."""
    return normal_sets(dimension, seed, log2_points, 1)(0)


def normal_sets(
    dimension: int, seed: int, log2_points: int, count: int
) -> Callable[[int], Float[np.ndarray, "n q"]]:
    """So many sets of 2^log2_points points of N(0, I), by their number.

    A set is a Sobol net under a digital shift: conditionally on the net, which all share, each of
    its points is uniform, so that means over a set are unbiased and those over two independent.  A
    coordinate has one point in each of 2^log2_points intervals, at a place that is random and the
    same for all coordinates of all sets of a seed: one quantile an interval is all it takes.
    """
    from scipy.special import ndtri  # slow to import, and only predictions need it

    key, size = np.random.default_rng(seed), 2**log2_points
    # Away from 0 and 1, whose normal quantiles are infinite: half of the finest grid of Sobol.
    tiny = 2.0**-33
    places = np.clip((np.arange(size) + key.random(size)) / size, tiny, 1.0 - tiny)
    quantiles = np.asarray(ndtri(places), dtype=float)
    shifts = key.integers(size, size=(count, dimension), dtype=np.uint32)
    net = _sobol_net(dimension, log2_points)
    return lambda number: quantiles[net ^ shifts[number]]


@lru_cache(maxsize=4)
def _sobol_net(dimension: int, log2_points: int) -> UInt32[np.ndarray, "n q"]:
    """The interval, of 2^log2_points, of every coordinate of as many points."""
    from scipy.stats.qmc import Sobol  # slow to import

    # Scrambled once: the plain net is poor in its high coordinates.
    uniform = Sobol(dimension, scramble=True, rng=np.random.default_rng(0)).random_base2(
        log2_points
    )
    return (uniform * 2**log2_points).astype(np.uint32)


# A megabyte for each dimension; as a target is typed its analyses ask for several in turn.
@lru_cache(maxsize=6)
def lattice_points(
    dimension: int, seed: int = 0, *, size: int = 8192, multiplier: int = 4887
) -> Float[np.ndarray, "s n q"]:
    """Points of N(0, I) in SHIFTS independent sets, each the Korobov lattice under a random shift.

    x_i = frac(i (1, a, a^2, ..)/n + shift), folded (1 - |2x - 1|) and taken to normal quantiles:
    each set alone gives unbiased means, their scatter the standard error.  In few dimensions the
    mean of a smooth function is some 100 times closer than with independent points.  Of the odd
    multipliers a below 8192, this one has the smallest P_2 over dimensions 2, 3, 4, 6, 8.
    """
    from scipy.special import ndtri  # slow to import, and polynomials need no points

    # The work is the same in many dimensions: fewer points.
    n = size if dimension <= 8 else size // 4
    generator = np.array([pow(multiplier, k, n) for k in range(dimension)])
    lattice = (np.arange(n)[:, None] * generator % n) / n
    shifts = np.random.default_rng(seed).random((SHIFTS, 1, dimension))
    folded = 1.0 - np.abs(2.0 * ((lattice + shifts) % 1.0) - 1.0)
    # Away from 0 and 1, whose quantiles are infinite; folding leaves gaps of 1e-4 in 0..1.
    points = np.asarray(ndtri(np.clip(folded, 1e-16, 1.0 - 1e-16)), dtype=float)
    points.flags.writeable = False
    return points
