"""What the readout cannot beat, given the subspace the first layer has learned.

Narrow networks (p = O(1)): E Var(f | P_U x).  With p ~ d^k1 and n ~ d^k2 (Conjecture 3 of
arXiv 2305.18270): || P_{U, >k} f ||^2, k = min(k1, k2), the weight of f on terms of degree > k
outside U; U = {0} is the random-feature floor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.analysis.exponents import active_dimension
from giantstep.analysis.subspace import completed
from giantstep.gaussian.series import HermiteSeries

HIGHEST_DEGREE = 3


@dataclass(frozen=True)
class Floor:
    """Floors for a learned subspace: narrow, and by degree k = 0..3; all within ``uncertainty``.

    The floors count the tail of a truncated series as unreachable: they are exact for polynomials
    and otherwise high by at most ``uncertainty``.
    """

    basis: Float[np.ndarray, "_ r"]
    narrow: float
    by_degree: tuple[float, ...]
    uncertainty: float


@dataclass(frozen=True)
class Regime:
    """One column of the five-regime table: n ~ d^n_exponent, p ~ d^p_exponent, one step."""

    n_exponent: int
    p_exponent: int
    basis: Float[np.ndarray, "_ r"]
    fitted: HermiteSeries
    floor: float


def floor(series: HermiteSeries, basis: Float[np.ndarray, "_ r"]) -> Floor:
    """Floors after learning the span of ``basis``."""
    turned = series.rotate(completed(basis))
    weights = np.bincount(
        turned.outside_degrees(len(basis)), turned.coefficients**2, minlength=HIGHEST_DEGREE + 2
    )
    # Everything learned: the readout can reach f itself, truncated series or not.
    tail = 0.0 if len(basis) == active_dimension(series) else series.tail
    by_degree = tuple(float(weights[k + 1 :].sum()) + tail for k in range(HIGHEST_DEGREE + 1))
    return Floor(basis, by_degree[0], by_degree, tail)


def fitted_part(
    series: HermiteSeries, basis: Float[np.ndarray, "_ r"], highest: int
) -> HermiteSeries:
    """P_{U, <= highest} f in the original coordinates: what the readout can fit."""
    frame = completed(basis)
    return series.rotate(frame).project(len(basis), highest).rotate(frame.T)


REGIMES = ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2))
"""(n exponent, p exponent) of the five regimes."""


def regimes(
    series: HermiteSeries, learned: dict[int, Float[np.ndarray, "_ r"]]
) -> tuple[Regime, ...]:
    """The five-regime table; ``learned[kappa]`` is what one step learns at n ~ d^kappa."""
    table = []
    for n_exponent, p_exponent in REGIMES:
        basis = learned[n_exponent]
        k = min(n_exponent, p_exponent)
        fitted = fitted_part(series, basis, k)
        table.append(
            Regime(n_exponent, p_exponent, basis, fitted, floor(series, basis).by_degree[k])
        )
    return tuple(table)
