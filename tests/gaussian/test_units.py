"""Moments of erf and relu units beside brute-force cubature over four correlated directions."""

import numpy as np
import pytest
from scipy.special import erf

from giantstep.gaussian.cubature import kinked_rule, smooth_rule
from giantstep.gaussian.units import UNITS

ROWS = np.array([[0.9, 0.3, -0.2], [-0.4, 1.1, 0.5], [1.0, 0.0, 0.6], [0.2, -0.7, 0.8]])
"""Two neurons and two more units of three coordinates; neurons are units as well."""

SHARES = np.array([0.7, -1.2, 0.5, 0.9])
LINEAR = np.array([False, False, True, False])
TOLERANCE = 2e-8
"""The arc between equal directions is known to the root of rounding; of the cubature, 1e-9."""


def brute(family: str, linear: np.ndarray) -> dict[str, np.ndarray]:
    """The four moments as sums over points."""
    if family == "relu":
        x, weights = kinked_rule(ROWS, np.zeros(len(ROWS)), 20)
    else:
        x, weights = smooth_rule(3, 0.2)
    u = x @ ROWS.T
    values = np.maximum(u, 0) if family == "relu" else erf(u / np.sqrt(2))
    slopes = (u > 0) * 1.0 if family == "relu" else np.sqrt(2 / np.pi) * np.exp(-(u**2) / 2)
    values, slopes = np.where(linear, u, values), slopes[:, :2]
    total, weighted = values @ SHARES, slopes * weights[:, None]
    return {
        "products": (values * weights[:, None]).T @ values,
        "pull": (weighted * total[:, None]).T @ x,
        "slopes": weighted.T @ slopes,
        "squares": (weighted * total[:, None] ** 2).T @ slopes,
    }


@pytest.mark.parametrize("linear", [LINEAR, ~LINEAR & LINEAR], ids=["one linear", "none"])
@pytest.mark.parametrize("family", UNITS)
def test_moments(family: str, linear: np.ndarray) -> None:
    """Every entry to 2e-8; a covariance of one entry off by 1e-3 is off by more than 1e-6."""
    expected, kind = brute(family, linear), UNITS[family]

    def found(covariance: np.ndarray) -> dict[str, np.ndarray]:
        moments = {
            "products": kind.products(covariance, linear),
            "pull": kind.pull(covariance, SHARES, linear, 2) @ ROWS,
            "slopes": kind.slopes(covariance, 2),
        }
        if kind.squares is not None:
            moments["squares"] = kind.squares(covariance, SHARES, linear, 2)
        return moments

    covariance = ROWS @ ROWS.T
    for name, value in found(covariance).items():
        np.testing.assert_allclose(value, expected[name], atol=TOLERANCE, rtol=0)
    off = covariance.copy()
    off[0, 1] = off[1, 0] = covariance[0, 1] + 1e-3
    for name, value in found(off).items():
        assert np.max(np.abs(value - expected[name])) > 1e-6


@pytest.mark.parametrize("family", UNITS)
def test_coinciding_units_and_several_networks(family: str) -> None:
    """Neurons that are copies of each other have the moments of one; networks do not mix."""
    kind, linear = UNITS[family], np.zeros(4, dtype=bool)
    twins = np.stack([ROWS[[0, 0, 2, 3]], ROWS[[1, 1, 2, 3]], ROWS])
    covariance = twins @ np.swapaxes(twins, 1, 2)
    shares = np.stack([SHARES, SHARES, SHARES])
    pulls = kind.pull(covariance, shares, linear, 2) @ twins
    for k in range(2):
        np.testing.assert_allclose(pulls[k, 0], pulls[k, 1], rtol=1e-7)
    np.testing.assert_allclose(pulls[2], kind.pull(covariance[2], SHARES, linear, 2) @ ROWS)
    if kind.squares is not None:
        squares = kind.squares(covariance, shares, linear, 2)
        np.testing.assert_allclose(squares[0], np.full((2, 2), squares[0, 0, 0]), rtol=1e-12)
        np.testing.assert_allclose(squares[2], kind.squares(covariance[2], SHARES, linear, 2))
