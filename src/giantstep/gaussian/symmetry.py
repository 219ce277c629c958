"""Signed permutations that a function keeps up to its sign, and what they force to be zero.

f(g x) = chi f(x) with (g x)_i = flip_i x_{order_i} and chi = 1 or -1.  For the Hermite coefficients
this means c_alpha = chi flip^alpha c_beta with beta_{order_i} = alpha_i: coefficients of one orbit
are equal up to signs, and zero where the signs contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.series import HermiteSeries
from giantstep.language.functions import NumpyNamespace

Columns = Sequence[Float[np.ndarray, "..."]]


class _Witness(NumpyNamespace):
    """NumPy with functions that are constant somewhere replaced by ones that never are.

    sign(x1 + x2*x3/100) hardly changes when x2 is flipped; with an injective function of the same
    parity in its place, every change of an argument shows.
    """

    @staticmethod
    def sign(z: Any) -> Any:
        return np.arctan(1.37 * z) + 0.1 * z

    @staticmethod
    def step(z: Any) -> Any:
        return 0.5 + 0.5 * _Witness.sign(z)

    @staticmethod
    def abs(z: Any) -> Any:
        return np.sqrt(1.7 + z**2)

    @staticmethod
    def maximum(z: Any, other: Any) -> Any:
        # As relu(z) - relu(-z) = z: max(x1, x2) keeps its exchange.
        return other + 0.5 * (z - other + _Witness.abs(z - other))


WITNESS = _Witness()


@dataclass(frozen=True)
class Symmetry:
    """One signed permutation g with f(g x) = chi f(x)."""

    order: tuple[int, ...]
    flips: tuple[int, ...]
    chi: int

    @cached_property
    def matrix(self) -> Float[np.ndarray, "q q"]:
        """g as a matrix."""
        return (
            np.array(self.flips, dtype=float)[:, None] * np.eye(len(self.order))[list(self.order)]
        )


def candidates(
    q: int, most: int = 6, most_pairs: int = 64
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All flips of signs, and these after each exchange of two variables, as (order, flips).

    Of more than ``most`` variables there are too many, 2^q (1 + q (q-1)/2): only few are tried, and
    beyond ``most_pairs`` no flips of two variables alone.
    """
    plain = tuple(range(q))
    if q <= most:
        patterns = list(product((1, -1), repeat=q))
        orders = [plain]
        for i, j in combinations(range(q), 2):
            exchanged = list(plain)
            exchanged[i], exchanged[j] = j, i
            orders.append(tuple(exchanged))
    else:
        pairs = combinations(range(q), 2) if q <= most_pairs else ()
        chosen = [*combinations(range(q), 1), *pairs, plain]
        patterns = [tuple(-1 if k in flipped else 1 for k in range(q)) for flipped in chosen]
        orders = [plain]
    return [(order, flips) for order in orders for flips in patterns][1:]


def find_symmetries(
    function: Callable[[Columns], Float[np.ndarray, "..."]], q: int, repeats: int = 1
) -> tuple[Symmetry, ...]:
    """The candidates that hold at random points to rounding; empty where f is not finite.

    An expression is to be evaluated with WITNESS, anything else at more points (``repeats``): a
    callable may be constant on large regions.
    """
    # Points of four spreads: a kink far from the origin is seen, and a steep function unsaturated.
    spreads = np.tile(np.repeat([0.1, 1.0, 3.0, 8.0], 8), repeats)
    x = np.random.default_rng(0).standard_normal((len(spreads), q)) * spreads[:, None]
    tried = candidates(q)
    orders = np.array([order for order, _ in tried]).reshape(len(tried), q)
    flips = np.array([flip for _, flip in tried], dtype=float).reshape(len(tried), q)
    moved = x[:, orders] * flips  # point, candidate, variable
    with np.errstate(all="ignore"):
        base = np.broadcast_to(function(list(x.T)), len(x))
        values = np.broadcast_to(function(list(moved.reshape(-1, q).T)), moved[..., 0].size)
    values = values.reshape(len(x), len(tried))
    if not (np.all(np.isfinite(base)) and np.all(np.isfinite(values))):
        return ()
    scale = VANISHING * np.maximum(np.abs(base)[:, None], np.abs(values))
    holding = []
    for chi in (1, -1):
        holds = np.all(np.abs(values - chi * base[:, None]) <= scale, axis=0)
        holding += [Symmetry(*tried[k], chi) for k in np.flatnonzero(holds).tolist()]
    return tuple(holding)


def symmetrise(series: HermiteSeries, symmetries: Sequence[Symmetry]) -> HermiteSeries:
    """The nearest series with the symmetries: orbits averaged, forced zeros exact."""
    place = {tuple(alpha): k for k, alpha in enumerate(series.exponents.tolist())}
    root = np.arange(len(place))
    sign = np.ones(len(place))
    forbidden = np.zeros(len(place), dtype=bool)
    for symmetry in generators(symmetries):
        images = np.zeros_like(series.exponents)
        images[:, list(symmetry.order)] = series.exponents
        odd = series.exponents[:, np.array(symmetry.flips) < 0].sum(axis=1) % 2
        relative = symmetry.chi * (1 - 2 * odd)
        for k, image in enumerate(map(tuple, images.tolist())):
            if image in place:
                _join(root, sign, forbidden, (k, place[image]), int(relative[k]))
            else:  # left out because a flip forbids it, and with it this one
                forbidden[root[k]] = True
    forbidden = np.isin(root, root[forbidden])
    stack = series._stack * sign
    totals = np.array([np.bincount(root, row, len(root)) for row in stack])
    means = totals / np.maximum(np.bincount(root, minlength=len(root)), 1)
    return series._with(series.exponents, (means[:, root] * sign) * ~forbidden)


def _join(
    root: Int[np.ndarray, " m"],
    sign: Float[np.ndarray, " m"],
    forbidden: np.ndarray,
    pair: tuple[int, int],
    relative: int,
) -> None:
    """Record c_a = relative c_b; an orbit that forces c = -c is forbidden."""
    a, b = pair
    wanted = sign[a] * relative * sign[b]  # c_root(a) = wanted c_root(b)
    if root[a] == root[b]:
        if wanted < 0:
            forbidden[root[a]] = True
        return
    old, new = root[b], root[a]
    moved = root == old
    root[moved] = new
    sign[moved] *= wanted
    forbidden[new] |= forbidden[old]


def generators(symmetries: Sequence[Symmetry]) -> list[Symmetry]:
    """Enough of the symmetries to generate them all: independent flips, one of each exchange."""
    chosen: list[Symmetry] = []
    basis: list[int] = []
    seen: set[tuple[int, ...]] = set()
    plain = tuple(range(len(symmetries[0].order))) if symmetries else ()
    for symmetry in symmetries:
        if symmetry.order == plain:
            bits = sum(1 << k for k, flip in enumerate(symmetry.flips) if flip < 0)
            # A function and its negative: f = 0 is excluded elsewhere, so chi follows the flips.
            for earlier in basis:
                bits = min(bits, bits ^ earlier)
            if bits:
                basis.append(bits)
                chosen.append(symmetry)
        elif symmetry.order not in seen:
            seen.add(symmetry.order)
            chosen.append(symmetry)
    return chosen
