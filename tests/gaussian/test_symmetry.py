"""Symmetries of a function, the zeros they force, and sampled coefficients with their errors."""

import math

import numpy as np
import pytest

from giantstep import make_target
from giantstep.gaussian.sampling import sampled_series, sampled_values
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.symmetry import symmetrise


def test_symmetries_of_a_product() -> None:
    target = make_target("tanh(x1*x2) + x3")
    found = {(s.order, s.flips): s.chi for s in target.symmetries}
    assert found[(0, 1, 2), (-1, -1, 1)] == 1
    assert found[(1, 0, 2), (1, 1, 1)] == 1
    assert found[(0, 1, 2), (-1, 1, -1)] == -1
    assert ((0, 1, 2), (-1, 1, 1)) not in found


def test_a_kink_far_out_breaks_the_symmetry() -> None:
    assert not make_target("x1^2 + relu(x1 - 4)").symmetries


def test_a_jump_that_hardly_moves_breaks_the_symmetry() -> None:
    """sign(x1 + x2*x3/1000) is the same at nearly all points when x2 is flipped."""
    flips = {s.flips for s in make_target("sign(x1 + x2*x3/1000)").symmetries}
    assert (1, -1, 1) not in flips
    assert (1, -1, -1) in flips


def test_forbidden_coefficients_are_zero_and_orbits_equal() -> None:
    target = make_target("tanh(x1*x2) + x3")
    rng = np.random.default_rng(0)
    exponents = np.array([[i, j, k] for i in range(3) for j in range(3) for k in range(3)])
    series = symmetrise(HermiteSeries(exponents, rng.standard_normal(27)), target.symmetries)
    known = dict(zip(map(tuple, exponents.tolist()), series.coefficients, strict=True))
    assert known[1, 0, 0] == known[0, 1, 2] == known[0, 0, 2] == 0
    assert known[1, 1, 0] != 0
    assert known[2, 0, 1] == known[0, 2, 1] != 0


@pytest.mark.parametrize("text", ["tanh(x1 + He3(x2))", "sin(x1*x2 + x3)"])
def test_sampled_coefficients_are_the_exact_ones_within_their_errors(text: str) -> None:
    """Some 200 comparisons with a grid at 9 standard errors of 15 degrees of freedom (level 4e-5).

    A coefficient shifted by 30 of its standard errors is rejected.
    """
    target = make_target(text)
    points, values = sampled_values(target, target.r)
    sampled = sampled_series(points, values, target.symmetries)
    exact = target.series
    known = dict(zip(map(tuple, exact.exponents.tolist()), exact.coefficients, strict=True))
    wanted = np.array([known.get(tuple(alpha), 0.0) for alpha in sampled.exponents.tolist()])
    errors = sampled.standard_errors + 1e-12
    deviations = np.abs(sampled.coefficients - wanted) / errors
    assert np.max(deviations) < 9
    assert np.max(np.abs(sampled.coefficients - wanted - 30 * errors) / errors) > 9
    assert math.isclose(
        float(np.sum(sampled.coefficients**2)) + sampled.tail,
        float(np.sum(exact.coefficients**2)) + exact.tail,
        rel_tol=1e-2,
    )
