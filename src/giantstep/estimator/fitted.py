"""The fitted function as a target of the laboratory: a Hermite polynomial of low degree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.rules import gauss_hermite
from giantstep.gaussian.series import series_from_grid
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
    # Moves need coefficients two degrees beyond those that are kept.
    series = series_from_grid(respond(grid).reshape((len(rule[0]),) * k), rule, degree + 2)
    coefficients = np.zeros((degree + 3,) * k)
    coefficients[tuple(series.exponents.T)] = series.coefficients
    variance = np.full_like(coefficients, standard_error**2)
    for change in _moves(coefficients, rows) if math.isfinite(rows) else ():
        variance += change**2
    degrees = np.indices(coefficients.shape).sum(axis=0)
    kept = (np.abs(coefficients) > sure * np.sqrt(variance)) & (degrees > 0) & (degrees <= degree)
    if not kept.any():
        raise InputError("no coefficient of the fitted function is beyond its standard error")
    terms = hermite_terms(np.argwhere(kept), coefficients[kept])
    return make_target(write_sum(terms, most=len(terms), digits=6))


def _moves(
    coefficients: Float[np.ndarray, "*degrees"], rows: float
) -> Iterator[Float[np.ndarray, "*degrees"]]:
    """Changes of the coefficients of g where mean and covariance of u are off by a standard error.

    Means of N(0, I) have variance 1/rows, entries of C^(1/2) 1/(2 rows) on the diagonal and
    1/(4 rows) beside it.  To first order a shift of u_j changes g by dg/du_j, a turn of u_j towards
    u_i by u_i dg/du_j, whose coefficients follow from h_e' = sqrt(e) h_{e-1} and
    u h_e = sqrt(e) h_{e-1} + sqrt(e+1) h_{e+1}.
    """
    slope = np.diag(np.sqrt(np.arange(1.0, len(coefficients))), 1)
    times_u = slope + slope.T

    def along(matrix: Float[np.ndarray, "q q"], tensor: np.ndarray, axis: int) -> np.ndarray:
        return np.moveaxis(np.tensordot(matrix, tensor, axes=(1, axis)), 0, axis)

    slopes = [along(slope, coefficients, j) for j in range(coefficients.ndim)]
    for j, of_j in enumerate(slopes):
        yield of_j / math.sqrt(rows)
        yield along(times_u, of_j, j) / math.sqrt(2.0 * rows)
        for i, of_i in enumerate(slopes[:j]):
            yield (along(times_u, of_j, i) + along(times_u, of_i, j)) / math.sqrt(4.0 * rows)
