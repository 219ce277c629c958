"""Low-discrepancy points of N(0, I)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

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
    # The work is the same in many dimensions: fewer points.
    n = size if dimension <= 8 else size // 4
    generator = np.array([pow(multiplier, k, n) for k in range(dimension)])
    lattice = (np.arange(n)[:, None] * generator % n) / n
    points = np.empty((SHIFTS, n, dimension))
    shifts = np.random.default_rng(seed).random((SHIFTS, 1, dimension))
    for each, shift in zip(points, shifts, strict=True):  # a set stays in the cache
        folded = 1.0 - np.abs(2.0 * ((lattice + shift) % 1.0) - 1.0)
        # Away from 0 and 1, whose quantiles are infinite; folding leaves gaps of 1e-4 in 0..1.
        each[...] = normal_quantiles(np.clip(folded, 1e-16, 1.0 - 1e-16))
    points.flags.writeable = False
    return points


_MIDDLE = (
    (
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ),
)
_TAIL = (
    (
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ),
)


def normal_quantiles(p: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """z with P(Z < z) = p to 16 digits: Wichura, Algorithm AS 241 (Applied Statistics 37, 1988).

    To load scipy's ``ndtri`` takes longer than most analyses.
    """
    q = p - 0.5
    z = q * _ratio(_MIDDLE, 0.425**2 - q**2)
    outside = np.abs(q) > 0.425
    q = q[outside]
    depth = np.sqrt(-np.log(np.where(q < 0, p[outside], 1.0 - p[outside])))
    tails = np.copysign(_ratio(_TAIL, depth - 1.6), q)
    for far in np.flatnonzero(depth > 5.0):  # one of 10^11 points
        tails[far] = NormalDist().inv_cdf(float(p[outside][far]))
    z[outside] = tails
    return z


def _ratio(
    polynomials: tuple[tuple[float, ...], ...], x: Float[np.ndarray, "*n"]
) -> Float[np.ndarray, "*n"]:
    top, bottom = (np.polyval(each, x) for each in polynomials)
    return np.asarray(top / bottom)
