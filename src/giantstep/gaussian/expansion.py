"""Hermite series of any expression or callable, with the errors that were made.

Polynomials are exact.  A product of functions of separate variables is expanded factor by factor;
a factor that depends on one linear form is expanded along it, in closed form where it has a kink,
by adaptive quadrature otherwise; only a genuine function of several variables needs a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.kinks import KINKS, affine, kink_coefficients
from giantstep.gaussian.polynomials import polynomial_series
from giantstep.gaussian.rules import Rule, adaptive_coefficients, gauss_hermite, panel_rule
from giantstep.gaussian.sampling import (
    finite,
    mean_square,
    multi_indices,
    sampled_series,
    sampled_values,
)
from giantstep.gaussian.series import (
    HermiteSeries,
    degree_cap,
    merge,
    separate_product,
    series_from_grid,
    tensor_grid,
)
from giantstep.gaussian.symmetry import WITNESS, Symmetry, find_symmetries
from giantstep.gaussian.tails import check_edge, moment
from giantstep.language.algebra import Key, Terms, times
from giantstep.language.expression import (
    Call,
    Expression,
    Variable,
    multiply,
    parts_of,
    raise_to,
    variables,
)
from giantstep.language.functions import NUMPY, Namespace
from giantstep.language.program import evaluate

# The grid for a function of 2..5 coupled variables: about half a million points.  In the plane
# evenly spread nodes resolve steep functions such as tanh(x1 + He3(x2)).
GRID_RULES: dict[int, tuple[Callable[[int], Rule], int]] = {
    2: (panel_rule, 896),
    3: (gauss_hermite, 80),
    4: (gauss_hermite, 28),
    5: (gauss_hermite, 15),
}

Columns = Sequence[Float[np.ndarray, "..."]]
Values = Callable[[Columns, Namespace], Float[np.ndarray, "..."]]
"""A function of several variables: its values in a namespace."""


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
    points = [b for part in parts_of(node) for b in _breakpoints(part, direction, origin)]
    form = affine(node.argument, len(direction)) if isinstance(node, Call) else None
    slope = 0.0 if form is None else float(form[0] @ direction)
    if form is not None and abs(slope) > 0:
        centre, scale = -(form[1] + float(form[0] @ origin)) / slope, abs(slope)
        widths = [0.0] + [2.0**j / scale for j in range(-2, 60) if 2.0**j < 16 * scale]
        points += [centre + sign * width for width in widths for sign in (-1, 1)]
    return points


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
    # A jump at 0 has exact zeros in every other degree: products stay sparse without them.
    return HermiteSeries(full[values != 0], values[values != 0], tail, error)


def coupled_series(
    function: Callable[[Columns], Float[np.ndarray, "..."]],
    r: int,
    degree: int,
    smooth: bool,
    symmetries: Callable[[], Sequence[Symmetry]],
    grid_accuracy: float = 1e-5,
) -> HermiteSeries:
    """Series of a function of r coupled variables: by a grid where it is smooth, else sampled.

    The error of a grid is the largest change of a coefficient from one with 3/4 of the nodes.  A
    grid serves where that is below ``grid_accuracy``, as a share of the norm; else the noise of
    sampled points, 1e-3, is smaller than a hundred times that error.
    """
    if r == 1:
        coefficients, error = adaptive_coefficients(lambda z: finite(function([z])), degree)
        square = moment(lambda z: finite(function([z])) ** 2)
        tail = max(0.0, square - float(np.sum(coefficients**2)))
        return HermiteSeries(np.arange(degree + 1)[:, None], coefficients, tail, error)
    if smooth and r in GRID_RULES:
        make_rule, nodes = GRID_RULES[r]
        fine_rule, coarse_rule = make_rule(nodes), make_rule(3 * nodes // 4)
        fine_values = finite(tensor_grid(function, r, fine_rule[0]))
        fine = series_from_grid(fine_values, fine_rule, degree)
        coarse = series_from_grid(
            finite(tensor_grid(function, r, coarse_rule[0])), coarse_rule, degree
        )
        error = float(np.max(np.abs(fine.coefficients - coarse.coefficients)))
        mass, other = (s.square for s in (fine, coarse))
        check_edge(fine_values, fine_rule, mass)
        gap = abs(mass - other)
        if error <= grid_accuracy * math.sqrt(mass) and gap <= grid_accuracy * mass:
            return replace(fine, error=error, tail_uncertainty=gap)
    points, values = sampled_values(function, r)
    return sampled_series(points, values, symmetries())


def is_smooth(node: Expression) -> bool:
    """Whether an expression calls no function with a kink or a jump."""
    kinked = isinstance(node, Call) and node.function in KINKS
    return not kinked and all(map(is_smooth, parts_of(node)))


def _restricted(function: Values, r: int, used: Sequence[int]) -> Values:
    """A function of r variables as one of those that it depends on."""

    def values(columns: Columns, namespace: Namespace = NUMPY) -> Float[np.ndarray, "..."]:
        full = [columns[0]] * r
        for k, column in zip(used, columns, strict=True):
            full[k] = column
        return np.asarray(function(full, namespace), dtype=float)

    return values


def _in_used_variables(
    function: Values, r: int, used: Sequence[int], *, degree: int, smooth: bool
) -> HermiteSeries:
    """Series in r variables of a function that depends on some of them, coupled with each other."""
    q, values = len(used), _restricted(function, r, used)
    series = coupled_series(
        lambda columns: values(columns, NUMPY),
        q,
        min(degree, degree_cap(q)),
        smooth=smooth,
        symmetries=lambda: find_symmetries(lambda x: values(x, WITNESS), q),
    )
    exponents = np.zeros((len(series.exponents), r), dtype=int)
    exponents[:, used] = series.exponents
    return replace(series, exponents=exponents)


class _Expander:
    """Series and means of products in r variables, each factor expanded once."""

    def __init__(self, r: int, degree: int) -> None:
        self.r, self.degree = r, degree
        self.expanded: dict[tuple[Key, int], HermiteSeries] = {}
        self.means: dict[Key, float] = {}

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
            inside = tuple(p if k in used else 0 for k, p in enumerate(powers))
            result.append((inside, frozenset(members)))
        alone = tuple(0 if k in covered else p for k, p in enumerate(powers))
        return [*result, (alone, frozenset())] if any(alone) or not result else result

    def factor(self, key: Key, degree: int) -> HermiteSeries:
        if (key, degree) not in self.expanded:
            self.expanded[key, degree] = self._factor(key, degree)
        return self.expanded[key, degree]

    def _factor(self, key: Key, degree: int) -> HermiteSeries:
        if not key[1]:
            return polynomial_series({key: 1}, self.r).truncate(degree)
        node, direction = _product(key), self._line(key)
        if direction is not None:
            with np.errstate(all="ignore"):
                coefficients, error = line_coefficients(node, direction, degree)
                square = moment(
                    lambda z: finite(evaluate(node, [u * z for u in direction])) ** 2,
                    _breakpoints(node, direction, np.zeros(self.r)),
                )
            tail = max(0.0, square - float(np.sum(coefficients**2)))
            return line_series(coefficients, direction, tail, error)
        with np.errstate(all="ignore"):
            return _in_used_variables(
                lambda columns, namespace: evaluate(node, columns, namespace),
                self.r,
                sorted(variables(node)),
                degree=degree,
                smooth=is_smooth(node),
            )

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

    def is_line(self, key: Key) -> bool:
        """Whether a factor needs one-dimensional quadrature at most."""
        return not key[1] or self._line(key) is not None

    def series(self, key: Key) -> HermiteSeries:
        parts = [self.factor(factor, self.degree) for factor in self.factors(key)]
        # sign(x1*...*x8) begins at degree 8: go two degrees beyond the lowest term, always.
        present = [part.degrees[part.coefficients != 0] for part in parts]
        degree = max(self.degree, sum(int(d.min()) for d in present if len(d)) + 2)
        return reduce(lambda a, b: separate_product(a, b, degree), parts)

    def mean(self, key: Key) -> float:
        """E of a product whose factors are functions of one direction each."""
        return math.prod(self._factor_mean(factor) for factor in self.factors(key))

    def _factor_mean(self, key: Key) -> float:
        if key not in self.means:
            direction = self._line(key)
            if direction is None:
                constant = self.factor(key, 0)
                self.means[key] = float(np.sum(constant.coefficients[constant.degrees == 0]))
            else:
                node = _product(key)
                with np.errstate(all="ignore"):
                    self.means[key] = moment(
                        lambda z: finite(evaluate(node, [u * z for u in direction])),
                        _breakpoints(node, direction, np.zeros(self.r)),
                    )
        return self.means[key]

    def square_of(self, products: Mapping[Key, float], most_means: int) -> float | None:
        """E g^2 of a sum of products; None where it needs too many means, or one over a plane."""
        names = list(products)
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i:]]
        keys = {pair: next(iter(times({pair[0]: 1}, {pair[1]: 1}))) for pair in pairs}
        needed = {factor for key in keys.values() for factor in self.factors(key) if factor[1]}
        if len(needed) > most_means or not all(map(self.is_line, needed)):
            return None
        return sum(
            (1 if a == b else 2) * products[a] * products[b] * self.mean(key)
            for (a, b), key in keys.items()
        )


def _product(key: Key) -> Expression:
    """A key of a multiplied-out expression as an expression."""
    powers, functions = key
    return multiply(
        *(raise_to(function, power) for function, power in functions),
        *(raise_to(Variable(k), p) for k, p in enumerate(powers) if p),
    )


def expand(
    terms: Terms, r: int, function: Values, *, most_products: int = 64, most_means: int = 100
) -> HermiteSeries:
    """Hermite series of a sum of products; the tail is E f^2 minus what the series holds.

    ``function`` gives the values of the sum in a namespace, for what has to be sampled.  Products
    with functions are expanded one by one, up to ``most_products`` of them; beyond, the sum is
    sampled.  E f^2 comes from means of products, up to ``most_means`` (some milliseconds each).
    """
    polynomial = {key: value for key, value in terms.items() if not key[1]}
    products = {key: float(value) for key, value in terms.items() if key[1]}
    exact = polynomial_series(polynomial, r)
    if not products:
        return exact
    used = sorted(
        {k for powers, _ in terms for k, p in enumerate(powers) if p}
        | {k for _, functions in products for f, _ in functions for k in variables(f)}
    )
    highest = degree_cap(len(used))
    if len(products) > most_products:
        return _in_used_variables(function, r, used, degree=highest, smooth=False)
    expander = _Expander(r, max(exact.degree, highest))
    parts = [expander.series(key).scale(value) for key, value in products.items()]
    total = merge([exact, *parts])
    square, uncertainty = expander.square_of(products, most_means), 0.0
    if square is not None:
        # E f^2 = E P^2 + 2 E[P g] + E g^2, P polynomial: the first two are exact from the series.
        square += float(np.sum(exact.coefficients**2)) + 2.0 * inner_product(exact, merge(parts))
    elif len(products) == 1 and not polynomial:
        return total
    else:
        values = _restricted(function, r, used)
        _, sampled = sampled_values(lambda columns: values(columns, NUMPY), len(used))
        square, uncertainty = mean_square(sampled)
    tail = max(0.0, square - float(np.sum(total.coefficients**2)))
    return replace(total, tail=tail, tail_uncertainty=uncertainty)


def inner_product(a: HermiteSeries, b: HermiteSeries) -> float:
    """E[a b] of two series."""
    first = {tuple(e): c for e, c in zip(a.exponents.tolist(), a.coefficients, strict=True)}
    return float(
        sum(
            first.get(tuple(e), 0.0) * c
            for e, c in zip(b.exponents.tolist(), b.coefficients, strict=True)
        )
    )
