"""How many samples the search needs for a target.

On the learned directions u the target reads f = sum_e h_e(u) (v_e . w + w^T M_e w/2 + ...) in
further coordinates w.  With c coordinates and residual variance s^2 a step

    first order   finds the leading right singular vector of (v_e): its squared overlap is
                  n t^2/(n t^2 + c s^2), t the singular value: one half at n = c s^2/t^2;
    second order  that of sum_e M_e^2, t^2 its eigenvalue.  Were the noise a semicircle the overlap
                  would be 1 - c s^2/(n t^2), one half at twice as many; the products that make it
                  have heavier tails, and saddles need SECOND times as many.

What neither step sees is out of reach: infinity.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.series import HermiteSeries

SECOND = 3.0
"""Samples of the second order over those of the first: 2.9 to 3.4 at c = 100, measured."""


def needed_samples(series: HermiteSeries, c: int, noise: float, absent: float = 1e-6) -> float:
    """The samples that the most demanding of the stages needs.

    noise -> variance of the noise over that of the target; absent -> share of the variance below
    which a part of a target does not count.
    """
    r, variance = series.r, series.variance + series.tail
    learned, needed = 0, 0.0
    while learned < r:
        outside = series.outside_degrees(learned)
        if float(np.sum(series.coefficients[outside > 0] ** 2)) <= absent * variance:
            return needed
        fitted = float(np.sum(series.coefficients[(outside == 0) & (series.degrees > 0)] ** 2))
        residual = variance * (1.0 + noise) - fitted
        steps = [_strongest(series.gradient_matrix(learned, k)) for k in (1, 2)]
        costs = [
            c * residual * factor / power if power > absent * variance else math.inf
            for factor, (power, _) in zip((1.0, SECOND), steps, strict=True)
        ]
        if math.isinf(min(costs)):
            return math.inf
        needed = max(needed, min(costs))
        new = steps[int(np.argmin(costs))][1]
        # Coordinates outside are turned so that the new direction comes first.
        inner = np.linalg.qr(np.column_stack([new, np.eye(r - learned)]))[0]
        basis = np.eye(r)
        basis[learned:, learned:] = inner.T
        series = series.rotate(basis)
        learned += 1
    return needed


def _strongest(
    matrix: Float[np.ndarray, "rows outside"],
) -> tuple[float, Float[np.ndarray, " outside"]]:
    """Largest squared singular value and its right singular vector."""
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    return float(values[-1]), vectors[:, -1]
