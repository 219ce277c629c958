"""Powers of a sum of functions of one variable each, by cumulants: no grid over all variables."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import gauss_hermite, hermite_values
from giantstep.gaussian.sampling import multi_indices
from giantstep.gaussian.series import HermiteSeries


def is_separable(series: HermiteSeries) -> bool:
    """Whether every term depends on one variable at most."""
    return bool(np.all((series.exponents > 0).sum(axis=1) <= 1))


def power_of_sum(series: HermiteSeries, power: int) -> HermiteSeries:
    """The terms of f^power in one variable each, f = sum_k f_k(x_k) a separable polynomial.

    E[f^j h_q(x_k)] = sum_a binom(j, a) E[f_k^a h_q(x_k)] E[(f - f_k)^(j - a)], and the cumulants of
    f - f_k are sums of those of the others.  Terms in several variables, and of higher degrees than
    f has, are in the tail.
    """
    degree, r = series.degree, series.r
    links = _by_variable(series)
    nodes, weights = gauss_hermite(power * degree + degree // 2 + 1)
    basis = hermite_values(nodes, degree)
    values = links @ basis.T
    moments = [(values**a * weights) @ basis for a in range(2 * power + 1)]
    single = _cumulants([each[:, 0] for each in moments])
    everything = [np.sum(each, keepdims=True) for each in single]
    others = _moments([total - own for total, own in zip(everything, single, strict=True)])
    found = sum(
        math.comb(power, a) * moments[a] * others[power - a][:, None] for a in range(power + 1)
    )
    mean, square = (float(_moments(everything)[order][0]) for order in (power, 2 * power))
    exponents = [np.zeros((1, r), dtype=int)]
    exponents += [q * np.eye(r, dtype=int) for q in range(1, degree + 1)]
    coefficients = np.concatenate([[mean], *found.T[1:]])
    tail = max(0.0, square - float(np.sum(coefficients**2)))
    return HermiteSeries(np.concatenate(exponents), coefficients, tail)


def _by_variable(series: HermiteSeries) -> Float[np.ndarray, "r m"]:
    """Coefficients of h_m(x_k), row by row; the constant is that of the first variable."""
    links = np.zeros((series.r, series.degree + 1))
    variable = np.argmax(series.exponents, axis=1)
    np.add.at(links, (variable, series.degrees), series.coefficients)
    return links


def gradient_of_sum(
    series: HermiteSeries,
    frame: Float[np.ndarray, "r r"],
    inside: int,
    allowed: Callable[[int], bool],
) -> Float[np.ndarray, "one rows outside"]:
    """The gradient matrix of a separable series in the coordinates of a frame, without turning it.

    h_m(x_k) = sum_alpha sqrt(m!/alpha!) v^alpha h_alpha(u), v the k-th column of the frame: terms
    with one factor outside have the rows sqrt(m!/beta!) sum_k c_km v_U^beta v_perp, |beta| = m - 1.
    """
    links, within, beyond = _by_variable(series), frame[:inside], frame[inside:]
    rows = [np.zeros((0, len(beyond)))]
    for m in range(1, series.degree + 1):
        if not allowed(m):
            continue
        betas = multi_indices(inside, m - 1) if inside else np.zeros((int(m == 1), 0), dtype=int)
        for beta in betas[betas.sum(axis=1) == m - 1]:
            ways = math.factorial(m) / math.prod(map(math.factorial, beta.tolist()))
            weights = links[:, m] * np.prod(within ** beta[:, None], axis=0)
            rows.append((math.sqrt(ways) * weights @ beyond.T)[None])
    return np.concatenate(rows)[None]


def _cumulants(moments: list[Float[np.ndarray, "..."]]) -> list[Float[np.ndarray, "..."]]:
    """Cumulants from raw moments: k_n = m_n - sum_{i<n} binom(n-1, i-1) k_i m_(n-i), k_0 = 0."""
    found = [0.0 * moments[0]]
    for n in range(1, len(moments)):
        known = sum(math.comb(n - 1, i - 1) * found[i] * moments[n - i] for i in range(1, n))
        found.append(moments[n] - known)
    return found


def _moments(cumulants: list[Float[np.ndarray, "..."]]) -> list[Float[np.ndarray, "..."]]:
    """Raw moments from cumulants: m_n = sum_i binom(n-1, i-1) k_i m_(n-i)."""
    found = [1.0 + 0.0 * cumulants[0]]
    for n in range(1, len(cumulants)):
        found.append(
            np.asarray(
                sum(math.comb(n - 1, i - 1) * cumulants[i] * found[n - i] for i in range(1, n + 1))
            )
        )
    return found
