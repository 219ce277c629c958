"""Moments of features given the learned coordinates kappa.

At linear width the preactivation of a neuron is u.kappa + s z: kappa the coordinates of the input
along the learned directions, z ~ N(0, 1) the rest.  Given kappa, sigma(u.kappa + s z) counts only
through its first Hermite coefficients in z and its second moment (conditional Gaussian
equivalence, arXiv 2305.18270).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import gauss_hermite, normal_panels, split_panels

SMOOTH_NODES = 64
"""Gauss-Hermite nodes for an activation without kinks: tanh(3z) to 1e-5, tanh(z) to 1e-9."""

PANEL_NODES = 32
"""Gauss-Legendre nodes between two kinks; 1e-12 for polynomials times the normal density."""


@runtime_checkable
class Nonlinearity(Protocol):
    """What quadrature needs of an activation: its values, and where it has kinks."""

    @property
    def kinks(self) -> tuple[float, ...] | None: ...
    def __call__(self, z: Any) -> Any: ...


@dataclass(frozen=True)
class Piecewise:
    """A function with the places of its kinks, such as the derivative of an activation."""

    function: Callable[[Any], Any]
    kinks: tuple[float, ...] | None

    def __call__(self, z: Any) -> Any:
        return self.function(z)


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
    activation: Nonlinearity, shift: Float[np.ndarray, "..."], scale: Float[np.ndarray, "..."]
) -> FeatureMoments:
    """Moments in z ~ N(0, 1) of sigma(shift + scale z); kinks of sigma split the quadrature.

    docs/theory/index.md, eq. (9); docs/derivations/equivalence.md, eq. (3).
    """
    shift, scale = np.broadcast_arrays(np.asarray(shift, float), np.asarray(scale, float))
    shape = shift.shape
    shift, scale = shift.ravel(), scale.ravel()
    if np.any(scale <= 0):
        raise ValueError(f"scale must be positive, got {scale.min()}")
    moments = np.empty((4, shift.size))
    size = max(1, 2**18 // SMOOTH_NODES)  # 2 MB an array: stays in the cache
    for begin in range(0, shift.size, size):
        part = slice(begin, begin + size)
        b, s = shift[part, None], scale[part, None]
        z, weights = _nodes(activation.kinks or (), b, s)
        values = np.asarray(activation(b + s * z), dtype=float)
        weighted = weights * values
        moments[0, part] = weighted.sum(axis=1)
        moments[1, part] = np.sum(weighted * z, axis=1)
        moments[2, part] = np.sum(weighted * (z * z - 1.0), axis=1)
        moments[3, part] = np.sum(weighted * values, axis=1)
    return FeatureMoments(*(row.reshape(shape) for row in moments))


def _nodes(
    kinks: tuple[float, ...],
    shift: Float[np.ndarray, "m 1"],
    scale: Float[np.ndarray, "m 1"],
    *,
    steep: float = 1.5,
    bends: tuple[float, ...] = (-12.0, -4.0, -1.0, 0.0, 1.0, 4.0, 12.0),
) -> tuple[Float[np.ndarray, "... q"], Float[np.ndarray, "... q"]]:
    """Nodes and weights for E over z, a row for each shift and scale where panels are split.

    From the scale ``steep`` on an activation without kinks is steep against the normal density
    (tanh'(8z) has a width of 1/8, which 64 nodes miss) and is split at ``bends``: activations bend
    near 0, and are lines beyond the last, to 4e-11 for tanh.
    """
    if not kinks and scale.max() <= steep:
        return gauss_hermite(SMOOTH_NODES)
    return normal_panels(split_panels((np.array(kinks or bends) - shift) / scale), PANEL_NODES)
