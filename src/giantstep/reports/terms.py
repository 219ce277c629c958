"""The terms of the fitted function, with what refits say of their coefficients.

A coefficient is c = E f(v) h(v) for Gaussian coordinates v and an orthonormal Hermite polynomial h.
A refit without a fold has other directions and another function: with its coordinates u as the rows
give them, u = A v + a remainder, its coefficient is E f'(u) h(v).  The jackknife takes the
differences of the two.  A refit without any direction has the function 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import factorial

from giantstep.gaussian.rules import hermite_values
from giantstep.gaussian.terms import name_term
from giantstep.problem.target import Target
from giantstep.reports.interval import Interval, interval, jackknife

DRAWS = 20_000
"""Gaussian points of a mean: a difference of size .3 is known to .002."""


@dataclass(frozen=True)
class Term:
    """A Hermite polynomial of directions and its coefficient in the fitted function.

    name -> with u1, u2, ... for directions 1, 2, ..., since columns may be called x1, x2, ...
    """

    name: str
    coefficient: Interval


def terms_of(
    target: Target,
    model: Any,
    output: int,
    coordinates: Float[np.ndarray, "n k"],
    refits: Sequence[tuple[Any, Float[np.ndarray, "n _"]]],
    most: int = 6,
) -> tuple[Term, ...]:
    """The largest terms of a fitted function, in the order of its text.

    coordinates -> of all rows; refits -> models, and the coordinates of all rows by each.
    """
    series, key = target.series, np.random.default_rng(0)
    size = np.abs(series.coefficients) * (series.degrees > 0)
    # As in the text of the function: by degree, within one by x1 first.
    listed = sorted(
        np.argsort(-size, kind="stable")[: min(most, np.count_nonzero(size))],
        key=lambda i: (series.degrees[i], [-e for e in series.exponents[i]]),
    )
    exponents = series.exponents[listed]
    # The last directions may have no term: the function depends on them within its noise.
    v = key.standard_normal((DRAWS, model.n_fitted_))
    values = hermite_values(v, int(exponents.max()))
    polynomials = np.prod([values[:, j, e] for j, e in enumerate(exponents.T)], axis=0)
    ours = model.response(v)[:, output]
    changes = []
    for refit, theirs in refits:
        response = np.zeros(DRAWS)
        # A fold may lack a class, and with it an output.
        if refit.n_fitted_ and refit.response(theirs[:1]).shape[1] > output:
            response = refit.response(_drawn(v, coordinates, theirs, key))[:, output]
        changes.append((response - ours) @ polynomials / DRAWS)
    sizes = np.sqrt(np.prod(factorial(exponents), axis=1))
    errors, freedom = jackknife(np.array(changes), np.zeros(len(listed)), len(changes))
    return tuple(
        Term(name_term(e).replace("x", "u"), interval(c / unit, error / unit, freedom))
        for e, c, error, unit in zip(
            exponents.tolist(), series.coefficients[listed], errors, sizes, strict=True
        )
    )


def _drawn(
    v: Float[np.ndarray, "q k"],
    coordinates: Float[np.ndarray, "n k"],
    theirs: Float[np.ndarray, "n m"],
    key: np.random.Generator,
) -> Float[np.ndarray, "q m"]:
    """Gaussian coordinates of a refit given those of the fit, by their covariance in the rows."""
    design = np.column_stack([np.ones(len(coordinates)), coordinates])
    slopes = np.linalg.lstsq(design, theirs, rcond=None)[0]
    left = theirs - design @ slopes
    values, vectors = np.linalg.eigh(left.T @ left / len(left))
    noise = key.standard_normal((len(v), theirs.shape[1])) * np.sqrt(np.maximum(values, 0.0))
    return slopes[0] + v @ slopes[1:] + noise @ vectors.T
