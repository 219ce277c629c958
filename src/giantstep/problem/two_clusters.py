"""Inputs from two clusters: normal ones around the two ends of a line through the origin."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float


@lru_cache(maxsize=64)
def _monotone_map(
    distance: float, spacing: float = 1e-3, tail: float = 9.0
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Points g and t(g) >= 0 of the increasing function that makes a mixture of a normal.

    P(g > a) = (P(g > t - distance/2) + P(g > t + distance/2))/2 at a = g(t).  Values of t are
    ``spacing`` apart, up to ``tail`` beyond a centre, where one sample in 10^18 is.
    """
    from scipy.special import ndtr, ndtri  # slow to import, and few settings have clusters

    half = 0.5 * abs(distance)
    t = np.arange(0.0, half + tail, spacing)
    g = -ndtri(0.5 * (ndtr(half - t) + ndtr(-half - t)))
    return np.maximum.accumulate(np.maximum(g, 0.0)), t


def mixed(normals: Any, distance: float) -> Any:
    """A mixture of N(-distance/2, 1) and N(distance/2, 1) in equal parts, from normals.

    It is an increasing function of the normal, between tabulated points by straight lines, which
    are off by about 1e-6.
    """
    space = normals.__array_namespace__()
    g, t = _monotone_map(distance)
    size = space.interp(space.abs(normals), space.asarray(g), space.asarray(t))
    return (space.sign(normals) * size).astype(normals.dtype)
