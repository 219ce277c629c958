"""The table of kinks: the functions it says they are, and no function with a kink outside it."""

import numpy as np
import pytest

from giantstep.gaussian.kinks import KINKS, kink_coefficients
from giantstep.gaussian.rules import adaptive_coefficients
from giantstep.language.functions import FUNCTIONS, NUMPY
from giantstep.problem.activation import make_activation


@pytest.mark.parametrize("name", list(KINKS))
def test_table_is_the_function(name: str) -> None:
    z = np.array([-2.0, -0.3, 0.1, 1.7])
    kink = KINKS[name]
    expected = kink.step * (z > 0) + kink.ramp * np.maximum(z, 0.0) + kink.line * z + kink.one
    np.testing.assert_allclose(FUNCTIONS[name].value(NUMPY, z), expected, rtol=1e-15)


@pytest.mark.parametrize("name", list(KINKS))
@pytest.mark.parametrize(("scale", "shift"), [(1.3, 0.4), (-0.7, 1.1), (1.0, 0.0)])
def test_closed_form_is_the_integral(name: str, scale: float, shift: float) -> None:
    """To 1e-12 of adaptive quadrature split at the kink; a shift 1e-6 off is told apart."""

    def values(z: np.ndarray) -> np.ndarray:
        return np.asarray(FUNCTIONS[name].value(NUMPY, shift + scale * z))

    expected, _ = adaptive_coefficients(values, 8, [-shift / scale])
    np.testing.assert_allclose(kink_coefficients(name, scale, shift, 8), expected, atol=1e-12)
    off = kink_coefficients(name, scale, shift + 1e-6, 8)
    assert np.max(np.abs(off - expected)) > 1e-7


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("log", "sqrt")])
def test_a_kink_is_in_the_table(name: str) -> None:
    """Values or slopes that differ on the two sides of zero, where every kink lies."""
    activation = make_activation(f"{name}(z)")
    sides = np.array([-1e-9, 1e-9])
    jump = np.ptp(activation(sides)) + np.ptp(activation.derivative(sides))
    assert (jump > 1e-3) == (name in KINKS)
    assert (activation.kinks == (0.0,)) == (name in KINKS)
