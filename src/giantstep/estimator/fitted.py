"""The fitted function as a target of the laboratory: a Hermite polynomial of low degree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.rules import gauss_hermite
from giantstep.gaussian.series import series_from_grid
from giantstep.gaussian.terms import hermite_terms, write_sum
from giantstep.problem.target import Target, make_target

DEGREE = 4
"""Degree of the polynomial: what needs more is not told from noise by some hundred rows."""

NODES = (0, 32, 24, 16, 12, 9)
"""Gauss-Hermite nodes a coordinate for k = 0, 1, ... coordinates."""

SURE = 3.0
"""Standard errors that a coefficient must exceed."""


def fitted_target(
    respond: Callable[[Float[np.ndarray, "q k"]], Float[np.ndarray, " q"]],
    k: int,
    standard_error: float,
) -> Target:
    """sum of c_e h_e over the coefficients c_e = E[g h_e] beyond SURE standard errors.

    respond -> g on coordinates u, which count as Gaussian; standard_error -> sqrt(s^2/n), what the
    noise of n labels gives each coefficient.
    """
    rule = gauss_hermite(NODES[min(k, len(NODES) - 1)])
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*[rule[0]] * k, indexing="ij")], axis=1)
    values = respond(grid).reshape((len(rule[0]),) * k)
    series = series_from_grid(values, rule, DEGREE)
    kept = (np.abs(series.coefficients) > SURE * standard_error) & (series.degrees > 0)
    if not kept.any():
        raise InputError("no coefficient of the fitted function is beyond its standard error")
    terms = hermite_terms(series.exponents[kept], series.coefficients[kept])
    return make_target(write_sum(terms, most=len(terms), digits=6))
