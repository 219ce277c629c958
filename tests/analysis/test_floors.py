"""Floors: closed forms, Monte Carlo of the conditional variance, and the slides' five regimes.

Of a given activation: tests/analysis/test_fitted_degrees.py.
"""

import math

import numpy as np
import pytest

from giantstep import analyze, make_target
from giantstep.analysis.floors import fitted_part, floor

NOTHING = np.zeros((0, 3))


def test_floors_by_hand() -> None:
    # Var: x1 -> 1, x1 x2 -> 1, He2(x2) x3 -> 2, He3(x3) -> 6
    series = make_target("x1 + x1*x2 + He2(x2)*x3 + He3(x3)").series
    nothing = floor(series, NOTHING)
    assert nothing.by_degree == pytest.approx((10, 9, 8, 0))
    line = floor(series, np.eye(3)[:1])
    assert line.narrow == pytest.approx(9)  # E Var(f | x1)
    assert line.by_degree == pytest.approx((9, 8, 8, 0))
    plane = floor(series, np.eye(3)[:2])
    assert plane.by_degree == pytest.approx((8, 6, 6, 0))
    assert floor(series, np.eye(3)).by_degree == pytest.approx((0, 0, 0, 0))


@pytest.mark.parametrize("text", ["staircase", "tanh(x1 + He3(x2))", "relu(x1)*x2 + sign(x1)"])
def test_narrow_floor_is_the_conditional_variance(text: str) -> None:
    """E Var(f | P_U x) by paired samples with a common x_U, within 5 standard errors.

    One comparison a target (level 6e-7); the floor of the orthogonal line is rejected.
    """
    target = make_target(text)
    rng = np.random.default_rng(3)
    line = np.array([[0.8, 0.6]])
    other = np.array([[-0.6, 0.8]])
    inside = rng.standard_normal((500_000, 1))
    one, two = (
        np.asarray(target(list((inside @ line + rng.standard_normal((500_000, 1)) @ other).T)))
        for _ in range(2)
    )
    halves = 0.5 * (one - two) ** 2
    error = halves.std() / math.sqrt(len(halves))
    found, wrong = floor(target.series, line), floor(target.series, other)
    assert abs(halves.mean() - found.narrow) < 5 * error + found.uncertainty
    assert abs(halves.mean() - wrong.narrow) > 5 * error + wrong.uncertainty


def test_five_regimes_of_the_slides() -> None:
    """Labels as they are teach w1, deflated ones w2; their linear part is fitted first."""
    # An activation with coefficients of all degrees.
    analysis = analyze("five-regimes", "softplus(z + 2)")
    found = analysis.as_dict()["regimes"]
    cross, square = "He2(x1)*x2", "He2(x2)*He2(x3)"
    fitted = [set(entry["fitted"].split(" + ")) for entry in found]
    assert fitted == [
        {"x1"},
        {"x1", cross},
        {"x1", "He2(x2)"},
        {"x1", "He2(x2)"},
        {"x1", "He2(x2)", cross, square},
    ]
    assert [entry["learned"] for entry in found] == [["x1"]] * 2 + [["x2"]] * 3
    assert [entry["floor"] for entry in found] == pytest.approx([56, 54, 54, 54, 48])
    assert [entry["floor_any"] for entry in found] == pytest.approx([56, 54, 54, 54, 48])
    # No regime learns what one step on the same labels does not.
    steps = {(s.batch_exponent, s.deflated): s.basis for s in analysis.one_step}
    for regime in analysis.regimes:
        np.testing.assert_array_equal(regime.basis, steps[regime.n_exponent, regime.deflated])


def test_fitted_part_and_floor_make_up_the_variance() -> None:
    series = make_target("x1*x2 + He2(x1 + x2)*x3 + x3^3").series
    basis = np.array([[1.0, 1.0, 0.0]]) / math.sqrt(2)
    for k in range(4):
        fitted = fitted_part(series, basis, k)
        assert fitted.variance + floor(series, basis).by_degree[k] == pytest.approx(series.variance)


def test_truncation_is_part_of_the_floor_until_everything_is_learned() -> None:
    series = make_target("sign(x1)*x2").series
    assert floor(series, np.eye(2)[:1]).uncertainty == pytest.approx(series.tail)
    assert floor(series, np.eye(2)).narrow == pytest.approx(0.0, abs=1e-12)
