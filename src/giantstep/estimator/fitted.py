"""The fitted function as a target of the laboratory: a Hermite polynomial of low degree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.rules import gauss_hermite
from giantstep.gaussian.series import HermiteSeries, series_from_grid
from giantstep.gaussian.terms import hermite_terms, write_sum
from giantstep.problem.target import Target, make_target


def fitted_target(
    respond: Callable[[Float[np.ndarray, "q k"]], Float[np.ndarray, " q"]],
    k: int,
    standard_error: float,
    rows: float = math.inf,
    *,
    degree: int = 4,
    sure: float = 3.0,
) -> Target:
    """sum of c_e h_e over the coefficients c_e = E[g h_e] beyond ``sure`` standard errors.

    respond -> g on coordinates u, which count as Gaussian; standard_error -> sqrt(s^2/n), what the
    noise of n labels gives each coefficient.  rows -> as many rows as fixed the centre and the
    scale of u: the error of these gives |u| a linear part, say.  degree -> of the polynomial: what
    needs more is not told from noise by some hundred rows.
    """
    # The fewer nodes a coordinate the more coordinates there are, 59,049 points at most.
    nodes = (0, 32, 24, 16, 12, 9)
    rule = gauss_hermite(nodes[min(k, len(nodes) - 1)])
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*[rule[0]] * k, indexing="ij")], axis=1)

    def expanded(u: Float[np.ndarray, "q k"]) -> HermiteSeries:
        return series_from_grid(respond(u).reshape((len(rule[0]),) * k), rule, degree)

    series = expanded(grid)
    variance = np.full(len(series.coefficients), standard_error**2)
    for moved in _moves(grid, rows) if math.isfinite(rows) else ():
        variance += (expanded(moved).coefficients - series.coefficients) ** 2
    kept = (np.abs(series.coefficients) > sure * np.sqrt(variance)) & (series.degrees > 0)
    if not kept.any():
        raise InputError("no coefficient of the fitted function is beyond its standard error")
    terms = hermite_terms(series.exponents[kept], series.coefficients[kept])
    return make_target(write_sum(terms, most=len(terms), digits=6))


def _moves(grid: Float[np.ndarray, "q k"], rows: float) -> Iterator[Float[np.ndarray, "q k"]]:
    """The coordinates, each mean and covariance of them off by one standard error.

    Means of N(0, I) have variance 1/rows, entries of C^(1/2) 1/(2 rows) on the diagonal and
    1/(4 rows) beside it.
    """
    k = grid.shape[1]
    for j in range(k):
        yield grid + np.eye(k)[j] / math.sqrt(rows)
        for i in range(j + 1):
            turn = np.zeros((k, k))
            turn[i, j] = turn[j, i] = 1.0 / math.sqrt(2.0 * rows if i == j else 4.0 * rows)
            yield grid + grid @ turn
