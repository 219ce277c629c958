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
    expanded: dict[tuple[int, ...], int | Fraction] = {}
    for (monomial, _), factor in terms.items():
        current: dict[tuple[int, ...], int | Fraction] = {monomial: factor}
        for j in (j for j in range(r) if monomial[j] > 1):
            following: dict[tuple[int, ...], int | Fraction] = {}
            for powers, value in current.items():
                for m in range(powers[j] // 2 + 1):
                    key = (*powers[:j], powers[j] - 2 * m, *powers[j + 1 :])
                    following[key] = _ways(powers[j], m) * value
            current = following
        for key, value in current.items():
            expanded[key] = expanded.get(key, 0) + value
    kept = {key: value for key, value in expanded.items() if value}
    coefficients = [
        float(value) * math.sqrt(math.prod(math.factorial(k) for k in key))
        for key, value in kept.items()
    ]
    exponents = np.array(list(kept), dtype=int).reshape(len(kept), r)
    return HermiteSeries(exponents, np.array(coefficients, dtype=float))


def _ways(n: int, m: int) -> int:
    """n! / (2^m m! (n - 2m)!), the coefficient of He_{n-2m} in x^n."""
    return math.factorial(n) // (2**m * math.factorial(m) * math.factorial(n - 2 * m))
