"""Moments of the label given the learned coordinates kappa."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.points import normal_points
from giantstep.gaussian.rules import Rule, gauss_hermite
from giantstep.problem.target import Target

LABEL_SPACING = {1: 0.02, 2: 0.15, 3: 0.4}
"""Between neighbours on each axis, for a label of so many coordinates outside the learned ones."""

FARTHEST = 7.7
"""Radius of the grid over a label's coordinates: the density beyond it is below 1e-13."""


@dataclass(frozen=True)
class LabelMoments:
    """h0 = E[y|kappa], h1 = E[y xi|kappa], h2 = E[y (xi xi^T - 1)|kappa]/sqrt 2 and E[y^2|kappa].

    xi ~ N(0, I) are coordinates of the input along ``outside``: the rows, in target coordinates,
    such that z = overlap^T kappa + outside^T xi.  ``curve`` is h2; the square counts the noise.
    """

    mean: Float[np.ndarray, " m"]
    slope: Float[np.ndarray, "m q"]
    curve: Float[np.ndarray, "m q q"]
    square: Float[np.ndarray, " m"]
    outside: Float[np.ndarray, "q r"]

    @property
    def rest(self) -> Float[np.ndarray, " m"]:
        """Power beyond the linear part: E[y^2|kappa] - h0^2 - |h1|^2."""
        return np.maximum(self.square - self.mean**2 - np.sum(self.slope**2, axis=1), 0.0)


def label_moments(
    target: Target,
    noise: float,
    overlap: Float[np.ndarray, "k r"],
    kappa: Float[np.ndarray, "m k"],
) -> LabelMoments:
    """Moments of y = f(z) + noise given kappa = <v_j, x>, overlap_jk = <v_j, w*_k>, v orthonormal.

    z given kappa is N(overlap^T kappa, I - overlap^T overlap), of rank q.
    """
    outside = outside_of(overlap)
    points, weights = label_grid(len(outside), LABEL_SPACING)
    q, spread = len(outside), outside.T @ points.T
    weighted = weights[:, None] * up_to_pairs(points)
    sums, square = np.empty((len(kappa), weighted.shape[1])), np.empty(len(kappa))
    for part in parts_of(len(kappa), len(points)):
        z = (kappa[part] @ overlap).T[:, :, None] + spread[:, None]
        y = np.asarray(target(list(z.reshape(target.r, -1))), dtype=float).reshape(z.shape[1:])
        sums[part], square[part] = y @ weighted, y**2 @ weights + noise**2
    mean, slope, pairs = split_pairs(sums, q)
    curve = pairs - mean[:, None, None] * np.eye(q)
    return LabelMoments(mean, slope, curve / math.sqrt(2.0), square, outside)


def parts_of(count: int, points: int, at_once: int = 2**16) -> list[slice]:
    """Slices of so many nodes, with ``at_once`` values on the points of each: half a megabyte."""
    size = max(1, at_once // points)
    return [slice(begin, begin + size) for begin in range(0, count, size)]


def up_to_pairs(points: Float[np.ndarray, "m q"]) -> Float[np.ndarray, "m k"]:
    """1, the coordinates, and the products of two of them, each once."""
    i, j = np.triu_indices(points.shape[1])
    return np.column_stack([np.ones(len(points)), points, points[:, i] * points[:, j]])


def split_pairs(
    sums: Float[np.ndarray, "*m k"], q: int
) -> tuple[Float[np.ndarray, "*m"], Float[np.ndarray, "*m q"], Float[np.ndarray, "*m q q"]]:
    """Sums over ``up_to_pairs`` of q coordinates: of 1, of the coordinates, of their products."""
    i, j = np.triu_indices(q)
    products = np.empty((*sums.shape[:-1], q, q))
    products[..., i, j] = products[..., j, i] = sums[..., 1 + q :]
    return sums[..., 0], sums[..., 1 : 1 + q], products


def coordinate_rule(
    counts: Sequence[int], least: float
) -> tuple[Float[np.ndarray, "m k"], Float[np.ndarray, " m"]]:
    """Gauss-Hermite rule for kappa ~ N(0, I_k), ``counts`` nodes an axis, none below ``least``."""
    return tensor_rule([gauss_hermite(count) for count in counts], least)


def tensor_rule(
    rules: Sequence[Rule], least: float
) -> tuple[Float[np.ndarray, "m k"], Float[np.ndarray, " m"]]:
    """All combinations of the nodes of one rule an axis, without weights below ``least``."""
    axes = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    points = np.stack([axis.ravel() for axis in axes], axis=1) if rules else np.zeros((1, 0))
    weights = np.ones(1)
    for _, shares in rules:
        weights = np.multiply.outer(weights, shares).ravel()
    kept = weights >= least
    return points[kept], weights[kept] / weights[kept].sum()


def outside_of(overlap: Float[np.ndarray, "k r"]) -> Float[np.ndarray, "q r"]:
    """Rows whose coordinates xi ~ N(0, I_q) stand beside kappa: a root of I - overlap^T overlap.

    The largest entry of a row is positive: its sign would be that of rounding.
    """
    values, vectors = np.linalg.eigh(np.eye(overlap.shape[1]) - overlap.T @ overlap)
    # Rounding of an overlap matrix that should have unit singular values.
    kept = values > 1e-12
    rows = (vectors[:, kept] * np.sqrt(values[kept])).T
    largest = np.argmax(np.abs(rows), axis=1)[:, None]
    return rows * np.sign(np.take_along_axis(rows, largest, axis=1))


def label_grid(
    dimension: int, spacing: Mapping[int, float]
) -> tuple[Float[np.ndarray, "m q"], Float[np.ndarray, " m"]]:
    """Points and weights for E over N(0, I_q): an even grid of ``spacing[q]``, else Sobol.

    An even grid integrates smooth functions as well as Gauss-Hermite's, and places the jumps of a
    label within its spacing; it is turned, for a jump along its axes would meet all points at once.
    """
    if dimension == 0:
        return np.zeros((1, 0)), np.ones(1)
    if dimension not in spacing:
        points = normal_points(dimension, 0)
        return points, np.full(len(points), 1.0 / len(points))
    half = math.ceil(FARTHEST / spacing[dimension])
    # No point in the origin, where many labels jump.
    x = (np.arange(-half, half) + 0.5) * spacing[dimension]
    axes = np.meshgrid(*([x] * dimension), indexing="ij")
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    square = np.sum(points**2, axis=1)
    weights = np.exp(-0.5 * square[square < FARTHEST**2])
    return points[square < FARTHEST**2] @ _turn(dimension).T, weights / weights.sum()


def _turn(dimension: int) -> Float[np.ndarray, "q q"]:
    """A rotation in general position: the orthogonal factor of square roots less whole numbers."""
    roots = np.sqrt(np.arange(2.0, 2.0 + dimension**2)).reshape(dimension, dimension)
    return np.asarray(np.linalg.qr(roots % 1.0 - 0.5)[0])
