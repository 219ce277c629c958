"""Hermite coefficients of any function of several variables from randomised lattice points.

Each of SHIFTS independent lattices gives an unbiased estimate of every coefficient; the series
keeps them all as replicates, so that whatever is computed from it has a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError
from giantstep.gaussian.points import SHIFTS, lattice_points
from giantstep.gaussian.rules import hermite_rows
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.symmetry import Symmetry, generators, symmetrise


def multi_indices(r: int, degree: int) -> Int[np.ndarray, "m r"]:
    """All exponents of total degree <= degree in r variables."""
    rows: list[tuple[int, ...]] = [()]
    for _ in range(r):
        rows = [(*row, k) for row in rows for k in range(degree - sum(row) + 1)]
    return np.array(rows, dtype=int).reshape(len(rows), r)


def sampled_exponents(
    q: int,
    symmetries: Sequence[Symmetry],
    *,
    most_terms: int = 256,
    highest: int = 16,
    most_listed: int = 20_000,
) -> Int[np.ndarray, "m q"]:
    """Exponents to the highest degree at which the flips leave at most ``most_terms`` of them.

    256 terms take a third of a second on 131,072 points.  Beyond degree 16 the fourth moment of h_k
    is too large for means over so many points to settle.  ``most_listed`` exponents are tried.
    """
    plain = tuple(range(q))
    flips = [s for s in generators(symmetries) if s.order == plain]
    kept = multi_indices(q, 1)
    for degree in range(2, highest + 1):
        if math.comb(q + degree, degree) > most_listed:
            break
        allowed = multi_indices(q, degree)
        for flip in flips:
            odd = allowed[:, np.array(flip.flips) < 0].sum(axis=1) % 2
            allowed = allowed[flip.chi * (1 - 2 * odd) > 0]
        if len(allowed) > most_terms:
            break
        kept = allowed
    return kept


def hermite_averages(
    points: Float[np.ndarray, "s n q"],
    values: Float[np.ndarray, "t s n"],
    exponents: Int[np.ndarray, "m q"],
    at_once: int = 2**10,
) -> Float[np.ndarray, "t s m"]:
    """Mean over each set of points of each function times each h_alpha.

    ``at_once`` points are taken together, whose h_alpha stay in the cache.
    """
    degree, heads = int(exponents.max(initial=0)), _beginnings(exponents)
    sums = np.zeros((len(values), len(points), len(exponents)))
    # Allocated once: to hand megabytes back to the system each time can take most of the time.
    buffers = [np.empty((2, len(degrees), at_once)) for _, degrees in heads]
    for s, x in enumerate(points):
        for begin in range(0, len(x), at_once):
            part = slice(begin, begin + at_once)
            rows = hermite_rows(np.ascontiguousarray(x[part].T), degree)
            sums[:, s] += values[:, s, part] @ _products(np.moveaxis(rows, 1, 0), heads, buffers).T
    return sums / points.shape[1]


Beginnings = list[tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]]


def _beginnings(exponents: Int[np.ndarray, "m q"]) -> Beginnings:
    """For the different beginnings of the exponents of each length: which shorter one, and k."""
    listed: Beginnings = []
    while exponents.shape[1] > 0:
        shorter, at = np.unique(exponents[:, :-1], axis=0, return_inverse=True)
        listed.insert(0, (at.reshape(-1), exponents[:, -1]))
        exponents = shorter
    return listed


def _products(
    axes: Float[np.ndarray, "q k n"],
    beginnings: Beginnings,
    buffers: Sequence[Float[np.ndarray, "2 _ b"]],
) -> Float[np.ndarray, "m n"]:
    """h_alpha at n <= b points, from the h_k of each coordinate; common beginnings once."""
    n = axes.shape[2]
    products = np.ones((1, n))
    for axis, (shorter, degrees), buffer in zip(axes, beginnings, buffers, strict=True):
        longer, factors = buffer[..., :n]
        # "clip" does not copy, as "raise" would.
        np.take(products, shorter, axis=0, out=longer, mode="clip")
        np.take(axis, degrees, axis=0, out=factors, mode="clip")
        products = np.multiply(longer, factors, out=longer)
    return products


Function = Callable[[Sequence[Float[np.ndarray, "..."]]], Float[np.ndarray, "..."]]


def sampled_values(
    function: Function, q: int
) -> tuple[Float[np.ndarray, "s n q"], Float[np.ndarray, "s n"]]:
    """The lattice points in q dimensions and the values of a function there."""
    points = lattice_points(q)
    return points, _values(function, points)


def stretched_values(
    function: Function, q: int, stretch: float = 1.25
) -> tuple[Float[np.ndarray, "s n q"], Float[np.ndarray, "s n"], Float[np.ndarray, "s n"]]:
    """Points that are ``stretch`` times the lattice points, their weights, and a function there.

    Means with the weights are those under N(0, I).  The larger points settle what depends on rare
    large values; weights of eight dimensions have a mean square of 1.7.
    """
    lattice = lattice_points(q)
    weights = stretch**q * np.exp(-0.5 * (stretch**2 - 1.0) * np.sum(lattice**2, axis=-1))
    points = stretch * lattice
    return points, weights, _values(function, points)


def _values(function: Function, points: Float[np.ndarray, "s n q"]) -> Float[np.ndarray, "s n"]:
    """The values of a function at points; InputError where they are no numbers."""
    values = np.empty(points.shape[:2])
    with np.errstate(all="ignore"):
        for each, columns in zip(values, np.moveaxis(points, -1, 1), strict=True):
            # One set after the other: what an expression computes on the way stays in the cache.
            each[:] = function(list(np.ascontiguousarray(columns)))
    return finite(values)


def finite(values: Any) -> Float[np.ndarray, "..."]:
    """The values, or InputError where one is not a finite number."""
    values = np.asarray(values, dtype=float)
    if not np.all(np.isfinite(values)):
        raise InputError(
            "target takes values that are no numbers or overflow, such as log(-1), (-1)^0.5, 1/0 "
            "or exp(x1^2): inputs have both signs, write abs(..) within log, sqrt and such powers"
        )
    return values


def mean_square(
    values: Float[np.ndarray, "s n"], unsettled_share: float = 0.3
) -> tuple[float, float]:
    """E f^2 and its standard error; InputError where that is a larger share of it."""
    squares = np.mean(values**2, axis=1)
    mean, error = float(squares.mean()), float(squares.std(ddof=1)) / math.sqrt(SHIFTS)
    if not math.isfinite(mean) or error > unsettled_share * mean:
        raise InputError(
            "target has a second moment that is infinite or rests on rare values: "
            f"{mean:.3g} with a standard error of {error:.2g}"
        )
    return mean, error


def sampled_series(
    points: Float[np.ndarray, "s n q"],
    values: Float[np.ndarray, "s n"],
    symmetries: Sequence[Symmetry],
    noise_share: float = 1e-3,
) -> HermiteSeries:
    """Series of a function given by its values at lattice points, with its replicates.

    The noise of all coefficients together makes up at most a share of E f^2.
    """
    exponents = sampled_exponents(points.shape[2], symmetries)
    [replicates] = hermite_averages(points, values[None], exponents)
    square, uncertainty = mean_square(values)
    series = symmetrise(
        HermiteSeries(exponents, replicates.mean(axis=0), replicates=replicates),
        symmetries,
    )
    # Noise grows with the degree: stop where it would count as variance.
    noise = np.cumsum(np.bincount(series.degrees, series.standard_errors**2))
    degree = max(1, int(np.sum(noise <= noise_share * square)) - 1)
    series = series.select(series.degrees <= degree)
    held = float(np.sum(series.coefficients**2))
    return replace(
        series,
        tail=max(0.0, square - held),
        tail_uncertainty=uncertainty + float(np.sum(series.standard_errors**2)),
    )
