"""Moments of features and labels given the learned coordinates kappa.

At linear width the preactivation of a neuron is u.kappa + s z: kappa the coordinates of the input
along the learned directions, z ~ N(0, 1) the rest.  Given kappa, sigma(u.kappa + s z) counts only
through its first Hermite coefficients in z and its second moment (conditional Gaussian
equivalence, arXiv 2305.18270), and so does the label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.activation import Activation
from giantstep.hermite import gauss_hermite, legendre, panel_rule
from giantstep.target import Target
from giantstep.theory.points import normal_points

SMOOTH_NODES = 64
"""Gauss-Hermite nodes for an activation without kinks: tanh(3z) to 1e-5, tanh(z) to 1e-9."""

PANEL_NODES = 32
"""Gauss-Legendre nodes between two kinks; 1e-12 for polynomials times the normal density."""

# The normal density beyond is below 1e-18.
REACH = 9.0

LABEL_NODES = {1: 1024, 2: 96, 3: 32}
"""Nodes an axis for a label of so many coordinates outside the learned ones."""


@dataclass(frozen=True)
class FeatureMoments:
    """E sigma(shift + scale z) times 1, z and z^2 - 1, and E sigma^2, elementwise."""

    mean: Float[np.ndarray, "..."]
    slope: Float[np.ndarray, "..."]
    curve: Float[np.ndarray, "..."]
    square: Float[np.ndarray, "..."]

    @property
    def rest(self) -> Float[np.ndarray, "..."]:
        """Variance beyond the linear part: E sigma^2 - mu0^2 - mu1^2."""
        return np.maximum(self.square - self.mean**2 - self.slope**2, 0.0)


def feature_moments(
    activation: Activation, shift: Float[np.ndarray, "..."], scale: Float[np.ndarray, "..."]
) -> FeatureMoments:
    """Moments in z ~ N(0, 1) of sigma(shift + scale z); kinks of sigma split the quadrature."""
    shift, scale = np.broadcast_arrays(np.asarray(shift, float), np.asarray(scale, float))
    shape = shift.shape
    shift, scale = shift.ravel(), scale.ravel()
    if np.any(scale <= 0):
        raise ValueError(f"scale must be positive, got {scale.min()}")
    found = np.empty((4, shift.size))
    size = max(1, 2**18 // SMOOTH_NODES)  # 2 MB an array: stays in the cache
    for begin in range(0, shift.size, size):
        part = slice(begin, begin + size)
        b, s = shift[part, None], scale[part, None]
        z, weights = _nodes(activation.kinks or (), b, s)
        values = np.asarray(activation(b + s * z), dtype=float)
        weighted = weights * values
        found[0, part] = weighted.sum(axis=1)
        found[1, part] = np.sum(weighted * z, axis=1)
        found[2, part] = np.sum(weighted * (z * z - 1.0), axis=1)
        found[3, part] = np.sum(weighted * values, axis=1)
    return FeatureMoments(*(row.reshape(shape) for row in found))


def _nodes(
    kinks: tuple[float, ...], shift: Float[np.ndarray, "m 1"], scale: Float[np.ndarray, "m 1"]
) -> tuple[Float[np.ndarray, "... q"], Float[np.ndarray, "... q"]]:
    """Nodes and weights for E over z, a row for each shift and scale where there are kinks."""
    if not kinks:
        return gauss_hermite(SMOOTH_NODES)
    inner = np.clip((np.sort(np.array(kinks)) - shift) / scale, -REACH, REACH)
    ends = np.full((len(inner), 1), REACH)
    edges = np.concatenate([-ends, inner, ends], axis=1)
    x, weights = legendre(PANEL_NODES)
    half = 0.5 * (edges[:, 1:] - edges[:, :-1])[:, :, None]
    z = 0.5 * (edges[:, 1:] + edges[:, :-1])[:, :, None] + half * x
    density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
    rows = len(inner)
    return z.reshape(rows, -1), (half * weights * density).reshape(rows, -1)


@dataclass(frozen=True)
class LabelMoments:
    """h0 = E[y|kappa], h1 = E[y xi|kappa] and E[y^2|kappa], the noise counted.

    xi ~ N(0, I) are coordinates of the input along ``outside``: the rows, in target coordinates,
    such that z = overlap^T kappa + outside^T xi.
    """

    mean: Float[np.ndarray, " m"]
    slope: Float[np.ndarray, "m q"]
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
    values, vectors = np.linalg.eigh(np.eye(target.r) - overlap.T @ overlap)
    # Rounding of an overlap matrix that should have unit singular values.
    kept = values > 1e-12
    outside = (vectors[:, kept] * np.sqrt(values[kept])).T
    points, weights = label_grid(len(outside), LABEL_NODES)
    mean, square = np.empty(len(kappa)), np.empty(len(kappa))
    slope = np.empty((len(kappa), len(outside)))
    spread = points @ outside
    for j, centre in enumerate(kappa @ overlap):
        z = centre + spread
        y = np.asarray(target([z[:, k] for k in range(target.r)]), dtype=float)
        mean[j] = weights @ y
        slope[j] = (weights * y) @ points
        square[j] = weights @ y**2 + noise**2
    return LabelMoments(mean, slope, square, outside)


def label_grid(
    dimension: int, nodes: Mapping[int, int]
) -> tuple[Float[np.ndarray, "m q"], Float[np.ndarray, " m"]]:
    """Points and weights for E over N(0, I_q): a tensor rule with ``nodes[q]``, else Sobol."""
    if dimension == 0:
        return np.zeros((1, 0)), np.ones(1)
    if dimension not in nodes:
        points = normal_points(dimension, 0)
        return points, np.full(len(points), 1.0 / len(points))
    # Evenly spread nodes on a line resolve jumps of the label.
    rule = panel_rule if dimension == 1 else gauss_hermite
    x, w = rule(nodes[dimension])
    axes = np.meshgrid(*([x] * dimension), indexing="ij")
    weights = np.prod(np.meshgrid(*([w] * dimension), indexing="ij"), axis=0)
    return np.stack([axis.ravel() for axis in axes], axis=1), weights.ravel()
