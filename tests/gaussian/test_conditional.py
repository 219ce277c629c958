"""Moments given the learned coordinates against scalar coefficients and brute-force sampling."""

import math

import numpy as np
import pytest

from giantstep.gaussian.moments import feature_moments
from giantstep.gaussian.rules import hermite_values
from giantstep.gaussian.sampling import hermite_averages, multi_indices
from giantstep.prediction.labels import LABEL_SPACING, label_grid, label_moments
from giantstep.problem.activation import make_activation
from giantstep.problem.target import make_target

ACTIVATIONS = ["relu", "tanh", "He1 + He2/2", "leaky_relu", "gelu", "abs(z - 1)", "step(z + 0.3)"]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_feature_moments_are_the_coefficients(name: str) -> None:
    """To 1e-8 at any shift and scale; without the split at the kink relu would be 1e-3 off."""
    activation = make_activation(name)
    shift, scale = np.array([[0.3, -1.2], [2.0, 0.0]]), np.array([[1.1], [0.7]])
    found = feature_moments(activation, shift, scale)
    for i in range(2):
        for j in range(2):
            exact = activation.coefficients(2, scale[i, 0], shift[i, j]).values
            triple = (found.mean[i, j], found.slope[i, j], found.curve[i, j])
            assert triple == pytest.approx(tuple(exact), abs=1e-8)


def test_second_moment_and_rest() -> None:
    found = feature_moments(make_activation("relu"), np.zeros(1), np.ones(1))
    assert found.square[0] == pytest.approx(0.5, abs=1e-12)
    assert found.rest[0] == pytest.approx(0.5 - 1 / (2 * math.pi) - 0.25, abs=1e-12)


def test_label_moments_against_sampling() -> None:
    """Within 4 standard errors of 10^6 samples; of the wrong direction they are far off."""
    target = make_target("x1 + He2(x1)*x2")
    overlap = np.array([[0.8, 0.1]])
    kappa = np.array([[0.7]])
    found = label_moments(target, 0.5, overlap, kappa)
    rng = np.random.default_rng(0)
    covariance = np.eye(2) - overlap.T @ overlap
    z = overlap[0] * 0.7 + rng.multivariate_normal(np.zeros(2), covariance, size=10**6)
    y = target([z[:, 0], z[:, 1]]) + 0.5 * rng.standard_normal(len(z))
    error = y.std() / 1e3
    assert abs(y.mean() - found.mean[0]) < 4 * error
    assert abs(y.mean() - label_moments(target, 0.5, overlap[:, ::-1], kappa).mean[0]) > 20 * error
    square = y**2
    assert abs(square.mean() - found.square[0]) < 4 * square.std() / 1e3
    # Slopes along xi, z - overlap^T kappa = outside^T xi.
    xi = (z - overlap[0] * 0.7) @ np.linalg.inv(found.outside)
    slopes = y[:, None] * xi
    assert np.all(np.abs(slopes.mean(axis=0) - found.slope[0]) < 4 * slopes.std(axis=0) / 1e3)
    assert found.rest[0] > 0.25  # at least the noise


def test_a_known_direction_leaves_no_randomness() -> None:
    target = make_target("x1 + He2(x1)")
    found = label_moments(target, 0.0, np.eye(1), np.array([[0.5], [2.0]]))
    assert found.mean == pytest.approx([0.5 + 0.25 - 1, 2 + 4 - 1])
    assert found.slope.shape == (2, 0)
    assert found.rest == pytest.approx([0.0, 0.0], abs=1e-12)


def test_label_moments_are_sums_over_the_grid() -> None:
    """All nodes together as each alone by the definition, to rounding; h2 is symmetric."""
    target = make_target("tanh(x1 + x2) * x3 + x2^2")
    overlap = np.array([[0.6, -0.3, 0.2]])
    kappa = np.linspace(-2.0, 2.0, 9)[:, None]
    found = label_moments(target, 0.5, overlap, kappa)
    points, weights = label_grid(3, LABEL_SPACING)
    for j, centre in enumerate(kappa @ overlap):
        z = centre + points @ found.outside
        y = target([z[:, k] for k in range(3)])
        close = {"rtol": 1e-10, "atol": 1e-12}
        np.testing.assert_allclose(found.mean[j], weights @ y, **close)
        np.testing.assert_allclose(found.slope[j], (weights * y) @ points, **close)
        products = (points.T * weights * y) @ points - (weights @ y) * np.eye(3)
        np.testing.assert_allclose(found.curve[j], products / np.sqrt(2.0), **close)
        np.testing.assert_allclose(found.square[j], weights @ y**2 + 0.25, **close)
    assert not np.allclose(found.mean, label_moments(target, 0.5, overlap[:, ::-1], kappa).mean)


def test_hermite_averages_are_means_of_products() -> None:
    """Points in parts, common beginnings multiplied once: the mean of each product, to rounding."""
    key = np.random.default_rng(3)
    points, values = key.normal(size=(2, 70, 3)), key.normal(size=(4, 2, 70))
    exponents = multi_indices(3, 4)
    found = hermite_averages(points, values, exponents, at_once=32)
    h = hermite_values(points, 4)
    for m, (i, j, k) in enumerate(exponents):
        product = h[..., 0, i] * h[..., 1, j] * h[..., 2, k]
        np.testing.assert_allclose(found[:, :, m], np.mean(values * product, axis=2), atol=1e-12)
    assert not np.allclose(found, hermite_averages(points[..., ::-1], values, exponents))
