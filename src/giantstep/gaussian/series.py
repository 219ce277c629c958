"""Hermite series in several variables.

h_k = He_k / sqrt(k!) are the orthonormal polynomials of N(0, 1), and h_alpha(x) the product of
h_{alpha_j}(x_j).  A series f = sum_alpha c_alpha h_alpha is stored sparsely; its L2 norm is the
Euclidean norm of c, and an orthogonal change of coordinates acts on each degree separately.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Bool, Float, Int

from giantstep.errors import InputError
from giantstep.gaussian.accuracy import EPSILON
from giantstep.gaussian.rules import Rule, hermite_values
from giantstep.gaussian.terms import hermite_terms, write_sum

MAX_SERIES_TERMS = 200_000
"""Refuse a change of coordinates that would fill a series beyond this (some 50 MB in r = 20)."""

MOST_TURNED = 64
"""Directions up to which a series of degree two and more is turned: r^2 plane rotations of up to
r^2 terms take minutes beyond."""


def degree_cap(r: int, terms: int = 2000, highest: int = 40) -> int:
    """Largest degree at which a full series in r variables has no more than ``terms`` terms."""
    return max(k for k in range(highest + 1) if k <= 1 or math.comb(r + k, k) <= terms)


@lru_cache(maxsize=256)
def _plane_generator(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of i G, G the generator of plane rotations on degree m.

    With x = cos u - sin v, y = sin u + cos v: d/dtheta h_a(x) h_{m-a}(y) at theta = 0 equals
    sqrt((m-a)(a+1)) h_{a+1} h_{m-a-1} - sqrt(a (m-a+1)) h_{a-1} h_{m-a+1}.
    """
    a = np.arange(m)
    up = np.sqrt((m - a) * (a + 1.0))
    generator = np.diag(up, 1) - np.diag(up, -1)
    return np.linalg.eigh(1j * generator)


# An analysis turns several series into the same few frames.
@lru_cache(maxsize=1024)
def _plane_rotation(m: int, theta: float) -> Float[np.ndarray, "a b"]:
    """D with h_a(x) h_{m-a}(y) = sum_b D[a, b] h_b(u) h_{m-b}(v)."""
    values, vectors = _plane_generator(m)
    return np.real((vectors * np.exp(-1j * theta * values)) @ vectors.conj().T)


