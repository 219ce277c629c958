"""Hermite polynomials and quadrature rules for one normal variable.

h_k = He_k / sqrt(k!) are the orthonormal polynomials of N(0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError

Rule = tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"]]
"""Nodes of a quadrature and their weights."""

REACH = 9.0
"""How far rules split at kinks go: the normal mass beyond is 2e-19, and with z^8 below 1e-10."""


def hermite_values(x: Float[np.ndarray, "*n"], degree: int) -> Float[np.ndarray, "*n k"]:
    """h_0(x) .. h_degree(x) by h_{k+1} = (x h_k - sqrt(k) h_{k-1}) / sqrt(k+1)."""
    return np.ascontiguousarray(np.moveaxis(hermite_rows(x, degree), 0, -1))


def hermite_rows(x: Float[np.ndarray, "*n"], degree: int) -> Float[np.ndarray, "k *n"]:
    """The same values, one degree after the other: all of h_0(x), then all of h_1(x), .."""
    values = np.ones((degree + 1, *x.shape))
    for k in range(degree):
        previous = values[k - 1] * math.sqrt(k) if k else 0.0
        values[k + 1] = (x * values[k] - previous) / math.sqrt(k + 1)
    return values


@lru_cache(maxsize=64)
def gauss_hermite(nodes: int, most: int = 256) -> Rule:
    """Nodes and weights with sum_i w_i g(x_i) = E g(z), exact to degree 2 nodes - 1.

    The nodes are the eigenvalues of the Jacobi matrix, the weights 1 / sum_k h_k(x_i)^2, which
    keeps the relative accuracy of even the smallest ones.  At ``most`` nodes h_k(x)^2 of the
    outermost one is 1e208; at 400 it would overflow.
    """
    if not 1 <= nodes <= most:
        raise InputError(f"nodes must be in 1..{most}, got {nodes}")
    off_diagonal = np.sqrt(np.arange(1.0, nodes))
    x = np.linalg.eigvalsh(np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    weights = 1.0 / np.sum(hermite_values(x, nodes - 1) ** 2, axis=-1)
    x.flags.writeable = weights.flags.writeable = False
    return x, weights


@lru_cache(maxsize=8)
def panel_rule(nodes: int) -> Rule:
    """A rule for E g(z) with evenly spread nodes, for functions too steep for Gauss-Hermite.

    16 Gauss-Legendre nodes a panel on [-14, 14]; beyond it, even h_20^2 has mass below 1e-10.
    """
    return normal_panels(np.linspace(-14.0, 14.0, nodes // 16 + 1), 16)


@lru_cache(maxsize=16)
def legendre(nodes: int) -> Rule:
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(nodes)


def normal_panels(
    edges: Float[np.ndarray, "*m e"], nodes: int
) -> tuple[Float[np.ndarray, "*m q"], Float[np.ndarray, "*m q"]]:
    """Nodes and weights with sum_i w_i g(z_i) = E[g(z); first edge < z < last edge].

    As many Gauss-Legendre nodes on each panel between neighbours of the increasing edges, the
    normal density in the weights: g may have kinks and jumps at the edges.  Panels may be empty.
    """
    x, weights = legendre(nodes)
    half = 0.5 * np.diff(edges)[..., None]
    z = 0.5 * (edges[..., 1:] + edges[..., :-1])[..., None] + half * x
    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    shape = (*edges.shape[:-1], (edges.shape[-1] - 1) * nodes)
    return z.reshape(shape), (half * weights * density).reshape(shape)


def jacobi_matrix(rule: Rule, size: int) -> Float[np.ndarray, "k k"]:
    """x on the orthonormal polynomials of a law that a rule stands for, up to their signs."""
    x, weights = rule
    shares = weights / weights.sum()
    middle = float(shares @ x)
    deviation = math.sqrt(float(shares @ (x - middle) ** 2))
    powers = ((x - middle) / deviation)[:, None] ** np.arange(size)
    basis = np.linalg.qr(np.sqrt(shares)[:, None] * powers)[0]
    return np.asarray(basis.T @ (x[:, None] * basis))


def condensed(rule: Rule, nodes: int) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Gauss's rule with so few nodes, exact to degree 2 nodes - 1 for the law of a finer rule."""
    values, vectors = np.linalg.eigh(jacobi_matrix(rule, nodes))
    return values, float(np.sum(rule[1])) * vectors[0] ** 2


def split_panels(breaks: Float[np.ndarray, "*m k"], panels: int = 1) -> Float[np.ndarray, "*m e"]:
    """Edges of even panels from -REACH to REACH, split at the breaks as well."""
    even = np.broadcast_to(np.linspace(-REACH, REACH, panels + 1), (*breaks.shape[:-1], panels + 1))
    return np.sort(np.concatenate([even, np.clip(breaks, -REACH, REACH)], axis=-1), axis=-1)


def adaptive_coefficients(
    function: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]],
    degree: int,
    breakpoints: Sequence[float] = (),
    accuracy: float = 1e-15,
    most_panels: int = 2000,
) -> tuple[Float[np.ndarray, " k"], float]:
    """E[g(z) h_k(z)] for k <= degree, and a bound on their quadrature error.

    Panels of 20 Gauss-Legendre nodes are halved until a panel and its halves agree to ``accuracy``
    (of the largest coefficient), or are too narrow to matter: a kink or a jump is closed in on.
    Beyond 2 sqrt(degree) + 10 the weight h_k(z) times the normal density is below 1e-20.  A noisy
    function never settles: at ``most_panels`` panels the rule stops, and its error says so.
    """
    reach = 2.0 * math.sqrt(degree) + 10.0
    inner = {b for b in breakpoints if -reach < b < reach}
    edges = np.array(sorted(inner.union(np.linspace(-reach, reach, 33).tolist())))
    left, right = edges[:-1], edges[1:]
    total, error = np.zeros(degree + 1), 0.0
    coarse = _panels(function, left, right, degree)
    for level in range(48):
        middle = 0.5 * (left + right)
        halves = _panels(function, np.r_[left, middle], np.r_[middle, right], degree)
        first, second = np.split(halves, 2)
        gap = np.max(np.abs(first + second - coarse), axis=-1)
        scale = max(1.0, float(np.max(np.abs(total + np.sum(first + second, axis=0)))))
        done = (gap <= accuracy * scale) | (level == 47) | (len(gap) > most_panels)
        total += np.sum((first + second)[done], axis=0)
        error += float(np.sum(gap[done]))
        if done.all():
            break
        left, middle, right = left[~done], middle[~done], right[~done]
        coarse = np.concatenate([first[~done], second[~done]])
        left, right = np.r_[left, middle], np.r_[middle, right]
    return total, error


def _panels(
    function: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]],
    left: Float[np.ndarray, " m"],
    right: Float[np.ndarray, " m"],
    degree: int,
) -> Float[np.ndarray, "m k"]:
    """Integral over each panel of g(z) h_k(z) times the normal density."""
    z, weights = normal_panels(np.stack([left, right], axis=1), 20)
    values = np.broadcast_to(function(z.ravel()), z.size).reshape(z.shape)
    return np.einsum("mq,mqk->mk", values * weights, hermite_values(z, degree))
