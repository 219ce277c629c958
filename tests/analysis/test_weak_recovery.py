"""The threshold of weak recovery: closed forms, and a wrong kernel that they reject."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from jaxtyping import Float

from giantstep import analyze
from giantstep.analysis.weak_recovery import _spline_means, weak_recovery

Columns = Sequence[Float[np.ndarray, " n"]]


def product(z: Columns) -> Float[np.ndarray, " n"]:
    return z[0] * z[1]


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("x1^2", 0.5),  # G(y) = y - 1, E G^2 = 2
        ("He2(x1)", 0.5),
        ("sign(x1*x2)", math.pi**2 / 4),  # G = (2/pi) y times the exchange
        ("sign(x1^2 - x2^2)", math.pi**2 / 4),  # the same, turned by 45 degrees
        ("x1*x2", 0.593751),  # a Bessel integral (arXiv 2405.15480)
        ("x1^2 - x2^2", 0.593751),
        ("abs(x1*x2)", 1.461544),
        # Two values: 1/alpha_c = (2 c phi(c))^2 (1/P + 1/(1 - P)), P = P(|z| > c), here at c = 1.
        ("step(abs(x1) - 1)", 0.317311 * 0.682689 / (2.0 * 0.241971) ** 2),
        ("x1^2 + x2^2", 1.0),  # r/2 for the squared length in r directions: E G^2 = 2/r
        ("x1^2 + x2^2 + x3^2", 1.5),
    ],
)
def test_closed_forms(text: str, threshold: float) -> None:
    """Within the stated uncertainty, and to one percent."""
    found = analyze(text).weak_recovery
    assert found is not None
    assert abs(found.threshold - threshold) <= min(found.uncertainty, 0.01 * threshold)
    assert found.uncertainty < 0.02 * threshold


def test_monotone_transforms_of_the_label_do_not_matter() -> None:
    values = [weak_recovery(f, 2).threshold for f in (product, lambda z: np.tanh(product(z)))]
    assert values[1] == pytest.approx(values[0], rel=2e-3)


def test_trivial_and_impossible() -> None:
    trivial, impossible = analyze("He3(x1)").weak_recovery, analyze("sign(x1*x2*x3)").weak_recovery
    assert trivial is not None
    assert impossible is not None
    assert trivial.threshold == 0.0
    assert impossible.threshold == math.inf
    assert analyze("sign(x1*x2*x3)").as_dict()["weak_recovery"]["threshold"] is None


def test_splines_on_half_as_many_intervals_are_sums_of_finer_ones() -> None:
    """The two-scale relation, at points of their own; means that were shifted by one are seen."""
    rng = np.random.default_rng(5)
    places, weights = rng.standard_normal((2, 3, 400))
    points = rng.standard_normal((3, 400, 2))
    fine, coarse = (_spline_means(places, np.exp(weights), points, size) for size in (12, 6))
    halved = fine.halved()
    assert np.allclose(halved.squares, coarse.squares, rtol=0, atol=1e-13)
    assert np.allclose(halved.gram, coarse.gram, rtol=0, atol=1e-13)
    assert not np.allclose(np.roll(halved.squares, 1, axis=-1), coarse.squares, atol=1e-2)


def test_labels_without_their_points_have_no_threshold() -> None:
    """Wrong variant: labels of other points must not look recoverable."""
    assert weak_recovery(product, 2).threshold == pytest.approx(0.593751, rel=0.01)

    def shuffled(z: Columns) -> Float[np.ndarray, " n"]:
        return np.random.default_rng(0).permutation(product(z))

    assert weak_recovery(shuffled, 2).threshold > 100
