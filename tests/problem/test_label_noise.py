"""Labels with noise: what is added, what is flipped, what can still be predicted."""

import math

import numpy as np
import pytest

from giantstep.problem.label_noise import LabelNoise

CLEAN, NORMALS = np.array([1.0, -2.0, 3.0]), np.array([0.5, -1.5, -0.1])


def test_noise_is_added() -> None:
    assert not LabelNoise(0.0, 0.0)
    assert LabelNoise(0.1, 0.0)
    assert np.array_equal(LabelNoise(2.0, 0.0).labels(CLEAN, NORMALS), [2.0, -5.0, 2.8])


def test_the_share_below_its_quantile_is_flipped() -> None:
    """P(z < -1) = 0.1587 and P(z < 0) = 1/2."""
    share = 0.5 * math.erfc(1 / math.sqrt(2))
    assert LabelNoise(0.0, share)
    assert np.array_equal(LabelNoise(0.0, share).labels(CLEAN, NORMALS), [1.0, 2.0, 3.0])
    assert np.array_equal(LabelNoise(0.0, 0.5).labels(CLEAN, NORMALS), [1.0, 2.0, -3.0])
    assert np.array_equal(LabelNoise(0.0, 1.0).labels(CLEAN, NORMALS), -CLEAN)


@pytest.mark.parametrize(
    ("noise", "corruption", "floor"),
    [(0.0, 0.0, 1.0), (0.5, 0.0, 1.25), (0.0, 0.5, 4.0), (0.0, 1.0, 1.0), (0.0, 0.25, 3.25)],
)
def test_the_floor_counts_the_noise(noise: float, corruption: float, floor: float) -> None:
    """E f^2 = 4, of which 3 can be predicted from clean labels."""
    assert LabelNoise(noise, corruption).floor(1.0, power=4.0) == pytest.approx(floor)


def test_signs_have_the_target_for_their_mean() -> None:
    """P(z < 0.5) = 0.691: y = 1 below the quantile (1 + f)/2 of its normal variable."""
    signs, f = LabelNoise(0.0, 0.0, signs=True), np.array([0.38, 0.39, -1.0, 1.0])
    assert signs
    assert np.array_equal(signs.labels(f, np.full(4, 0.5)), [-1.0, 1.0, -1.0, 1.0])
    assert signs.labels(f.astype(np.float32), np.zeros(4, np.float32)).dtype == np.float32
    assert signs.mean_square(0.4) == 1.0
    assert signs.floor(0.1, power=0.4) == pytest.approx(0.7)
