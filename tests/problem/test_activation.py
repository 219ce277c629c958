"""Hermite coefficients of activations against integration by scipy and closed forms."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad

from giantstep.errors import InputError
from giantstep.problem.activation import NAMED, centred, make_activation

WORKING = [name for name in NAMED if name not in ("log", "sqrt")]
EXPRESSIONS = ["He1 + He2/2", "tanh(z + 0.5)", "exp(z - relu(z - 2)) + exp(2)*relu(z - 2)", "z^3"]


def reference(name: str, k: int, scale: float, shift: float) -> float:
    sigma = make_activation(name)

    def integrand(z: float) -> float:
        hermite = np.polynomial.hermite_e.hermeval(z, [0.0] * k + [1.0])
        value = float(sigma(np.array([shift + scale * z]))[0])
        return value * hermite * math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)

    kinks = [(x - shift) / scale for x in (0.0, 2.0) if abs((x - shift) / scale) < 11]
    return quad(integrand, -12, 12, points=kinks, limit=400, epsabs=1e-12, epsrel=1e-12)[0]


@pytest.mark.parametrize("name", [*WORKING, *EXPRESSIONS])
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1.7, 0.4), (-0.6, -1.1)])
def test_coefficients_agree_with_scipy(name: str, scale: float, shift: float) -> None:
    found = make_activation(name).coefficients(5, scale, shift)
    expected = [reference(name, k, scale, shift) for k in range(6)]
    np.testing.assert_allclose(found.values, expected, rtol=1e-8, atol=1e-9)
    assert found.error < 1e-9


@pytest.mark.parametrize("name", ["relu", "abs", "sign", "step", "leaky_relu", "tanh", "erf"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0, 1e6])
def test_coefficients_hold_at_any_scale(name: str, scale: float) -> None:
    # tanh(1e6 z) is a sign, tanh(1e-3 z) a line: a rule blind to the scale misses one of them.
    found = make_activation(name).coefficients(3, scale).values
    limits = {
        "relu": [scale / math.sqrt(2 * math.pi), scale / 2],
        "abs": [scale * math.sqrt(2 / math.pi), 0.0],
        "leaky_relu": [0.99 * scale / math.sqrt(2 * math.pi), 0.505 * scale],
        "sign": [0.0, math.sqrt(2 / math.pi)],
        "step": [0.5, 1 / math.sqrt(2 * math.pi)],
        # b_1(s) = sqrt(2/pi) / sqrt(1 + s^2)
        "erf": [0.0, scale * math.sqrt(2 / math.pi) / math.sqrt(1 + scale**2)],
        "tanh": [0.0, float(found[1])],
    }
    np.testing.assert_allclose(found[:2], limits[name], rtol=1e-11, atol=1e-13)
    if name == "tanh" and scale == 1e6:
        assert found[1] == pytest.approx(math.sqrt(2 / math.pi), rel=1e-9)
    if name == "tanh" and scale == 1e-3:
        assert found[1] == pytest.approx(scale * (1 - scale**2), rel=1e-9)


def test_erf_has_its_closed_form() -> None:
    # b_{2j+1}(s) = sqrt(2/pi) (-1)^j (2j-1)!! (1+s^2)^(-j-1/2)
    s = 1.3
    b = make_activation("erf").derivative_coefficients(7, s).values
    for j, double_factorial in enumerate([1, 1, 3, 15]):
        expected = math.sqrt(2 / math.pi) * (-1) ** j * double_factorial * (1 + s**2) ** (-j - 0.5)
        assert b[2 * j + 1] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("name", [*WORKING, *EXPRESSIONS])
def test_derivative_is_the_slope(name: str) -> None:
    sigma = make_activation(name)
    z = np.linspace(-3.05, 3.1, 42)
    step = 1e-6
    slope = (sigma(z + step) - sigma(z - step)) / (2 * step)
    np.testing.assert_allclose(sigma.derivative(z), slope, atol=1e-6, rtol=1e-6)


def test_callable_reports_its_error() -> None:
    smooth = make_activation(np.tanh)
    named = make_activation("tanh").coefficients(6, 1.4, 0.2)
    found = smooth.coefficients(6, 1.4, 0.2)
    np.testing.assert_allclose(found.values, named.values, atol=1e-12)
    single = make_activation(lambda z: np.tanh(z).astype(np.float32).astype(float))
    rounded = single.coefficients(6, 1.4, 0.2)
    # Single precision is noticed, and the reported error covers the true one.
    deviation = np.max(np.abs(rounded.values - named.values))
    assert deviation < rounded.error
    assert 1e-9 < rounded.error < 1e-2
    np.testing.assert_allclose(smooth.derivative(np.array([0.3])), 1 - np.tanh(0.3) ** 2, rtol=1e-8)


@pytest.mark.parametrize("value", ["", "3", "foo", "x1", "log", "z/0", 7, "1/z"])
def test_bad_activation(value: object) -> None:
    with pytest.raises(InputError, match="activation"):
        make_activation(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*WORKING, *EXPRESSIONS, "z - 1", "-relu(z)", "sin(z) + z^2/100"])
def test_centred_has_no_mean(name: str) -> None:
    """Names and expressions, means of either sign: the same function less its mean."""
    plain, less = make_activation(name), make_activation(centred(name))
    z = np.linspace(-2.0, 2.0, 9)
    np.testing.assert_allclose(plain(z) - less(z), plain.coefficients(0).values[0], atol=1e-14)
    assert abs(less.coefficients(0).values[0]) < 1e-12


JUMPING = ["relu(z) + step(z - 0.5)", "z*sign(z - 1)", "step(z + 1) + z^2"]


@pytest.mark.parametrize("name", [*WORKING, *EXPRESSIONS, *JUMPING])
def test_moments_agree_with_scipy(name: str) -> None:
    """E of sigma, z sigma, sigma^2, and of sigma', z sigma', sigma'^2 almost everywhere."""
    sigma = make_activation(name)

    def mean(function: Callable[[np.ndarray], np.ndarray]) -> float:
        def integrand(z: float) -> float:
            density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
            return float(function(np.array([z]))[0]) * density

        kinks = [-1.0, 0.0, 0.5, 1.0, 2.0]
        return quad(integrand, -14, 14, points=kinks, limit=400, epsabs=1e-12, epsrel=1e-12)[0]

    expected = [
        mean(sigma),
        mean(lambda z: z * sigma(z)),
        mean(lambda z: sigma(z) ** 2),
        mean(sigma.derivative),
        mean(lambda z: z * sigma.derivative(z)),
        mean(lambda z: sigma.derivative(z) ** 2),
        mean(lambda z: z * sigma(z) * sigma.derivative(z)),
    ]
    found = sigma.moments
    product = found.own_pull + found.mean * found.tilt + found.linear * found.slope
    listed = [found.mean, found.linear, found.square, found.slope, found.tilt, found.slope_square]
    listed.append(product)
    np.testing.assert_allclose(listed, expected, rtol=1e-8, atol=1e-9)
    # By parts E sigma' = E[z sigma], unless sigma jumps.
    jumps = name in [*JUMPING, "sign", "step"]
    assert (abs(found.slope - found.linear) > 0.1) == jumps


@pytest.mark.parametrize("text", ["exp(z^2)", "exp(z^2/3)", "1 + z*exp(z^2/2)"])
def test_infinite_moments_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="activation has no finite second moment"):
        make_activation(text)


@pytest.mark.parametrize("text", ["exp(z)", "exp(z^2/5)", "He8", "z^9"])
def test_fast_growth_is_not_infinite(text: str) -> None:
    assert make_activation(text).moments.square > 0
