"""Lower bounds of the error of any readout, given the subspace the first layer has learned.

Narrow networks (p = O(1)): E Var(f | P_U x).  With p ~ d^k1 and n ~ d^k2 (section 2.3 of
arXiv 2305.18270): || P_{U, >k} f ||^2, k = min(k1, k2), the weight of f on terms of degree > k
outside U; U = {0} is the random-feature floor.  The readout of a given activation may do worse:
relu without biases is a linear function plus an even one, and fits no odd term beyond the linear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.analysis.subspace import completed
from giantstep.gaussian.points import SHIFTS, lattice_points
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import RELEVANT
from giantstep.problem.target import Target

HIGHEST_DEGREE = 3

# A tail below this share of the variance is no reason to sample: floors have four digits.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Floor:
    """Lower bounds for a learned subspace: narrow, by degree k = 0..3, within ``uncertainty``.

    What a truncated series cannot tell counts as unreachable: floors are exact for polynomials,
    and otherwise at most ``uncertainty`` too high (the narrow one ``narrow_uncertainty`` off).
    """

    basis: Float[np.ndarray, "_ r"]
    narrow: float
    by_degree: tuple[float, ...]
    uncertainty: float
    narrow_uncertainty: float = 0.0


@dataclass(frozen=True)
class Regime:
    """One column of the five-regime table: n ~ d^n_exponent, p ~ d^p_exponent, one step.

    ``deflated``: the labels of the step have their degrees below n_exponent removed; ``basis`` is
    what the step learns from these labels, ``fitted`` what a readout fits at best, with the part
    that was removed, and ``floor`` the error that is then left.
    """

    n_exponent: int
    p_exponent: int
    deflated: bool
    basis: Float[np.ndarray, "_ r"]
    fitted: HermiteSeries
    floor: float


def floor(
    series: HermiteSeries,
    basis: Float[np.ndarray, "_ r"],
    narrow: tuple[float, float] | None = None,
) -> Floor:
    """Floors after learning the span of ``basis``.

    ``narrow`` is E Var(f | P_U x) and its uncertainty where they are known from elsewhere.
    """
    inside = len(basis)
    turned = series.rotate(completed(basis))
    outside, noise = turned.outside_degrees(inside), turned.standard_errors**2
    # E c^2 is the squared coefficient and its variance.
    squares = turned.coefficients**2 - noise
    weights = np.bincount(outside, squares, minlength=HIGHEST_DEGREE + 2)
    listed = float(weights[1:].sum())
    variance = series.variance + series.tail
    # Everything learned: the readout can reach f itself, truncated series or not.
    nothing_left = listed <= NEGLIGIBLE * variance and series.tail <= RELEVANT**2 * variance
    if inside == series.r or (nothing_left and narrow is None):
        zero, doubt = max(0.0, listed), 0.0 if inside == series.r else series.tail
        return Floor(basis, zero, (zero,) * (HIGHEST_DEGREE + 1), doubt, doubt)
    total = 3.0 * series.tail_uncertainty
    if narrow is not None:
        value, doubt = narrow
    elif inside:
        value, doubt = listed + series.tail, series.tail + total
    else:
        value, doubt = variance, total
    by_degree = tuple(
        max(0.0, value - float(weights[1 : k + 1].sum())) for k in range(HIGHEST_DEGREE + 1)
    )
    # Without a subspace the low degrees are all in the series; with one, the tail has some too.
    unknown = max(0.0, value - listed) if inside else 0.0
    low = (outside > 0) & (outside <= HIGHEST_DEGREE)
    spread = 6.0 * math.sqrt(float(np.sum((np.abs(squares) + noise)[low] * noise[low])))
    return Floor(basis, value, by_degree, max(doubt, unknown) + spread, doubt)


def sampled_floor(target: Target, basis: Float[np.ndarray, "_ r"]) -> tuple[float, float]:
    """E Var(f | P_U x) = E (f(x_U + x_perp) - f(x_U + x'_perp))^2 / 2, and 3 standard errors."""
    frame, inside, r = completed(basis), len(basis), target.r
    points = lattice_points(2 * r - inside)
    flat = points.reshape(-1, 2 * r - inside)
    common = flat[:, :inside]
    one, two = (
        np.asarray(target(list((np.concatenate([common, rest], axis=1) @ frame).T)), dtype=float)
        for rest in (flat[:, inside:r], flat[:, r:])
    )
    means = (0.5 * (one - two) ** 2).reshape(points.shape[:2]).mean(axis=1)
    return float(means.mean()), 3.0 * float(means.std(ddof=1)) / math.sqrt(SHIFTS)


def target_floor(target: Target, series: HermiteSeries, basis: Float[np.ndarray, "_ r"]) -> Floor:
    """Floors of a target in natural coordinates; sampled where its series leaves too much."""
    truncated = series.tail > NEGLIGIBLE * (series.variance + series.tail)
    short = truncated or series.replicates is not None
    partial = 0 < len(basis) < target.r
    return floor(series, basis, sampled_floor(target, basis) if short and partial else None)


def fitted_part(
    series: HermiteSeries, basis: Float[np.ndarray, "_ r"], highest: int, below: int = 0
) -> HermiteSeries:
    """P_{U, <= highest} f in the original coordinates: what a readout can fit at best.

    With the part of degree less than ``below``, which deflation has fitted.
    """
    frame = completed(basis)
    turned = series.rotate(frame)
    reached = (turned.outside_degrees(len(basis)) <= highest) | (turned.degrees < below)
    return turned.select(reached).rotate(frame.T)


REGIMES = ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2))
"""(n exponent, p exponent) of the five regimes."""
