"""Lower bounds of the error of a readout, given the subspace the first layer has learned.

Of any activation: E Var(f | P_U x) for narrow networks (p = O(1)); with p ~ d^k1 and n ~ d^k2
(Conjecture 3 of arXiv 2305.18270) || P_{U, >k} f ||^2, k = min(k1, k2), the weight of f on terms of
degree > k outside U; U = {0} is the random-feature floor.  Of a given activation: beside these
terms those whose total degree none of its neurons has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from giantstep.analysis.fitted_degrees import Fits, FittedDegrees, every_degree
from giantstep.analysis.subspace import completed
from giantstep.gaussian.points import SHIFTS, lattice_points
from giantstep.gaussian.series import HermiteSeries, among
from giantstep.gaussian.tensors import RELEVANT
from giantstep.problem.activation import Activation
from giantstep.problem.target import Target

HIGHEST_DEGREE = 3

# A tail below this share of the variance is no reason to sample: floors have four digits.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Floor:
    """Lower bounds for a learned subspace: narrow, by degree k = 0..3, within ``uncertainty``.

    Exact for polynomials.  Of any activation what a truncated series cannot tell counts as
    unreachable: the floors are at most ``uncertainty`` too high (the narrow one
    ``narrow_uncertainty`` off).  Of a given activation they may also be too low by as much: terms
    beyond the series that it misses are not counted.
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
    what the step learns from these labels, ``fitted`` what a readout of this activation, without
    biases, fits at best, with the part that was removed, and ``floor`` the error that is then left
    at least.  ``floor_any`` is the lower bound for any activation.
    """

    n_exponent: int
    p_exponent: int
    deflated: bool
    basis: Float[np.ndarray, "_ r"]
    fitted: HermiteSeries
    floor: float
    floor_any: float


def floor(
    series: HermiteSeries,
    basis: Float[np.ndarray, "_ r"],
    narrow: tuple[float, float] | None = None,
) -> Floor:
    """Floors of any activation after learning the span of ``basis``.

    E Var(f | P_U x) and || P_{U,>k} f ||^2, docs/theory/index.md, eq. (4).
    ``narrow`` is E Var(f | P_U x) and its uncertainty where they are known from elsewhere.
    """
    inside = len(basis)
    turned = series.rotate(completed(basis))
    outside, (squares, _) = turned.outside_degrees(inside), _squares(turned)
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
    spread = _spread(turned, (outside > 0) & (outside <= HIGHEST_DEGREE))
    return Floor(basis, value, by_degree, max(doubt, unknown) + spread, doubt)


def _squares(series: HermiteSeries) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """The squared coefficients without the mean of their noise, and that mean."""
    noise = series.standard_errors**2
    return series.coefficients**2 - noise, noise


def _spread(series: HermiteSeries, terms: Bool[np.ndarray, " m"]) -> float:
    """Three standard errors of a sum of squared coefficients."""
    squares, noise = _squares(series.select(terms))
    return 6.0 * math.sqrt(float(np.sum((np.abs(squares) + noise) * noise)))


def sampled_floor(target: Target, basis: Float[np.ndarray, "_ r"]) -> tuple[float, float]:
    """The first part of docs/theory/index.md, eq. (4), and three standard errors.

    E Var(f | P_U x) = E (f(x_U + x_perp) - f(x_U + x'_perp))^2 / 2, x_perp and x'_perp independent.
    """
    frame, inside, r = completed(basis), len(basis), target.r
    means = np.empty(SHIFTS)
    for number, columns in enumerate(np.moveaxis(lattice_points(2 * r - inside), -1, 1)):
        one, two = (
            np.asarray(
                target(list(frame.T @ np.concatenate([columns[:inside], outside]))), dtype=float
            )
            for outside in (columns[inside:r], columns[r:])
        )
        means[number] = np.mean(0.5 * (one - two) ** 2)
    return float(means.mean()), 3.0 * float(means.std(ddof=1)) / math.sqrt(SHIFTS)


def target_floor(target: Target, series: HermiteSeries, basis: Float[np.ndarray, "_ r"]) -> Floor:
    """Floors of any activation; sampled where the series of the target leaves too much."""
    truncated = series.tail > NEGLIGIBLE * (series.variance + series.tail)
    short = truncated or series.replicates is not None
    partial = 0 < len(basis) < target.r
    return floor(series, basis, sampled_floor(target, basis) if short and partial else None)


def floor_with(bound: Floor, series: HermiteSeries, fits: Fits, below: int = 0) -> Floor:
    """Floors of an activation, from those of any one and from the degrees that it ``fits``.

    A term of degree D with at most k of it outside U is out of reach at p ~ d^k if no neuron has a
    part of degree D (docs/derivations/floors.md, eq. (2) and (3)).  Degrees less than ``below``
    were fitted on their own (deflation).
    """
    turned = series.rotate(completed(bound.basis))
    missed = ~fitted_terms(turned, fits) & (turned.degrees >= below)
    squares, _ = _squares(turned)
    outside = turned.outside_degrees(len(bound.basis))
    weights = np.bincount(outside, squares * missed, minlength=HIGHEST_DEGREE + 1)
    added = np.maximum(np.cumsum(weights[: HIGHEST_DEGREE + 1]), 0.0)
    # Degrees beyond the series may be missed as well.
    beyond = 0.0 if all(fits(series.degree + k) for k in (1, 2)) else series.tail
    doubt = beyond + _spread(turned, missed & (outside <= HIGHEST_DEGREE))
    return Floor(
        bound.basis,
        bound.narrow + float(added[0]),
        tuple(value + float(more) for value, more in zip(bound.by_degree, added, strict=True)),
        bound.uncertainty + doubt,
        bound.narrow_uncertainty + doubt,
    )


def fitted_terms(series: HermiteSeries, fits: Fits) -> Bool[np.ndarray, " m"]:
    """The terms whose total degree the neurons have."""
    return among(series.degrees, fits)


def fitted_part(
    series: HermiteSeries,
    basis: Float[np.ndarray, "_ r"],
    highest: int,
    below: int = 0,
    fits: Fits = every_degree,
) -> HermiteSeries:
    """P_{U, <= highest} f in the original coordinates: what a readout can fit at best.

    Of the degrees that the activation ``fits``, and with the part of degree less than ``below``,
    which deflation has fitted.
    """
    frame = completed(basis)
    turned = series.rotate(frame)
    reached = (turned.outside_degrees(len(basis)) <= highest) & fitted_terms(turned, fits)
    return turned.select(reached | (turned.degrees < below)).rotate(frame.T)


REGIMES = ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2))
"""(n exponent, p exponent) of the five regimes."""


class Floors:
    """Floors of a target for any subspace, computed once: steps and regimes share them."""

    def __init__(self, target: Target, activation: Activation) -> None:
        self.target = target
        self.start, self.moved = FittedDegrees(activation, moved=False), FittedDegrees(activation)
        self.computed: dict[bytes, Floor] = {}

    def of_any(self, basis: Float[np.ndarray, "_ r"]) -> Floor:
        """The floor of readouts of any activation."""
        key = basis.tobytes()
        if key not in self.computed:
            self.computed[key] = target_floor(self.target, self.target.series, basis)
        return self.computed[key]

    def of_activation(
        self, basis: Float[np.ndarray, "_ r"], *, moved: bool = True, below: int = 0
    ) -> Floor:
        """The floor of readouts of the activation, before or after the rows have ``moved``."""
        fits = self.moved if moved else self.start
        return floor_with(self.of_any(basis), self.target.series, fits, below)
