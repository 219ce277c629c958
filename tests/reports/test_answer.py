"""Forms of curves in words, and ticks of axes."""

import numpy as np
import pytest

from giantstep.reports.answer import shape
from giantstep.reports.directions import Curve
from giantstep.reports.svg import diverging, ticks

AT = np.linspace(-2.0, 2.0, 33)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (AT, "follows almost a straight line"),
        (-3.0 * AT, "follows almost a straight line"),
        (np.tanh(2.0 * AT), "rises all the way, on a bent line"),
        (-np.exp(AT), "falls all the way, on a bent line"),
        (np.abs(AT), "has a valley"),
        (-(AT**2), "has a hill"),
        (np.sin(4.0 * AT), "turns 4 times"),
        (np.zeros(33), "is constant on its own"),
        # Wiggles below a tenth of the range are those of a fit.
        (np.tanh(2.0 * AT) + 0.05 * np.sin(20 * AT), "rises all the way, on a bent line"),
    ],
)
def test_the_form_of_a_curve(values: np.ndarray, words: str) -> None:
    curve = Curve(AT, values[None], values[None], values[None])
    assert shape(curve) == words


def test_ticks_are_round_and_inside() -> None:
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(-37.0, 112.0) == pytest.approx([0.0, 50.0, 100.0])


def test_colours_of_labels_go_from_blue_to_orange() -> None:
    assert diverging(-1.0) == diverging(0.0) == "#2166ac"
    assert diverging(0.5) == "#969696"
    assert diverging(2.0) == "#d95f0e"
