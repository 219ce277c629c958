"""How points of the label share their mass over a grid of residuals."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.prediction.wide.samples import _shared


def sums_point_by_point(grid, residual, counted):
    """The same sums, one point after the other: linear between neighbours, all of it at an end."""
    sums = np.zeros((3, len(grid), counted.shape[1]))
    for r, row in zip(residual, counted, strict=True):
        at = np.interp(r, grid, np.arange(len(grid)))
        below = min(int(at), len(grid) - 2)
        for power in range(3):
            sums[power, below] += (1.0 - (at - below)) * r**power * row
            sums[power, below + 1] += (at - below) * r**power * row
    return sums


@pytest.mark.parametrize("empty", [False, True], ids=["all cells", "empty cells"])
def test_points_share_their_mass_between_neighbours(empty):
    """Also points beyond both ends, and on the grid; another share of a point is rejected."""
    rng = np.random.default_rng(3)
    grid = np.sinh(np.linspace(-2.0, 3.0, 9))
    residual = np.concatenate([rng.uniform(-5.0, 12.0, 200), grid])
    if empty:
        residual = residual[(residual < grid[3]) | (residual > grid[6])]
    counted = rng.standard_normal((len(residual), 4))
    sums = _shared(grid, residual, counted)
    expected = sums_point_by_point(grid, residual, counted)
    assert np.allclose(sums, expected, rtol=0.0, atol=1e-11)
    even = np.linspace(grid[0], grid[-1], len(grid))
    assert not np.allclose(sums, sums_point_by_point(even, residual, counted), atol=1e-3)
    # No mass is lost.
    assert np.allclose(sums[0].sum(axis=0), counted.sum(axis=0), atol=1e-11)
