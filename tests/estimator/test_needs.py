"""Needed samples, and the fitted function as a target."""

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.estimator.coordinates import plain
from giantstep.estimator.fitted import _moves, fitted_target
from giantstep.estimator.needs import needed_samples
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.steps import clipped, first_order, second_order
from giantstep.gaussian.rules import gauss_hermite
from giantstep.gaussian.series import series_from_grid
from giantstep.problem.target import make_target


@pytest.mark.parametrize(
    ("target", "order"), [("x1", 1), ("tanh(2*x1)", 1), ("x1^2/2 - x2^2/2", 2)]
)
def test_the_overlap_is_one_half_there(target: str, order: int) -> None:
    """Mean over 20 draws at c = 100, within .1: three standard errors at their spread of .12."""
    c, noise = 100, 0.5
    made = make_target(target)
    variance = made.series.variance + made.series.tail
    n = round(needed_samples(made.series, c, noise))
    overlaps = []
    for run in range(20):
        key = np.random.default_rng([1, run])
        z = key.standard_normal((n, c))
        y = made([z[:, j] for j in range(made.r)])
        y = (y - y.mean() + np.sqrt(noise * variance) * key.standard_normal(n))[:, None]
        if order == 1:
            found = first_order(y, plain(z), np.ones(n), 0.02)
        else:
            found = second_order(clipped(y, Recipe()), plain(z), np.ones(n), Recipe())
        overlaps.append(np.sum(found.directions[: made.r, :order] ** 2) / order)
    assert abs(np.mean(overlaps) - 0.5) < 0.1


def test_later_stages_count() -> None:
    """The second stage of x1 + He3(x2) x1 is beyond both steps, that of x1 + x2 x1 is not."""
    assert np.isinf(needed_samples(make_target("x1 + He3(x2)*x1").series, 10, 0.0))
    # First stage: c (1 + a^2)/1; second: what is left is a^2 itself, c a^2/a^2.
    for a in (0.1, 1.0):
        series = make_target(f"x1 + {a}*x2*x1").series
        assert needed_samples(series, 10, 0.0) == pytest.approx(10.0 * (1 + a**2))
    # With noise of the target's variance the second stage decides: c (2 a^2 + 1)/a^2.
    noisy = needed_samples(make_target("x1 + 0.1*x2*x1").series, 10, 1.0)
    assert noisy == pytest.approx(10.0 * (2 * 0.01 + 1.0) / 0.01)


def test_the_fitted_polynomial_drops_what_is_noise() -> None:
    def respond(u: np.ndarray) -> np.ndarray:
        return u[:, 0] + 0.5 * u[:, 0] * u[:, 1] + 0.01 * u[:, 1]

    found = fitted_target(respond, 2, 0.02).series
    assert {tuple(e) for e in found.exponents} == {(1, 0), (1, 1)}
    assert len(fitted_target(respond, 2, 0.001).series.exponents) == 3
    with pytest.raises(InputError, match="standard error"):
        fitted_target(respond, 2, 1.0)


def test_errors_of_centre_and_scale_move_coefficients_as_moved_coordinates_do() -> None:
    """A standard error of 1e-4 (half of it beside the diagonal), differences exact to its square.

    A turn of u_j towards u_i without that of u_i towards u_j is another change.
    """
    rows, rule = 1e8, gauss_hermite(8)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(rule[0], rule[0], indexing="ij")], axis=1)

    def coefficients(u: np.ndarray) -> np.ndarray:
        values = u[:, 0] ** 2 * u[:, 1] + 0.5 * u[:, 0] - u[:, 1] ** 3 + u[:, 0] * u[:, 1]
        tensor = np.zeros((7, 7))
        series = series_from_grid(values.reshape(8, 8), rule, 6)
        tensor[tuple(series.exponents.T)] = series.coefficients
        return tensor

    before = coefficients(grid)
    shifts, turns = np.eye(2) / np.sqrt(rows), np.zeros((3, 2, 2))
    turns[0, 0, 0] = turns[1, 1, 1] = 1.0 / np.sqrt(2.0 * rows)
    turns[2] = (1.0 - np.eye(2)) / np.sqrt(4.0 * rows)
    moved = [grid + shifts[0], grid + grid @ turns[0], grid + shifts[1], grid + grid @ turns[1]]
    moved.append(grid + grid @ turns[2])
    changes = list(_moves(before, rows))
    for change, u in zip(changes, moved, strict=True):
        np.testing.assert_allclose(change, coefficients(u) - before, atol=1e-7)
    half = coefficients(grid + grid @ np.triu(turns[2])) - before
    assert np.abs(changes[-1] - half).max() > 1e-5
