"""Hermite tensors T_k = E[grad^k f] of a series: which degrees are there, and how surely.

The information exponent (leap index in arXiv 2305.18270) is the smallest k >= 1 with T_k != 0.
"""

from __future__ import annotations

import math
from enum import Enum

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.series import HermiteSeries

RELEVANT = 0.03
"""Share of the standard deviation (a thousandth of the variance) below which a part that cannot be
resolved any better counts as absent."""


SIGMAS = 8.0
"""Standard errors beyond the mean size of the noise: with 15 degrees of freedom, one number is
that far out (at 9 standard errors) with probability 2e-7."""


class Presence(Enum):
    """What can be said of a tensor or a direction."""

    PRESENT = "present"
    ABSENT = "absent"
    UNDECIDED = "undecided"


def standard_deviation(series: HermiteSeries) -> float:
    """Standard deviation of a target, its tail counted."""
    return math.sqrt(series.variance + series.tail)


def rank_tolerance(series: HermiteSeries, share: float = 1e-8) -> float:
    """Singular value from which on a direction counts as present.

    It is a share of the target's standard deviation, or 100 quadrature errors where these are
    larger.  Exact polynomials leave rounding of 1e-16, so that a value in between is a near-tie.
    """
    return max(share * standard_deviation(series), 100.0 * series.error)


def noise_bound(matrices: Float[np.ndarray, "c rows columns"], sigmas: float = SIGMAS) -> float:
    """Bound on the norm of the error of matrices[0], the mean of the replicates that follow.

    The mean of s replicates is off by as much as one of them is off from the mean, divided by
    sqrt(s - 1); the norm fluctuates around its mean size as a single entry does.
    """
    if len(matrices) < 2 or not matrices[0].size:
        return 0.0
    deviations = matrices[1:] - matrices[0]
    s = len(deviations)
    grams = np.einsum("sij,sik->sjk", deviations, deviations)
    size = math.sqrt(max(0.0, float(np.mean(np.linalg.eigvalsh(grams)[:, -1]))) / (s - 1))
    entry = math.sqrt(float(np.max(np.mean(deviations**2, axis=0))) / (s - 1))
    return size + sigmas * min(size, 3.0 * entry)


def present_terms(series: HermiteSeries) -> HermiteSeries:
    """The terms of a series that are surely not zero."""
    tolerances = np.maximum(rank_tolerance(series), (1.0 + SIGMAS) * series.standard_errors)
    return series.select(np.abs(series.coefficients) > tolerances)


def tensor_presence(series: HermiteSeries, degree: int) -> Presence:
    """Whether T_degree is zero; beyond the degree of a truncated series that is undecided."""
    if degree > series.degree and series.tail > RELEVANT**2 * standard_deviation(series) ** 2:
        return Presence.UNDECIDED
    part = series.select(series.degrees == degree)
    norm = float(np.linalg.norm(part.coefficients))
    noise = noise_bound(part._stack[:, None, :])
    if norm > max(noise, rank_tolerance(series)):
        return Presence.PRESENT
    return (
        Presence.UNDECIDED
        if noise and norm + noise > RELEVANT * standard_deviation(series)
        else Presence.ABSENT
    )


def information_exponent(series: HermiteSeries) -> int | None:
    """Smallest k >= 1 with T_k surely not zero; None if the series holds no such k."""
    degrees = range(1, series.degree + 1)
    return next((k for k in degrees if tensor_presence(series, k) is Presence.PRESENT), None)
