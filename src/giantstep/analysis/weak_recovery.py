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
    last: int = 384,
    accuracy: float = 1e-3,
    sigmas: float = 3.0,
) -> WeakRecovery:
    """alpha_c of a label y = function(z) with E[z | y] = 0, z ~ N(0, I) in r dimensions.

    The intervals of the spline are doubled from ``first`` to ``last`` until that changes alpha_c by
    less than ``accuracy``.  The uncertainty is twice the last change and ``sigmas`` standard
    errors: where G has a logarithm, as for x1 x2 at y = 0, later changes add up to about the last.
    """
    points, weights, labels = stretched_values(function, r)
    places = _logits(labels, weights)
    squares = _centred_squares(points)
    before = _largest_eigenvalue(places, weights, squares, first)[0]
    intervals = 2 * first
    while True:
        inverse, error = _largest_eigenvalue(places, weights, squares, intervals)
        change = abs(inverse - before)
        if change < accuracy * inverse or intervals >= last:
            break
        before, intervals = inverse, 2 * intervals
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


def _centred_squares(points: Float[np.ndarray, "s n r"]) -> Float[np.ndarray, "s n m"]:
    """z_i z_j - 1[i = j] for i <= j, side by side."""
    r = points.shape[-1]
    rows, columns = np.triu_indices(r)
    return points[..., rows] * points[..., columns] - (rows == columns)


def _largest_eigenvalue(
    places: Float[np.ndarray, "s n"],
    weights: Float[np.ndarray, "s n"],
    squares: Float[np.ndarray, "s n m"],
    intervals: int,
) -> tuple[float, float]:
    """1/alpha_c with G in the splines of so many intervals, and its standard error (jackknife).

    E[G M G] is a mean over pairs of different sets of points, so that the noise of one set does not
    add its own square.
    """
    moments = _moments(places, weights, squares, intervals)
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


def _moments(
    places: Float[np.ndarray, "s n"],
    weights: Float[np.ndarray, "s n"],
    squares: Float[np.ndarray, "s n m"],
    intervals: int,
) -> Float[np.ndarray, "s k r r"]:
    """E[B_k(y) (z z^T - 1)] of splines B_k that are orthonormal under the law of y, set by set."""
    first, values = _splines(places, intervals)
    sets, size = len(places), intervals + 3
    weighted = values * (weights / weights.mean())[..., None]
    gram = np.zeros(size * size)
    for i in range(4):
        for j in range(4):
            pair = (first + i) * size + first + j
            gram += np.bincount(
                pair.ravel(), (weighted[..., i] * values[..., j]).ravel(), size * size
            )
    scale, vectors = np.linalg.eigh(gram.reshape(size, size) / places.size)
    kept = scale > NULL_DIRECTION * scale[-1]
    whitening = vectors[:, kept] / np.sqrt(scale[kept])
    place = first + size * np.arange(sets)[:, None]
    sums = np.zeros((squares.shape[-1], sets * size))
    for column, square in zip(sums, np.moveaxis(squares, -1, 0), strict=True):
        for i in range(4):
            values_here = (weighted[..., i] * square).ravel()
            column += np.bincount((place + i).ravel(), values_here, sets * size)
    means = sums.reshape(-1, sets, size) @ whitening / places.shape[1]
    return _symmetric(np.moveaxis(means, 0, -1))


def _symmetric(entries: Float[np.ndarray, "s k m"]) -> Float[np.ndarray, "s k r r"]:
    """Symmetric matrices from their entries on and above the diagonal."""
    r = (math.isqrt(8 * entries.shape[-1] + 1) - 1) // 2
    rows, columns = np.triu_indices(r)
    matrices = np.zeros((*entries.shape[:-1], r, r))
    matrices[..., rows, columns] = matrices[..., columns, rows] = entries
    return matrices


def _splines(
    places: Float[np.ndarray, "s n"], intervals: int
) -> tuple[Int[np.ndarray, "s n"], Float[np.ndarray, "s n 4"]]:
    """The first of the four cubic B-splines on equal intervals at each place, and their values."""
    low, high = float(places.min()), float(places.max())
    scaled = (places - low) * (intervals / max(high - low, VANISHING))
    first = np.minimum(scaled.astype(int), intervals - 1)
    t = scaled - first
    cubes = ((1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3)
    return first, np.stack(cubes, axis=-1) / 6.0