@dataclass(frozen=True)
class HermiteSeries:
    """f = sum_i coefficients[i] h_{exponents[i]}(x), with what is known of its errors.

    ``tail`` is the squared L2 norm of f beyond the series (0 for a polynomial), ``error`` a bound
    on the quadrature error of a coefficient.  Where coefficients come from randomised points,
    ``replicates`` holds one estimate of all of them from each independent randomisation, and
    ``coefficients`` their mean; ``tail_uncertainty`` is then the standard error of E f^2.

    h_alpha = prod_j He_{alpha_j}(x_j)/sqrt(alpha_j!) are orthonormal under N(0, I), so that E f^2 =
    |c|^2 + tail.  exponents -> alpha, coefficients -> c.  T_k of arXiv 2305.18270 is the part of
    degree k.

    >>> from giantstep import make_target
    >>> series = make_target("x1^2").series
    >>> round(series.variance, 12), series.degree
    (2.0, 2)
    """

    exponents: Int[np.ndarray, "m r"]
    coefficients: Float[np.ndarray, " m"]
    tail: float = 0.0
    error: float = 0.0
    replicates: Float[np.ndarray, "s m"] | None = None
    tail_uncertainty: float = 0.0

    def __repr__(self) -> str:
        kept = np.abs(self.coefficients) > np.maximum(
            4 * EPSILON, self.error + self.standard_errors
        )
        terms = hermite_terms(self.exponents[kept], self.coefficients[kept])
        return (
            f"HermiteSeries({write_sum(terms)}; variance {self.variance:.4g}, tail {self.tail:.2g})"
        )

    @property
    def r(self) -> int:
        return int(self.exponents.shape[1])

    @property
    def degrees(self) -> Int[np.ndarray, " m"]:
        """Total degree of each term."""
        return self.exponents.sum(axis=1)

    @property
    def degree(self) -> int:
        return int(self.degrees.max(initial=0))

    @property
    def variance(self) -> float:
        """Var f of the series, tail not counted."""
        return float(np.sum(self.coefficients[self.degrees > 0] ** 2))

    @property
    def square(self) -> float:
        """E f^2, tail counted."""
        return float(np.sum(self.coefficients**2)) + self.tail

    @property
    def standard_errors(self) -> Float[np.ndarray, " m"]:
        """Standard error of each coefficient, 0 where no randomised points were used."""
        if self.replicates is None:
            return np.zeros(len(self.coefficients))
        return self.replicates.std(axis=0, ddof=1) / math.sqrt(len(self.replicates))

    @property
    def _stack(self) -> Float[np.ndarray, "c m"]:
        """The coefficients, then the replicates if there are any, as rows."""
        return np.concatenate([self.coefficients[None], self._repeated(0)])

    def _repeated(self, count: int) -> Float[np.ndarray, "s m"]:
        """The replicates, or the coefficients ``count`` times over where they are exact."""
        if self.replicates is None:
            return np.repeat(self.coefficients[None], count, axis=0)
        return self.replicates

    def _with(
        self, exponents: Int[np.ndarray, "k r"], stack: Float[np.ndarray, "c k"]
    ) -> HermiteSeries:
        """Other terms, their coefficients and replicates given as rows."""
        replicates = None if self.replicates is None else stack[1:]
        return replace(self, exponents=exponents, coefficients=stack[0], replicates=replicates)

    def select(self, keep: Bool[np.ndarray, " m"]) -> HermiteSeries:
        """The terms marked in ``keep``."""
        return self._with(self.exponents[keep], self._stack[:, keep])

    def truncate(self, degree: int) -> HermiteSeries:
        """The terms of total degree <= ``degree``, the rest moved into the tail."""
        keep = self.degrees <= degree
        lost = float(np.sum(self.coefficients[~keep] ** 2))
        return replace(self.select(keep), tail=self.tail + lost)

    def scale(self, factor: float) -> HermiteSeries:
        return HermiteSeries(
            self.exponents,
            self.coefficients * factor,
            self.tail * factor**2,
            self.error * abs(factor),
            None if self.replicates is None else self.replicates * factor,
            self.tail_uncertainty * factor**2,
        )

    def evaluate(self, x: Float[np.ndarray, "n r"]) -> Float[np.ndarray, " n"]:
        """Values of the series at the rows of x."""
        values = hermite_values(np.asarray(x, dtype=float), self.degree)
        product = np.ones((len(x), len(self.coefficients)))
        for j in range(self.r):
            product *= values[:, j, :][:, self.exponents[:, j]]
        return product @ self.coefficients

    def tensor(self, k: int) -> Float[np.ndarray, "..."]:
        """T_k = E[grad^k f], the symmetric tensor of order k with entries sqrt(alpha!) c_alpha."""
        size = self.r**k
        if size > MAX_SERIES_TERMS:
            raise InputError(f"T_{k} in {self.r} directions has {size} entries, too many to list")
        tensor = np.zeros((self.r,) * k)
        of_order = self.degrees == k
        lookup = {
            tuple(np.repeat(np.arange(self.r), alpha).tolist()): math.sqrt(
                math.prod(math.factorial(a) for a in alpha.tolist())
            )
            * c
            for alpha, c in zip(self.exponents[of_order], self.coefficients[of_order], strict=True)
        }
        for index in np.ndindex(*tensor.shape):
            tensor[index] = lookup.get(tuple(sorted(index)), 0.0)
        return tensor

    def rotate(self, basis: Float[np.ndarray, "r r"], kept_terms: int = 10_000) -> HermiteSeries:
        """The same function of the coordinates u = basis x; the rows of basis are orthonormal.

        basis = D G_N .. G_1 with plane rotations G and signs D; each G mixes h_a(x_i) h_b(x_j)
        with a + b fixed, so that no degree is lost and sparsity is kept where it can be.  A series
        of up to ``kept_terms`` terms (a megabyte) is kept for the next who asks.
        """
        key = basis.tobytes()
        if key in self._turned:
            return self._turned[key]
        turned = self._rotate(basis)
        if len(turned.coefficients) <= kept_terms:
            self._turned[key] = turned
        return turned

    @cached_property
    def _turned(self) -> dict[bytes, HermiteSeries]:
        """The series in every frame it was asked for: an analysis comes back to the same few."""
        return {}

    def _rotate(self, basis: Float[np.ndarray, "r r"]) -> HermiteSeries:
        if np.array_equal(np.abs(basis), np.abs(basis).astype(bool)):  # a signed permutation
            flipped = self.exponents @ (basis.min(axis=0) < 0) % 2
            exponents = self.exponents[:, np.argmax(np.abs(basis), axis=1)]
            return self._with(exponents, (1.0 - 2.0 * flipped) * self._stack)
        if self.degree <= 1:
            return self._rotate_linear(basis)
        if self.r > MOST_TURNED:
            raise InputError(
                f"target of more than {MOST_TURNED} directions must have links without a linear "
                f"part to be analyzed, got {self.r} directions"
            )
        remaining = np.array(basis, dtype=float)
        series = self
        for i in range(self.r):
            for j in range(i + 1, self.r):
                if abs(remaining[i, j]) <= 4 * EPSILON:
                    continue
                theta = math.atan2(remaining[i, j], remaining[i, i])
                c, s = math.cos(theta), math.sin(theta)
                plane = remaining[:, [i, j]] @ np.array([[c, -s], [s, c]])
                remaining[:, [i, j]] = plane
                series = series._rotate_plane(i, j, theta)
        odd = (series.exponents[:, np.diag(remaining) < 0].sum(axis=1) % 2).astype(bool)
        return series._with(series.exponents, np.where(odd, -1.0, 1.0) * series._stack)

    def _rotate_linear(self, basis: Float[np.ndarray, "r r"]) -> HermiteSeries:
        """A series of degree one at most: <c, x> = <basis c, u>."""
        stack, first = self._stack, self.degrees == 1
        slopes = stack[:, first] @ self.exponents[first] @ basis.T
        exponents = np.concatenate([self.exponents[~first], np.eye(self.r, dtype=int)])
        return self._with(exponents, np.concatenate([stack[:, ~first], slopes], axis=1))

    def _rotate_plane(self, i: int, j: int, theta: float) -> HermiteSeries:
        """Coordinates u = cos x_i + sin x_j, v = -sin x_i + cos x_j in place of x_i, x_j."""
        if not len(self.coefficients):
            return self
        power = self.exponents[:, i]
        total = power + self.exponents[:, j]
        groups = self.exponents.copy()
        groups[:, i], groups[:, j] = 0, total
        keys, group = np.unique(groups, axis=0, return_inverse=True)
        group = group.reshape(-1)
        if int(np.sum(keys[:, j] + 1)) > MAX_SERIES_TERMS:
            raise InputError(
                f"a change of coordinates would need {int(np.sum(keys[:, j] + 1))} Hermite terms, "
                f"more than {MAX_SERIES_TERMS}"
            )
        exponents, coefficients = [], []
        stack = self._stack
        for m in sorted(set(keys[:, j].tolist())):
            chosen = np.flatnonzero(keys[:, j] == m)
            place = np.full(len(keys), -1)
            place[chosen] = np.arange(len(chosen))
            terms = np.flatnonzero(total == m)
            block = np.zeros((len(stack), len(chosen), m + 1))
            block[:, place[group[terms]], power[terms]] = stack[:, terms]
            # Row a of D: h_a(x_i) h_{m-a}(x_j) over h_b(u) h_{m-b}(v).
            coefficients.append((block @ _plane_rotation(m, theta)).reshape(len(stack), -1))
            filled = np.repeat(keys[chosen], m + 1, axis=0)
            filled[:, i] = np.tile(np.arange(m + 1), len(chosen))
            filled[:, j] = m - filled[:, i]
            exponents.append(filled)
        values = np.concatenate(coefficients, axis=1)
        keep = np.max(np.abs(values), axis=0) > 4 * EPSILON * np.linalg.norm(values[0])
        return self._with(np.concatenate(exponents)[keep], values[:, keep])

    def outside_degrees(self, inside: int) -> Int[np.ndarray, " m"]:
        """Degree of each term in the coordinates from ``inside`` on."""
        return self.exponents[:, inside:].sum(axis=1)

    def condition(self, inside: int) -> HermiteSeries:
        """E[f | x_1 .. x_inside]: the terms without any of the other coordinates."""
        return self.select(self.outside_degrees(inside) == 0)

    def project(self, inside: int, highest: int) -> HermiteSeries:
        """P_{U, <= highest} f, U the first ``inside`` coordinates: degree <= highest outside U."""
        return self.select(self.outside_degrees(inside) <= highest)

    def gradient_matrix(self, inside: int, k: int | None = 1) -> Float[np.ndarray, "rows outside"]:
        """Coefficients of E[grad_perp^k f | x_U], unfolded along one index.

        Rows are (beta, gamma - e_j) for terms h_beta(x_U) h_gamma(x_perp) with |gamma| = k, column
        j holds sqrt(gamma_j) c.  Its row space is what a step adds when k is the leap: the range
        of T_k for U = {0}, the staircase for k = 1.  With k = None the rows are
        the coefficients of grad_perp f itself.
        """
        return self.gradient_matrices(inside, k)[0][0]

    def gradient_matrices(
        self, inside: int, k: int | None = 1
    ) -> tuple[Float[np.ndarray, "c rows outside"], Int[np.ndarray, " rows"]]:
        """The gradient matrix of the series, then those of its replicates; the degrees of rows.

        All terms that make a row have the same total degree.
        """
        outside = self.outside_degrees(inside)
        keep = outside > 0 if k is None else outside == k
        exponents, stack = self.exponents[keep], self._stack[:, keep]
        rows, columns, values = [], [], []
        for j in range(inside, self.r):
            has = exponents[:, j] > 0
            lowered = exponents[has].copy()
            values.append(stack[:, has] * np.sqrt(lowered[:, j]))
            lowered[:, j] -= 1
            rows.append(lowered)
            columns.append(np.full(len(lowered), j - inside))
        matrices = np.zeros((len(stack), 0, self.r - inside))
        if not sum(map(len, rows)):
            return matrices, np.zeros(0, dtype=int)
        keys, at = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
        matrices = np.zeros((len(stack), len(keys), self.r - inside))
        placed = np.concatenate(values, axis=1)
        matrices[:, at.reshape(-1), np.concatenate(columns)] = placed
        return matrices, keys.sum(axis=1) + 1


