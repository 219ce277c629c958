"""Expectations over a few Gaussian coordinates to near machine precision.

Smooth integrands: the trapezoidal rule on a grid, whose error falls as exp(-2 pi w / spacing) for
a function analytic within the distance w of the real axis.  Kinks and jumps on planes <v, x> = b:
the last coordinate is split where it meets each plane; the inner integral is then smooth except
where two planes meet, which are planes of one dimension less, and so on down.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.rules import REACH, normal_panels, split_panels

MOST_COORDINATES = 3
"""Beyond, a tensor grid has more points than a Sobol sequence needs."""

PointsAndWeights = tuple[Float[np.ndarray, "n q"], Float[np.ndarray, " n"]]


def smooth_rule(dimension: int, spacing: float) -> PointsAndWeights:
    """Grid points inside the ball of radius REACH with their normal weights."""
    half = int(REACH / spacing)
    axis = spacing * np.arange(-half, half + 1)
    grids = np.meshgrid(*([axis] * dimension), indexing="ij")
    points = np.stack([grid.ravel() for grid in grids], axis=1)
    radius = np.sum(points**2, axis=1)
    points, radius = points[radius < REACH**2], radius[radius < REACH**2]
    weights = np.exp(-0.5 * radius)
    return points, weights / weights.sum()


def kinked_rule(
    normals: Float[np.ndarray, "m q"], offsets: Float[np.ndarray, " m"], nodes: int
) -> PointsAndWeights:
    """Points and normal weights exact for functions smooth off the planes <normal, x> = offset."""
    q = normals.shape[1]
    last = normals[:, -1]
    # Planes that are parallel, or nearly along the last coordinate, meet far outside.
    meets = np.abs(last) > VANISHING * np.linalg.norm(normals, axis=1)
    slopes = normals[meets, :-1] / last[meets, None]
    heights = offsets[meets] / last[meets]
    if q == 1:
        points, weights = np.zeros((1, 0)), np.ones(1)
    else:
        pairs = list(combinations(range(len(slopes)), 2))
        meeting = [slopes[i] - slopes[j] for i, j in pairs] + list(normals[~meets, :-1])
        levels = [heights[i] - heights[j] for i, j in pairs] + list(offsets[~meets])
        crossing = [k for k, v in enumerate(meeting) if np.linalg.norm(v) > VANISHING]
        points, weights = kinked_rule(
            np.array([meeting[k] for k in crossing]).reshape(len(crossing), q - 1),
            np.array([levels[k] for k in crossing]),
            nodes,
        )
    # Panels of at most REACH/2 resolve the normal density itself.
    z, inner = normal_panels(split_panels(heights - points @ slopes.T, 4), nodes)
    products = weights[:, None] * inner
    # Far corners and empty panels carry nothing.
    kept = products > 1e-20
    outer = np.nonzero(kept)[0]
    return np.concatenate([points[outer], z[kept][:, None]], axis=1), products[kept]
