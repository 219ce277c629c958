"""Hermite series of polynomials, exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from giantstep.gaussian.series import HermiteSeries
from giantstep.language.algebra import Terms


def polynomial_series(terms: Terms, r: int) -> HermiteSeries:
    """Hermite series of a polynomial, exact but for the last rounding of each coefficient.

    x^n = sum_m n! / (2^m m! (n-2m)!) He_{n-2m}(x), integers all; variable by variable.
    """
    current: dict[tuple[int, ...], int | Fraction] = {
        powers: value for (powers, _), value in terms.items()
    }
    for j in range(r):
        following: dict[tuple[int, ...], int | Fraction] = {}
        for powers, value in current.items():
            n = powers[j]
            for m in range(n // 2 + 1):
                ways = math.factorial(n) // (2**m * math.factorial(m) * math.factorial(n - 2 * m))
                key = (*powers[:j], n - 2 * m, *powers[j + 1 :])
                following[key] = following.get(key, 0) + ways * value
        current = following
    kept = {key: value for key, value in current.items() if value}
    coefficients = [
        float(value) * math.sqrt(math.prod(math.factorial(k) for k in key))
        for key, value in kept.items()
    ]
    exponents = np.array(list(kept), dtype=int).reshape(len(kept), r)
    return HermiteSeries(exponents, np.array(coefficients, dtype=float))