def among(degrees: Int[np.ndarray, " m"], allowed: Callable[[int], bool]) -> Bool[np.ndarray, " m"]:
    """Which of the degrees are allowed; each different one is asked for once."""
    different, at = np.unique(degrees, return_inverse=True)
    return np.array([allowed(int(degree)) for degree in different], dtype=bool)[at]


def merge(parts: Sequence[HermiteSeries]) -> HermiteSeries:
    """Sum of series in the same variables; errors add, tails (L2 norms) by the triangle."""
    exponents = np.concatenate([part.exponents for part in parts])
    keys, at = np.unique(exponents, axis=0, return_inverse=True)
    count = max((len(p.replicates) for p in parts if p.replicates is not None), default=0)

    def add_up(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " m"]:
        return np.bincount(at.reshape(-1), values, len(keys))

    replicated = np.concatenate([part._repeated(count) for part in parts], axis=1)
    tail = sum(math.sqrt(part.tail) for part in parts) ** 2
    return HermiteSeries(
        keys,
        add_up(np.concatenate([part.coefficients for part in parts])),
        tail,
        sum(part.error for part in parts),
        np.array([add_up(row) for row in replicated]) if count else None,
        sum(part.tail_uncertainty for part in parts),
    )


def separate_product(a: HermiteSeries, b: HermiteSeries, degree: int) -> HermiteSeries:
    """Product of series in disjoint variables, up to total degree ``degree``."""
    keep = a.degrees[:, None] + b.degrees[None, :] <= degree
    i, j = np.nonzero(keep)
    coefficients = a.coefficients[i] * b.coefficients[j]
    norms = [float(np.linalg.norm(s.coefficients)) for s in (a, b)]
    count = max(0 if s.replicates is None else len(s.replicates) for s in (a, b))
    return HermiteSeries(
        a.exponents[i] + b.exponents[j],
        coefficients,
        max(0.0, a.square * b.square - float(np.sum(coefficients**2))),
        a.error * norms[1] + b.error * norms[0],
        a._repeated(count)[:, i] * b._repeated(count)[:, j] if count else None,
        a.tail_uncertainty * b.square + b.tail_uncertainty * a.square,
    )


