"""Candidate directions and their tests against noise."""

import math

import numpy as np
import pytest

from giantstep.estimator.coordinates import Turn, Turned, plain
from giantstep.estimator.moments import largest, weighed
from giantstep.estimator.network import SpanFitter
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.refine import refined, turned
from giantstep.estimator.steps import first_order, label_slices, noise_edge, second_order

LEVEL = 0.1
RUNS = 200
# Standard error of a rate of LEVEL over RUNS draws; the tests allow three.
ERROR = np.sqrt(LEVEL * (1 - LEVEL) / RUNS)


@pytest.mark.parametrize("rows", [2, 5])
def test_noise_passes_the_edge_at_its_level(rows: int) -> None:
    """200 Gaussian matrices of 30 columns, level 10 %; one of variance 1.2 is rejected."""
    edge = noise_edge(rows, 30, LEVEL)
    found = np.array(
        [
            np.linalg.norm(np.random.default_rng(run).standard_normal((rows, 30)), 2)
            for run in range(RUNS)
        ]
    )
    assert abs(np.mean(found > edge) - LEVEL) < 3 * ERROR
    assert abs(np.mean(1.2**0.5 * found > edge) - LEVEL) > 3 * ERROR


def test_first_order_finds_the_gradient() -> None:
    key = np.random.default_rng(0)
    z = key.standard_normal((2000, 20))
    y = (z[:, 3] + 0.5 * key.standard_normal(2000))[:, None]
    found = first_order(y, plain(z), np.ones(2000), 0.01)
    assert abs(found.directions[3, 0]) > 0.98
    assert found.statistics[0] > found.edge
    noise = first_order(key.permutation(y), plain(z), np.ones(2000), 0.01)
    assert noise.statistics[0] < noise.edge


def test_label_slices_see_what_the_label_itself_does_not() -> None:
    """E[y z] = 0 for y = He3(z): the first order fails, a transform of the label does not."""
    z = np.random.default_rng(1).standard_normal((4000, 20))
    y = (z[:, 0] ** 3 - 3 * z[:, 0])[:, None]
    weight = np.ones(4000)
    sliced = first_order(label_slices(y, weight, Recipe()), plain(z), weight, 0.01)
    assert abs(sliced.directions[0, 0]) > 0.9
    assert abs(first_order(y, plain(z), weight, 0.01).directions[0, 0]) < 0.9


def test_rows_in_single_precision_have_the_same_moments() -> None:
    """Permutations use them: the largest eigenvalue agrees to the rounding of float32."""
    key = np.random.default_rng(7)
    turn = Turn(np.linalg.qr(key.standard_normal((9, 6)))[0], np.arange(1.0, 7.0))
    z = Turned(key.standard_normal((300, 9)), turn).without(np.eye(6, 1))
    columns = weighed(key.standard_normal((300, 2)), np.ones(300))
    single = z.single()
    assert single.columns.dtype == np.float32
    np.testing.assert_allclose(largest(columns, single, 100), largest(columns, z, 100), rtol=1e-5)
    # Beyond one block the rows are not formed, and only their columns change their type.
    many = Turned(np.ones((2**20, 9)), turn).single()
    assert many.turn is turn
    assert many.columns.dtype == np.float32


def test_second_order_finds_a_saddle_and_tests_it() -> None:
    key = np.random.default_rng(2)
    z = key.standard_normal((2000, 20))
    y = (z[:, 0] ** 2 - z[:, 1] ** 2)[:, None]
    found = second_order(y, plain(z), np.ones(2000), Recipe())
    assert np.sum(found.directions[:2, :2] ** 2) > 1.9
    assert found.count == 2
    assert found.statistics[1] > found.noise(0.01, math.inf) > found.statistics[2]


def test_second_order_keeps_its_level_on_skewed_columns() -> None:
    """100 draws of noise at level 10 %: 2 to 19 beyond (binomial tails below .003).

    The edge of the semicircle, which knows nothing of tails, is exceeded far more often.
    """
    beyond = rough = 0
    for run in range(100):
        key = np.random.default_rng([3, run])
        z = np.exp(key.standard_normal((150, 15)))
        z = (z - z.mean(axis=0)) / z.std(axis=0)
        found = second_order(key.standard_normal((150, 1)), plain(z), np.ones(150), Recipe())
        beyond += found.statistics[0] > found.noise(LEVEL, math.inf)
        rough += found.statistics[0] > found.edge
    assert 2 <= beyond <= 19 < rough


def test_a_giant_step_turns_the_span_to_the_target() -> None:
    key = np.random.default_rng(4)
    z = key.standard_normal((1000, 10))
    y = np.tanh(2 * z[:, :1]) + 0.1 * key.standard_normal((1000, 1))
    start = np.linalg.qr(np.eye(10)[:, :1] + 0.3 * key.standard_normal((10, 1)))[0]
    fitter = SpanFitter(plain(z), y, np.ones(1000), 0, Recipe())
    model = fitter.fit(start)
    first = next(turned(fitter, model))
    assert start[0, 0] ** 2 < 0.8
    assert first[0, 0] ** 2 > 0.9
    better = refined(fitter, model, 6)
    assert better.basis[0, 0] ** 2 > 0.998
    assert better.error < model.error


def test_gradients_are_those_of_the_readout() -> None:
    key = np.random.default_rng(6)
    z, y = key.standard_normal((300, 4)), key.standard_normal((300, 2))
    model = SpanFitter(plain(z), y, np.ones(300), 0, Recipe()).fit(np.eye(4)[:, :2])
    # The kinks go through the first rows.
    at, step = z[200:205], 1e-6
    slopes = model.gradient(plain(at))
    for j in range(2):
        shift = step * np.eye(4)[j]
        differences = (model.predict(plain(at + shift)) - model.predict(plain(at - shift))) / (
            2 * step
        )
        np.testing.assert_allclose(slopes[:, :, j], differences, atol=1e-6)
