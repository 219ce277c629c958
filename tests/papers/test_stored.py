"""Stored tables and the figures that are drawn from them."""

import numpy as np

from giantstep.papers.figures.limits import strengths
from giantstep.papers.figures.stored import stored_table


def test_a_table_has_its_columns() -> None:
    table = stored_table("second_strengths")
    assert set(np.unique(table["p"])) == {250.0, 1000.0, 4000.0, 16_000.0}
    assert table["measured_0"].shape == table["run"].shape


def test_the_widest_networks_are_as_predicted() -> None:
    """At p = 16,000 within 5 %; the order before is not the one after."""
    for panel in strengths(False, 0):
        lines = [curve for curve in panel.curves if curve.theory]
        points = [curve for curve in panel.curves if not curve.theory]
        for line, seen in zip(lines, points, strict=True):
            k, j = line.x.index(16_000.0), seen.x.index(16_000.0)
            assert abs(seen.y[j] / line.y[k] - 1.0) < 0.05
        assert points[0].y[-1] > 2.0 * lines[1].y[line.x.index(16_000.0)]
