"""Hermite tensors T_k = E[grad^k f] of a series: which degrees are there.

The information exponent (leap index in arXiv 2305.18270) is the smallest k >= 1 with T_k != 0.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.series import HermiteSeries

TOLERANCE = 1e-8
"""A direction counts as present when its singular value exceeds this share of the target's
standard deviation (or 100 times the quadrature error, where that is larger).  Exact polynomials
leave rounding of 1e-16 below it, so a value in between is a near-tie and is reported."""


def standard_deviation(series: HermiteSeries) -> float:
    return math.sqrt(series.variance + series.tail)


def rank_tolerance(series: HermiteSeries) -> float:
    """Absolute tolerance on singular values: TOLERANCE, or 100 quadrature errors."""
    return max(TOLERANCE * standard_deviation(series), 100.0 * series.error)


def degree_weights(series: HermiteSeries) -> Float[np.ndarray, " k"]:
    """Squared norm of the part of each degree, ||T_k||^2 / k!."""
    weights = np.bincount(series.degrees, series.coefficients**2, minlength=series.degree + 1)
    return weights.astype(float)  # an empty series counts in integers


def information_exponent(series: HermiteSeries) -> int | None:
    """Smallest k >= 1 with T_k != 0; None if the series holds no such k."""
    present = np.sqrt(degree_weights(series)) > rank_tolerance(series)
    return next((k for k in range(1, len(present)) if present[k]), None)
