"""Hermite series of any expression or callable, with the errors that were made.

Polynomials are exact.  A product of functions of separate variables is expanded factor by factor;
a factor that depends on one linear form is expanded along it, in closed form where it has a kink,
by adaptive quadrature otherwise; only a genuine function of several variables needs a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError
from giantstep.gaussian.kinks import KINKS, affine, kink_coefficients
from giantstep.gaussian.polynomials import polynomial_series
from giantstep.gaussian.rules import Rule, adaptive_coefficients, gauss_hermite, panel_rule
from giantstep.gaussian.series import (
    HermiteSeries,
    degree_cap,
    merge,
    series_from_grid,
    tensor_grid,
)
from giantstep.language.algebra import Key, Terms, times
from giantstep.language.expression import (
    Call,
    Expression,
    Power,
    Product,
    Sum,
    Variable,
    evaluate,
    multiply,
    raise_to,
    variables,
)

# The grid for a function of 2..5 coupled variables: about half a million points.  In the plane
# evenly spread nodes resolve steep functions such as tanh(x1 + He3(x2)).
GRID_RULES: dict[int, tuple[Callable[[int], Rule], int]] = {
    2: (panel_rule, 896),
    3: (gauss_hermite, 80),
    4: (gauss_hermite, 28),
    5: (gauss_hermite, 15),
}
MAX_PRODUCTS = 64
"""Products of non-polynomial functions: their second moments cost the square of this."""

# An integral whose own error estimate exceeds this share of E f^2 is called divergent.
DIVERGENT = 1e-2

Columns = Sequence[Float[np.ndarray, "..."]]


def line_coefficients(
    node: Expression,
    direction: Float[np.ndarray, " r"],
    degree: int,
    origin: Float[np.ndarray, " r"] | None = None,
) -> tuple[Float[np.ndarray, " k"], float]:
    """E[g(z) h_k(z)], g(z) = node at origin + z direction, and the quadrature error.

    Closed form for one kinked function of an affine argument, adaptive quadrature for the rest.
    """
    r = len(direction)
    origin = np.zeros(r) if origin is None else origin
    if isinstance(node, Call) and node.function in KINKS:
        form = affine(node.argument, r)
        if form is not None:
            slopes, constant = form
            scale, shift = float(slopes @ direction), constant + float(slopes @ origin)
            return kink_coefficients(node.function, scale, shift, degree), 0.0

    def along(z: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        return finite(evaluate(node, [origin[k] + direction[k] * z for k in range(r)]))

    with np.errstate(all="ignore"):
        return adaptive_coefficients(along, degree, _breakpoints(node, direction, origin))


def _breakpoints(
    node: Expression, direction: Float[np.ndarray, " r"], origin: Float[np.ndarray, " r"]
) -> list[float]:
    """Panels that resolve sigma(b + s z) for any s: around z = -b/s, doubling from 1/(4 s)."""
    match node:
        case Call(_, argument):
            points = _breakpoints(argument, direction, origin)
            form = affine(argument, len(direction))
            scale = 0.0 if form is None else abs(float(form[0] @ direction))
            if form is not None and scale > 0:
                centre = -(form[1] + float(form[0] @ origin)) / float(form[0] @ direction)
                widths = [0.0] + [2.0**j / scale for j in range(-2, 60) if 2.0**j < 16 * scale]
                points += [centre + sign * width for width in widths for sign in (-1, 1)]
            return points
        case Sum(parts) | Product(parts):
            return [b for part in parts for b in _breakpoints(part, direction, origin)]
        case Power(base, _):
            return _breakpoints(base, direction, origin)
    return []


def finite(values: Any) -> Float[np.ndarray, "..."]:
    """The values, or InputError where one is not a finite number."""
    values = np.asarray(values, dtype=float)
    if not np.all(np.isfinite(values)):
        raise InputError("target takes values that are not finite numbers, such as log(-1) or 1/0")
    return values


def line_series(
    coefficients: Float[np.ndarray, " k"],
    direction: Float[np.ndarray, " r"],
    tail: float,
    error: float,
) -> HermiteSeries:
    """sum_k c_k h_k(<u, x>) in the variables x.

    h_k(<u, x>) = sum_{|alpha| = k} sqrt(k!/alpha!) u^alpha h_alpha(x).
    """
    used = np.flatnonzero(direction)
    degree = len(coefficients) - 1
    if len(used) > 1:
        degree = min(degree, degree_cap(len(used)))
        tail += float(np.sum(coefficients[degree + 1 :] ** 2))
    exponents = multi_indices(len(used), degree)
    k = exponents.sum(axis=1)
    factorials = np.array([math.factorial(m) for m in range(degree + 1)], dtype=float)
    ways = np.sqrt(factorials[k] / np.prod(factorials[exponents], axis=1))
    values = coefficients[k] * ways * np.prod(direction[used] ** exponents, axis=1)
    full = np.zeros((len(exponents), len(direction)), dtype=int)
    full[:, used] = exponents
    return HermiteSeries(full, values, tail, error)


def multi_indices(r: int, degree: int) -> Int[np.ndarray, "m r"]:
    """All exponents of total degree <= degree in r variables."""
    rows: list[tuple[int, ...]] = [()]
    for _ in range(r):
        rows = [(*row, k) for row in rows for k in range(degree - sum(row) + 1)]
    return np.array(rows, dtype=int).reshape(len(rows), r)


def grid_series(
    function: Callable[[Columns], Float[np.ndarray, "..."]], r: int, degree: int
) -> HermiteSeries:
    """Series of a function of r coupled variables by tensor quadrature.

    Its error is the largest change of a coefficient from a grid with 3/4 of the nodes.
    """
    if r == 1:
        coefficients, error = adaptive_coefficients(lambda z: finite(function([z])), degree)
        square = second_moment(lambda z: finite(function([z])))
        tail = max(0.0, square - float(np.sum(coefficients**2)))
        return HermiteSeries(np.arange(degree + 1)[:, None], coefficients, tail, error)
    if r not in GRID_RULES:
        raise InputError(
            f"target couples {r} directions in one non-polynomial function, at most "
            f"{max(GRID_RULES)} can be integrated"
        )
    make_rule, nodes = GRID_RULES[r]
    fine, coarse = (
        series_from_grid(finite(tensor_grid(function, r, rule[0])), rule, degree)
        for rule in (make_rule(nodes), make_rule(3 * nodes // 4))
    )
    error = float(np.max(np.abs(fine.coefficients - coarse.coefficients)))
    _check_convergence(fine.square, abs(fine.square - coarse.square))
    return HermiteSeries(fine.exponents, fine.coefficients, fine.tail, error)


def second_moment(
    function: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]],
    breakpoints: Sequence[float] = (),
) -> float:
    """E g(z)^2, or InputError where the integral does not settle or its integrand grows."""
    [square], doubt = adaptive_coefficients(lambda z: function(z) ** 2, 0, breakpoints)
    edges = np.array([-10.0, 10.0])
    near, far = (
        float(np.max(function(e) ** 2 * np.exp(-0.5 * e**2))) for e in (edges, 2.0 * edges)
    )
    _check_convergence(float(square), max(doubt, far) if far > near else doubt)
    return float(square)


def _check_convergence(square: float, doubt: float) -> None:
    if not math.isfinite(square) or doubt > DIVERGENT * max(square, 1e-30):
        raise InputError(
            f"target has no finite second moment: E f^2 = {square:.3g} with doubt {doubt:.3g}"
        )


class _Expander:
    """Series and means of products in r variables, each factor expanded once."""

    def __init__(self, r: int, degree: int) -> None:
        self.r, self.degree = r, degree
        self.known: dict[tuple[Key, int], HermiteSeries] = {}

    def factors(self, key: Key) -> list[Key]:
        """The product split into factors of separate variables."""
        powers, functions = key
        groups: list[tuple[frozenset[int], list[tuple[Expression, int]]]] = []
        for function, power in functions:
            used, members = variables(function), [(function, power)]
            for other in [g for g in groups if g[0] & used]:
                groups.remove(other)
                used, members = used | other[0], members + other[1]
            groups.append((used, members))
        covered = frozenset().union(*(used for used, _ in groups))
        result: list[Key] = []
        for used, members in groups:
            own = tuple(p if k in used else 0 for k, p in enumerate(powers))
            result.append((own, frozenset(members)))
        alone = tuple(0 if k in covered else p for k, p in enumerate(powers))
        return [*result, (alone, frozenset())] if any(alone) or not result else result

    def factor(self, key: Key, degree: int) -> HermiteSeries:
        if (key, degree) not in self.known:
            self.known[key, degree] = self._factor(key, degree)
        return self.known[key, degree]

    def _factor(self, key: Key, degree: int) -> HermiteSeries:
        powers, functions = key
        if not functions:
            return polynomial_series({key: 1}, self.r).truncate(degree)
        node = multiply(
            *(raise_to(function, power) for function, power in functions),
            *(raise_to(Variable(k), p) for k, p in enumerate(powers) if p),
        )
        direction = self._line(key)
        if direction is not None:
            with np.errstate(all="ignore"):
                coefficients, error = line_coefficients(node, direction, degree)
                square = second_moment(
                    lambda z: finite(evaluate(node, [u * z for u in direction])),
                    _breakpoints(node, direction, np.zeros(self.r)),
                )
            tail = max(0.0, square - float(np.sum(coefficients**2)))
            return line_series(coefficients, direction, tail, error)
        used = sorted(variables(node))

        def values(columns: Columns) -> Float[np.ndarray, "..."]:
            full = [columns[0]] * self.r
            for k, column in zip(used, columns, strict=True):
                full[k] = column
            return np.asarray(evaluate(node, full), dtype=float)

        with np.errstate(all="ignore"):
            series = grid_series(values, len(used), min(degree, degree_cap(len(used))))
        exponents = np.zeros((len(series.exponents), self.r), dtype=int)
        exponents[:, used] = series.exponents
        return HermiteSeries(exponents, series.coefficients, series.tail, series.error)

    def _line(self, key: Key) -> Float[np.ndarray, " r"] | None:
        """The unit vector u if the factor is a function of <u, x> alone."""
        powers, functions = key
        used = frozenset().union(*(variables(function) for function, _ in functions))
        if len(used) == 1:
            return np.eye(self.r)[next(iter(used))]
        if any(powers):
            return None
        directions = []
        for function, _ in functions:
            form = affine(function.argument, self.r) if isinstance(function, Call) else None
            if form is None:
                return None
            directions.append(form[0] / np.linalg.norm(form[0]))
        parallel = all(abs(abs(u @ directions[0]) - 1.0) < 1e-14 for u in directions)
        return directions[0] if parallel else None

    def series(self, key: Key) -> HermiteSeries:
        parts = [self.factor(factor, self.degree) for factor in self.factors(key)]
        return reduce(lambda a, b: separate_product(a, b, self.degree), parts)

    def mean(self, key: Key) -> float:
        means = []
        for factor in self.factors(key):
            constant = self.factor(factor, 0)
            means.append(float(np.sum(constant.coefficients[constant.degrees == 0])))
        return math.prod(means)


def separate_product(a: HermiteSeries, b: HermiteSeries, degree: int) -> HermiteSeries:
    """Product of series in disjoint variables, up to total degree ``degree``."""
    keep = a.degrees[:, None] + b.degrees[None, :] <= degree
    i, j = np.nonzero(keep)
    exponents = a.exponents[i] + b.exponents[j]
    coefficients = a.coefficients[i] * b.coefficients[j]
    tail = max(0.0, a.square * b.square - float(np.sum(coefficients**2)))
    norms = [float(np.linalg.norm(s.coefficients)) for s in (a, b)]
    error = a.error * norms[1] + b.error * norms[0]
    return HermiteSeries(exponents, coefficients, tail, error)


def expand(terms: Terms, r: int) -> HermiteSeries:
    """Hermite series of a sum of products; the tail is E f^2 minus what the series holds."""
    polynomial = {key: value for key, value in terms.items() if not key[1]}
    products = {key: float(value) for key, value in terms.items() if key[1]}
    exact = polynomial_series(polynomial, r)
    if not products:
        return exact
    if len(products) > MAX_PRODUCTS:
        raise InputError(
            f"target multiplies out to {len(products)} products of functions, "
            f"more than {MAX_PRODUCTS}"
        )
    used = {k for powers, _ in terms for k, p in enumerate(powers) if p}
    used |= {k for _, functions in products for f, _ in functions for k in variables(f)}
    expander = _Expander(r, max(exact.degree, degree_cap(len(used))))
    parts = [expander.series(key).scale(value) for key, value in products.items()]
    total = merge([exact, *parts])
    # E f^2 = E P^2 + 2 E[P g] + E g^2, P polynomial: the first two are exact from the series.
    rest = merge(parts)
    square = float(np.sum(exact.coefficients**2)) + 2.0 * inner_product(exact, rest)
    names = list(products)
    for i, a in enumerate(names):
        for b in names[i:]:
            [pair] = times({a: 1}, {b: 1})
            square += (1 if a == b else 2) * products[a] * products[b] * expander.mean(pair)
    tail = max(0.0, square - float(np.sum(total.coefficients**2)))
    return HermiteSeries(total.exponents, total.coefficients, tail, total.error)


def inner_product(a: HermiteSeries, b: HermiteSeries) -> float:
    """E[a b] of two series."""
    known = {tuple(e): c for e, c in zip(a.exponents.tolist(), a.coefficients, strict=True)}
    return float(
        sum(
            known.get(tuple(e), 0.0) * c
            for e, c in zip(b.exponents.tolist(), b.coefficients, strict=True)
        )
    )
