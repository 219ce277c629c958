"""What the claims on the second layer compute: floors, excesses, predicted errors."""

import math

import pytest

from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.floors import LADDER, leak, learned_floor, predicted_error
from giantstep.papers.claims.quantity import FALLS
from giantstep.papers.claims.regimes import FIVE
from giantstep.problem.activation import make_activation
from giantstep.problem.setting import Setting


def test_floors_are_the_weights_of_the_terms_that_are_out_of_reach() -> None:
    # E f^2 - 1 of the staircase given nothing, 2 s t given s = (x1 + x2)/sqrt 2, nothing given V*.
    assert [learned_floor("staircase", t, 0) for t in (0, 1, 2)] == pytest.approx([6, 4, 0])
    # x1 x2 and He2(x2) outside w1; x1 x2 is of degree one there.
    assert [learned_floor(LADDER, 1, k) for k in (0, 1, 2)] == pytest.approx([3, 2, 0])
    # x1, and x1 x2 with He2(x2), without any step.
    assert learned_floor(LADDER, 0, 1) == pytest.approx(3)
    weights = [1.0, 1.0, 1.0, 48 / 1200, 4 / 100]
    assert learned_floor(FIVE, 0, 0) == pytest.approx(sum(weights))


def test_what_leaks_is_the_share_of_the_monomials() -> None:
    # x_i; x_i x_j with i <= j.
    assert leak(6, 12, 1) == pytest.approx(0.5)
    assert leak(39, 12, 2) == pytest.approx(0.5)


def test_where_no_theory_covers_a_setting_there_is_no_predicted_error() -> None:
    assert predicted_error({"target": "x1", "inputs": "uniform"}, d=100, p=4) is None
    found = predicted_error({"target": "x1", "steps": 0, "readout_n": 10_000}, d=1000, p=2)
    # One pair of untrained neurons: E f^2 = 1.
    assert found == pytest.approx(1.0, abs=1e-3)


def test_the_activation_of_the_quadratic_width_has_odd_degrees_beyond_the_line() -> None:
    """softplus(z) = z/2 + log(2 cosh(z/2)), of its control: no coefficient of degree 3, 5, 7."""
    claim = CLAIMS["quadratic-width"]
    odd = make_activation(claim.setting["activation"]).coefficients(7).values[3::2]
    assert abs(odd[0]) > 0.01
    assert abs(make_activation("softplus").coefficients(7).values[3::2]).max() < 1e-9


@pytest.mark.parametrize("size", ["quick", "full"])
def test_what_a_linear_batch_leaves_unlearned_falls_with_the_neurons(size: str) -> None:
    """About (d/n) E y^2 of x1 is left at any p: at a fixed n/d no excess comes down to zero."""
    sizes = getattr(CLAIMS["five-regimes"], size)["sizes"]
    for regime in ((1, 0), (1, 1)):
        smallest, *_, largest = (Setting(FIVE, **fields) for fields in sizes[regime])
        left = (smallest.n / smallest.d) / (largest.n / largest.d)
        assert math.log(left) / math.log(largest.p / smallest.p) < FALLS[1]
