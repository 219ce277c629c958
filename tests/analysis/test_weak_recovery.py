"""The threshold of weak recovery: closed forms, and a wrong kernel that they reject."""

import math

import numpy as np
import pytest

from giantstep import analyze
from giantstep.analysis.weak_recovery import weak_recovery
from giantstep.gaussian.points import lattice_points


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("x1^2", 0.5),  # G(y) = y - 1, E G^2 = 2
        ("He2(x1)", 0.5),
        ("sign(x1*x2)", math.pi**2 / 4),  # G = (2/pi) y times the exchange
        ("sign(x1^2 - x2^2)", math.pi**2 / 4),  # the same, turned by 45 degrees
    ],
)
def test_closed_forms(text: str, threshold: float) -> None:
    found = analyze(text).weak_recovery
    assert found is not None
    assert abs(found.threshold - threshold) <= found.uncertainty
    assert found.uncertainty < 0.05 * threshold


def test_trivial_and_impossible() -> None:
    trivial, impossible = analyze("He3(x1)").weak_recovery, analyze("sign(x1*x2*x3)").weak_recovery
    assert trivial is not None
    assert impossible is not None
    assert trivial.threshold == 0.0
    assert impossible.threshold == math.inf
    assert analyze("sign(x1*x2*x3)").as_dict()["weak_recovery"]["threshold"] is None


def test_labels_without_their_points_have_no_threshold() -> None:
    """Wrong variant: labels of other points must not look recoverable."""
    points = lattice_points(2)
    labels = np.sign(points[..., 0] * points[..., 1])
    assert weak_recovery(points, labels).threshold == pytest.approx(math.pi**2 / 4, rel=0.02)
    shuffled = np.random.default_rng(0).permutation(labels.ravel()).reshape(labels.shape)
    assert weak_recovery(points, shuffled).threshold > 100