def tensor_grid(
    function: Callable[[Sequence[Float[np.ndarray, "..."]]], Float[np.ndarray, "..."]],
    r: int,
    x: Float[np.ndarray, " q"],
) -> Float[np.ndarray, "..."]:
    """Values of a function of r variables on the grid of nodes x an axis.

    Column j varies along axis j only and broadcasts along the others, so that functions of one
    variable inside the function are evaluated on one axis.
    """
    axes = np.meshgrid(*([x] * r), indexing="ij", sparse=True)
    return np.broadcast_to(function(axes), (len(x),) * r)


def series_on_grid(series: HermiteSeries, x: Float[np.ndarray, " q"]) -> Float[np.ndarray, "..."]:
    """Values of a series on the same grid, one axis at a time."""
    tensor = np.zeros(tuple(series.exponents.max(axis=0, initial=0) + 1))
    tensor[tuple(series.exponents.T)] = series.coefficients
    for size in tensor.shape:
        tensor = np.tensordot(tensor, hermite_values(x, size - 1), axes=(0, 1))
    return tensor


def series_from_grid(values: Float[np.ndarray, "..."], rule: Rule, degree: int) -> HermiteSeries:
    """Coefficients up to total degree ``degree`` of a function given on the grid of a rule."""
    r = values.ndim
    x, weights = rule
    transform = hermite_values(x, degree) * weights[:, None]
    mean_square = values**2
    tensor = values
    for _ in range(r):
        tensor = np.tensordot(tensor, transform, axes=(0, 0))
        mean_square = np.tensordot(mean_square, weights, axes=(0, 0))
    grid = np.indices(tensor.shape).reshape(r, -1).T
    keep = grid.sum(axis=1) <= degree
    exponents, coefficients = grid[keep], tensor.ravel()[keep]
    tail = max(0.0, float(mean_square) - float(np.sum(coefficients**2)))
    return HermiteSeries(exponents, coefficients, tail)
