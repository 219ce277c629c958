"""How many samples several steps need at a leap: the recursion of exponents and its solution."""

from fractions import Fraction

import pytest

from giantstep.analysis.phase import cosine_exponent
from giantstep.analysis.step_exponents import batch_exponent, several_steps_exponents


@pytest.mark.parametrize("leap", [1, 2, 3, 4])
@pytest.mark.parametrize("kappa", [1.0, 1.5, 2.25, 3.0, 4.0])
def test_one_step_is_that_of_the_phase_curve(leap: int, kappa: float) -> None:
    assert several_steps_exponents(leap, kappa, 1) == [pytest.approx(cosine_exponent(leap, kappa))]


@pytest.mark.parametrize("leap", [2, 3, 4])
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_the_boundary_is_where_the_last_exponent_reaches_zero(leap: int, steps: int) -> None:
    """The closed form against the recursion; one step fewer, or fewer samples, do not learn."""
    kappa = float(batch_exponent(leap, steps))
    exponents = several_steps_exponents(leap, kappa, steps)
    assert exponents[-1] == 0.0
    assert all(exponent < 0.0 for exponent in exponents[:-1])
    assert several_steps_exponents(leap, kappa - 0.01, steps)[-1] < 0.0


def test_the_guess_that_every_step_counts_alike_is_right_for_leap_two_only() -> None:
    def guess(leap: int, steps: int) -> Fraction:
        return 1 + Fraction(leap - 1, steps)

    assert all(batch_exponent(2, steps) == guess(2, steps) for steps in (1, 2, 3))
    assert batch_exponent(3, 1) == guess(3, 1)
    assert all(batch_exponent(3, steps) > guess(3, steps) for steps in (2, 3))
    # At n = d^2 two steps leave leap three where it was.
    assert several_steps_exponents(3, 2.0, 2) == [-0.5, -0.5]
