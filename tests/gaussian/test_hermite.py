"""Polynomials, quadrature and series against closed forms and exact rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from giantstep.errors import InputError
from giantstep.gaussian.rules import (
    adaptive_coefficients,
    gauss_hermite,
    hermite_values,
    normal_panels,
    panel_rule,
    split_panels,
)
from giantstep.gaussian.series import HermiteSeries, series_from_grid, series_on_grid, tensor_grid
from giantstep.problem.target import make_target


def random_rotation(r: int, seed: int) -> np.ndarray:
    matrix, upper = np.linalg.qr(np.random.default_rng(seed).standard_normal((r, r)))
    return matrix * np.sign(np.diag(upper))


def random_series(r: int, degree: int, seed: int) -> HermiteSeries:
    rng = np.random.default_rng(seed)
    exponents = np.array([e for e in np.ndindex(*(degree + 1,) * r) if sum(e) <= degree])
    return HermiteSeries(exponents, rng.standard_normal(len(exponents)))


@pytest.mark.parametrize("nodes", [1, 2, 7, 64, 200, 256])
def test_gauss_hermite_integrates_its_polynomials(nodes: int) -> None:
    x, weights = gauss_hermite(nodes)
    assert np.all(np.isfinite(weights))
    degree = min(nodes - 1, 60)
    values = hermite_values(x, degree)
    np.testing.assert_allclose(values.T * weights @ values, np.eye(degree + 1), atol=1e-11)


def test_gauss_hermite_refuses_what_would_overflow() -> None:
    with pytest.raises(InputError, match=r"1\.\.256, got 400"):
        gauss_hermite(400)


def test_panel_rule_is_orthonormal_too() -> None:
    x, weights = panel_rule(896)
    values = hermite_values(x, 20)
    np.testing.assert_allclose(values.T * weights @ values, np.eye(21), atol=1e-10)


def test_normal_panels_split_where_a_function_jumps() -> None:
    """E[1{z > t} z^2] = t phi(t) + P(z > t) for a batch of t, inside, far outside and twice.

    A rule that is not split at t is off by more than 1e-4.
    """
    t = np.array([[-0.3], [1.7], [0.0], [40.0]])
    density = np.exp(-0.5 * t**2) / math.sqrt(2.0 * math.pi)
    expected = t * density + np.array([[0.5 * math.erfc(x / math.sqrt(2.0))] for x in t[:, 0]])
    edges = split_panels(np.concatenate([t, t], axis=1), 2)
    assert edges.shape == (4, 5)
    z, weights = normal_panels(edges, 32)
    assert z.shape == weights.shape == (4, 4 * 32)
    found = np.sum(weights * (z > t) * z**2, axis=1)
    np.testing.assert_allclose(found, expected[:, 0], atol=1e-14)
    blind, blind_weights = normal_panels(split_panels(np.zeros((4, 0)), 2), 32)
    wrong = np.sum(blind_weights * (blind > t) * blind**2, axis=1)
    assert np.all(np.abs(wrong - expected[:, 0])[:2] > 1e-4)
    # Only between the first edge and the last.
    _, part = normal_panels(np.array([0.0, 0.5, 1.0]), 12)
    assert part.sum() == pytest.approx(0.5 * math.erf(math.sqrt(0.5)), abs=1e-15)


def test_adaptive_rule_closes_in_on_a_jump() -> None:
    # E[1{z > t} He_k] = He_{k-1}(t) phi(t)
    t = 0.7324
    values, error = adaptive_coefficients(lambda z: (z > t).astype(float), 6)
    density = math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
    h = hermite_values(np.array(t), 6)
    expected = [0.5 * math.erfc(t / math.sqrt(2))]
    expected += [h[k - 1] * density / math.sqrt(k) for k in range(1, 7)]
    np.testing.assert_allclose(values, expected, atol=1e-13)
    assert error < 1e-12


def test_adaptive_rule_says_when_it_cannot_settle() -> None:
    noise = np.random.default_rng(0)
    values, error = adaptive_coefficients(lambda z: 1e-4 * noise.standard_normal(len(z)), 2)
    assert error > 1e-6
    assert np.all(np.isfinite(values))


def test_polynomials_are_exact() -> None:
    # x^6 = He6 + 15 He4 + 45 He2 + 15, and 2/7 stays 2/7 until the last rounding.
    series = make_target("2/7*x1^6").series
    found = dict(zip(series.exponents[:, 0].tolist(), series.coefficients, strict=True))
    for k, c in {6: 1, 4: 15, 2: 45, 0: 15}.items():
        exact = float(Fraction(2, 7) * c) * math.sqrt(math.factorial(k))
        assert found[k] == pytest.approx(exact, rel=1e-15)


@pytest.mark.parametrize(("r", "degree"), [(1, 12), (2, 9), (3, 6), (4, 4), (5, 3)])
def test_rotation_is_a_change_of_coordinates(r: int, degree: int) -> None:
    series = random_series(r, degree, seed=r)
    for seed in range(3):
        basis = random_rotation(r, seed)
        if seed == 2:
            basis[0] *= -1  # a reflection as well
        turned = series.rotate(basis)
        x = np.random.default_rng(seed).standard_normal((20, r))
        np.testing.assert_allclose(turned.evaluate(x @ basis.T), series.evaluate(x), rtol=1e-9)
        assert np.sum(turned.coefficients**2) == pytest.approx(np.sum(series.coefficients**2))
        # A wrong basis (its transpose) is told apart.
        if r > 2:
            wrong = series.rotate(basis.T)
            assert not np.allclose(wrong.evaluate(x @ basis.T), series.evaluate(x), rtol=1e-3)


def test_rotation_keeps_degrees_apart() -> None:
    series = random_series(3, 5, seed=1)
    turned = series.rotate(random_rotation(3, 5))
    for k in range(6):
        before = np.sum(series.coefficients[series.degrees == k] ** 2)
        after = np.sum(turned.coefficients[turned.degrees == k] ** 2)
        assert after == pytest.approx(before, rel=1e-12)


def test_rotation_stays_sparse_in_many_variables() -> None:
    product = make_target("*".join(f"x{k}" for k in range(1, 21))).series
    basis = np.eye(20)
    basis[:2, :2] = [[0.6, 0.8], [-0.8, 0.6]]
    assert len(product.rotate(basis).coefficients) == 3


def test_rotation_refuses_to_fill_the_memory() -> None:
    series = make_target("*".join(f"x{k}" for k in range(1, 25))).series
    with pytest.raises(InputError, match="Hermite terms"):
        series.rotate(random_rotation(24, 0))


def test_conditioning_is_a_conditional_mean() -> None:
    series = make_target("x1 + He2(x1)*x2 + x2^2 + x1*x3^2 + 2").series
    conditioned = series.condition(1)
    # E[f | x1] = x1 + 0 + 1 + x1 + 2
    x = np.random.default_rng(0).standard_normal((10, 3))
    np.testing.assert_allclose(conditioned.evaluate(x), 2 * x[:, 0] + 3.0, atol=1e-12)
    weight = series.project(1, 1)
    assert weight.degree == 3  # He2(x1)*x2 is of degree one outside x1
    np.testing.assert_allclose(
        weight.evaluate(x), 2 * x[:, 0] + 3.0 + (x[:, 0] ** 2 - 1) * x[:, 1], atol=1e-12
    )


def test_tensor_holds_the_mean_derivatives() -> None:
    series = make_target("3*x1*x2 + He2(x1) + x2").series
    np.testing.assert_allclose(series.tensor(1), [0.0, 1.0], atol=1e-14)
    np.testing.assert_allclose(series.tensor(2), [[2.0, 3.0], [3.0, 0.0]], atol=1e-14)


@given(st.integers(1, 3), st.integers(0, 4), st.integers(0, 10**6))
def test_grid_gives_the_series_back(r: int, degree: int, seed: int) -> None:
    series = random_series(r, degree, seed)
    rule = gauss_hermite(degree + 1)
    again = series_from_grid(series_on_grid(series, rule[0]), rule, degree)
    order = np.lexsort(series.exponents.T[::-1])
    np.testing.assert_allclose(again.coefficients, series.coefficients[order], atol=1e-9)
    assert again.tail < 1e-9


def test_series_on_grid_evaluates() -> None:
    series = random_series(2, 4, seed=0)
    x, _ = gauss_hermite(5)

    def values(columns: list[np.ndarray]) -> np.ndarray:
        points = np.stack([c.ravel() for c in np.broadcast_arrays(*columns)], axis=1)
        return series.evaluate(points).reshape(5, 5)

    grid = tensor_grid(values, 2, x)
    np.testing.assert_allclose(series_on_grid(series, x), grid, rtol=1e-9)
