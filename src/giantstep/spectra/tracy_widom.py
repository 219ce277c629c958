"""The Tracy-Widom law of real matrices (beta = 1): what the largest eigenvalue of pure noise does.

Ferrari and Spohn (arXiv math-ph/0505012) write its distribution function as a Fredholm determinant,

    F_1(s) = det(1 - B_s),   B_s(x, y) = Ai(x + y + s) on L^2(0, infinity),

and a quadrature rule with nodes x_j and weights w_j turns it into an ordinary one (Bornemann, arXiv
0804.2543): det(delta_jk - sqrt(w_j) Ai(x_j + x_k + s) sqrt(w_k)), which converges exponentially.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from giantstep.errors import InputError
from giantstep.gaussian.rules import legendre

# Ai(x) is below 1e-17 for x > 13.5: the kernel is cut where its argument reaches 16.
REACH = 16.0

LEAST_TAIL = 1e-10
"""F_1 is known to 1e-14 at best, so that neither end can be resolved further than this."""

LOWEST = -10.0
"""Below, F_1 is smaller than 1e-18 (it falls as exp(-|s|^3/24)), and taken as 0."""


def tracy_widom_cdf(s: float, nodes: int = 40) -> float:
    """F_1(s) = P(TW_1 <= s): 24 nodes give it to 4e-9, 32 to 2e-13, 40 to rounding."""
    from scipy.special import airy

    if s <= LOWEST:
        return 0.0
    if s >= REACH:
        return 1.0
    x, weights = legendre(nodes)
    half = 0.5 * (REACH - s)
    points, roots = half * (x + 1.0), np.sqrt(half * weights)
    kernel = roots[:, None] * airy(points[:, None] + points + s)[0] * roots
    return float(np.clip(np.linalg.det(np.eye(nodes) - kernel), 0.0, 1.0))


@lru_cache(maxsize=64)
def tracy_widom_quantile(probability: float) -> float:
    """The s with F_1(s) = probability."""
    from scipy.optimize import brentq

    if not LEAST_TAIL < probability < 1.0 - LEAST_TAIL:
        raise InputError(f"probability must lie between 1e-10 and 1 - 1e-10, got {probability:g}")
    return float(brentq(lambda s: tracy_widom_cdf(s) - probability, LOWEST, REACH, xtol=1e-12))


@lru_cache(maxsize=1)
def tracy_widom_moments(nodes: int = 48) -> tuple[float, float]:
    """Mean and variance of TW_1, by parts: E s = b - int F_1, E s^2 = b^2 - 2 int s F_1.

    40 nodes give them to 1e-10, 48 to rounding.
    """
    x, weights = legendre(nodes)
    low, high = LOWEST, REACH
    s = 0.5 * (low + high) + 0.5 * (high - low) * x
    values = np.array([tracy_widom_cdf(float(value)) for value in s])
    weights = 0.5 * (high - low) * weights
    mean = high - float(weights @ values)
    return mean, high**2 - 2.0 * float(weights @ (s * values)) - mean**2


def tail(level: float) -> float:
    """The value that TW_1 exceeds with probability ``level``."""
    if not (0.0 < level < 1.0 and math.isfinite(level)):
        raise InputError(f"level must lie between 0 and 1, got {level:g}")
    return tracy_widom_quantile(1.0 - level)
