"""Moments of an activation under a normal density that is much wider than its bend."""

import numpy as np
import pytest
from scipy.integrate import quad

from giantstep.gaussian.moments import Piecewise, feature_moments
from giantstep.gaussian.rules import gauss_hermite


def slope(u: np.ndarray) -> np.ndarray:
    """tanh'."""
    return np.cosh(np.clip(u, -300.0, 300.0)) ** -2.0


def exact(shift: float, scale: float, power: int) -> float:
    """E[tanh'(shift + scale z) z^power] as an integral over the preactivation, where it lives."""

    def integrand(u: float) -> float:
        z = (u - shift) / scale
        return float(slope(np.array(u))) * z**power * np.exp(-0.5 * z * z) / scale

    found, _ = quad(integrand, -30.0, 30.0, points=[0.0], limit=400, epsabs=1e-14)
    return found / np.sqrt(2.0 * np.pi)


@pytest.mark.parametrize("scale", [0.5, 1.6, 8.0, 100.0])
@pytest.mark.parametrize("shift", [0.0, 3.0, -20.0])
def test_rows_of_any_length_have_the_moments_of_the_slope(scale: float, shift: float) -> None:
    moments = feature_moments(Piecewise(slope, ()), np.array([shift]), np.array([scale]))
    assert moments.mean[0] == pytest.approx(exact(shift, scale, 0), abs=1e-10)
    assert moments.slope[0] == pytest.approx(exact(shift, scale, 1), abs=1e-10)


def test_gauss_hermite_alone_misses_a_steep_slope() -> None:
    """The wrong variant: 64 nodes lie further apart than the slope is wide."""
    z, weights = gauss_hermite(64)
    assert abs(weights @ slope(8.0 * z) - exact(0.0, 8.0, 0)) > 1e-3
