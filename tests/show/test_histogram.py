"""Histograms of a bulk: densities, up to the edge, logarithmic where outliers lie far out."""

import numpy as np
import pytest

from giantstep.show.histogram import bulk_histogram, per_unit

VALUES = np.linspace(0.5, 2.0, 1200)


@pytest.mark.parametrize(("outliers", "log"), [((), False), ((5.9,), False), ((6.1,), True)])
def test_heights_are_a_density_on_the_axis_they_are_drawn_on(outliers, log: bool) -> None:
    found = bulk_histogram(VALUES, 2.0, outliers)
    assert found.log is log
    widths = np.diff(np.log(found.bins) if log else found.bins)
    assert float(widths @ found.heights) == pytest.approx(1.0, abs=0.03)
    # Drawn in the other unit the area is another one.
    other = np.diff(found.bins if log else np.log(found.bins))
    assert float(other @ found.heights) != pytest.approx(1.0, abs=0.03)


def test_a_density_is_drawn_in_the_unit_of_the_heights() -> None:
    grid = np.linspace(0.5, 2.0, 7)
    density = np.full(7, 1 / 1.5)
    found = bulk_histogram(VALUES, 2.0, (20.0,))
    middle = np.sqrt(found.bins[1:] * found.bins[:-1])
    drawn = np.interp(middle, grid, per_unit(grid, density, log=True))
    assert found.heights[1:-1] == pytest.approx(drawn[1:-1], rel=0.12)
    assert per_unit(grid, density, log=False) is density


def test_zeros_and_outliers_are_no_part_of_the_bulk() -> None:
    with_others = np.concatenate([VALUES, np.zeros(300), [2.5]])
    bins = bulk_histogram(with_others, 2.0).bins
    assert bins[0] > 0.4
    assert bins[-1] == pytest.approx(2.04)
