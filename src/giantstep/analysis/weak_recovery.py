"""How many samples the best first-order method needs for a first overlap with the directions.

With G(y) = E[z z^T - 1 | y] and E[z | y] = 0, weak recovery of some direction needs n > alpha_c d,

    1/alpha_c = largest eigenvalue of M -> E_y[G(y) M G(y)]     (symmetric M),

and where E[z | y] != 0 any alpha > 0 will do (Troiani et al., arXiv 2405.15480).  Closed forms:
x1^2 has alpha_c = 1/2, sign(x1 x2) has pi^2/4, |x|^2 in r directions r/2.

G is fitted by cubic splines in the logit of the rank of y.  What such a fit leaves out makes
alpha_c too large; it shrinks with the fourth power of the spacing where G is smooth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.accuracy import NULL_DIRECTION, VANISHING
from giantstep.gaussian.sampling import Function, stretched_values


@dataclass(frozen=True)
class WeakRecovery:
    """alpha_c = n/d at which weak recovery begins: 0 if trivial, infinite if G = 0."""

    threshold: float
    uncertainty: float


def weak_recovery(
    function: Function,
    r: int,
    *,
    first: int = 24,
    doublings: int = 4,
    accuracy: float = 1e-3,
    sigmas: float = 3.0,
) -> WeakRecovery:
    """alpha_c of a label y = function(z) with E[z | y] = 0, z ~ N(0, I) in r dimensions.

    The intervals of the spline are doubled from ``first`` on, ``doublings`` times at most, until
    that changes alpha_c by less than ``accuracy``.  The uncertainty is twice the last change and
    ``sigmas`` standard errors: where G has a logarithm, as for x1 x2 at y = 0, later changes add up
    to about the last.
    """
    points, weights, labels = stretched_values(function, r)
    levels = [_spline_means(_logits(labels, weights), weights, points, first * 2**doublings)]
    for _ in range(doublings):
        levels.insert(0, levels[0].halved())
    before = _largest_eigenvalue(levels[0])[0]
    for level in levels[1:]:
        inverse, error = _largest_eigenvalue(level)
        change = abs(inverse - before)
        if change < accuracy * inverse:
            break
        before = inverse
    doubt = sigmas * error + 2.0 * change
    if inverse <= doubt:
        return WeakRecovery(math.inf, math.inf)
    return WeakRecovery(1.0 / inverse, doubt / inverse**2)


def _logits(
    labels: Float[np.ndarray, "s n"], weights: Float[np.ndarray, "s n"]
) -> Float[np.ndarray, "s n"]:
    """log(F/(1 - F)) of every label, F its distribution function; equal labels share theirs."""
    flat = np.round(labels.ravel() / (VANISHING * max(float(np.abs(labels).max()), 1e-300)))
    order = np.argsort(flat)
    ordered = flat[order]
    group = np.cumsum(np.r_[False, ordered[1:] != ordered[:-1]])
    mass = np.bincount(group, weights.ravel()[order])
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    places = np.empty(flat.size)
    places[order] = (np.log(middle) - np.log1p(-middle))[group]
    return places.reshape(labels.shape)


@dataclass(frozen=True)
class _SplineMeans:
    """E[B_k(y) (z z^T - 1)] of B-splines, of i <= j and set by set, and their Gram matrix."""

    squares: Float[np.ndarray, "m s k"]
    gram: Float[np.ndarray, "k k"]

    def halved(self) -> _SplineMeans:
        """Those of the splines on half as many intervals, each a sum of five of these.

        B(x) = sum_j binomial(4, j)/8 B(2x - j), the two-scale relation of cubic B-splines.
        """
        size = len(self.gram)
        fine, coarse = np.arange(size)[:, None], np.arange(size // 2 + 2)
        weights = np.array([math.comb(4, j) / 8.0 for j in range(5)])
        place = fine - 2 * coarse + 3
        sums = np.where((place >= 0) & (place <= 4), weights[np.clip(place, 0, 4)], 0.0)
        return _SplineMeans(self.squares @ sums, sums.T @ self.gram @ sums)


def _largest_eigenvalue(means: _SplineMeans) -> tuple[float, float]:
    """1/alpha_c with G in the span of the splines, and its standard error (jackknife).

    E[G M G] is a mean over pairs of different sets of points, so that the noise of one set does not
    add its own square.
    """
    scale, vectors = np.linalg.eigh(means.gram)
    kept = scale > NULL_DIRECTION * scale[-1]
    # Combinations of splines that are orthonormal under the law of y.
    whitened = means.squares @ (vectors[:, kept] / np.sqrt(scale[kept]))
    moments = _symmetric(np.moveaxis(whitened, 0, -1))
    sets = len(moments)
    total, own = moments.sum(axis=0), np.array([_kernel(each) for each in moments])
    together = own.sum(axis=0)
    kernel = (_kernel(total) - together) / (sets * (sets - 1))
    without = [
        _top(_kernel(total - moments[k]) - together + own[k]) / ((sets - 1) * (sets - 2))
        for k in range(sets)
    ]
    spread = float(np.var(without))
    return _top(kernel), math.sqrt((sets - 1) * spread)


def _top(kernel: Float[np.ndarray, "m m"]) -> float:
    return float(np.linalg.eigvalsh(0.5 * (kernel + kernel.T))[-1])


def _kernel(moments: Float[np.ndarray, "k r r"]) -> Float[np.ndarray, "m m"]:
    """M -> sum_k G_k M G_k as a matrix of size r^2."""
    r = moments.shape[-1]
    flat = moments.reshape(len(moments), r * r)
    # (G M G)_il = sum_jm G_ij M_jm G_ml: rows (i, l), columns (j, m).
    return (flat.T @ flat).reshape(r, r, r, r).transpose(0, 3, 1, 2).reshape(r * r, r * r)


def _spline_means(
    places: Float[np.ndarray, "s n"],
    weights: Float[np.ndarray, "s n"],
    points: Float[np.ndarray, "s n r"],
    intervals: int,
) -> _SplineMeans:
    """The means of the cubic B-splines on so many intervals."""
    first, values = _splines(places, intervals)
    sets, count = places.shape
    weighted = values * (weights / weights.mean())
    at = np.arange(intervals)
    gram = np.zeros((intervals + 3, intervals + 3))
    for i in range(4):
        for j in range(4):
            product = (weighted[i] * values[j]).ravel()
            gram[at + i, at + j] += np.bincount(first.ravel(), product, intervals)
    place = (first + intervals * np.arange(sets)[:, None]).ravel()
    columns = np.ascontiguousarray(np.moveaxis(points, -1, 0))
    rows, others = np.triu_indices(len(columns))
    squares = np.zeros((len(rows), sets, intervals + 3))
    for k, (row, other) in enumerate(zip(rows, others, strict=True)):
        square = columns[row] * columns[other] - (row == other)
        for i in range(4):
            sums = np.bincount(place, (weighted[i] * square).ravel(), sets * intervals)
            squares[k, :, i : i + intervals] += sums.reshape(sets, intervals)
    return _SplineMeans(squares / count, gram / places.size)


def _symmetric(entries: Float[np.ndarray, "s k m"]) -> Float[np.ndarray, "s k r r"]:
    """Symmetric matrices from their entries on and above the diagonal."""
    r = (math.isqrt(8 * entries.shape[-1] + 1) - 1) // 2
    rows, columns = np.triu_indices(r)
    matrices = np.zeros((*entries.shape[:-1], r, r))
    matrices[..., rows, columns] = matrices[..., columns, rows] = entries
    return matrices


def _splines(
    places: Float[np.ndarray, "s n"], intervals: int
) -> tuple[Int[np.ndarray, "s n"], Float[np.ndarray, "4 s n"]]:
    """The first of the four cubic B-splines on equal intervals at each place, and their values."""
    low, high = float(places.min()), float(places.max())
    scaled = (places - low) * (intervals / max(high - low, VANISHING))
    first = np.minimum(scaled.astype(int), intervals - 1)
    t = scaled - first
    cubes = ((1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3)
    return first, np.stack(cubes) / 6.0
