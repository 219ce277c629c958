"""What ridge sees of the blocks, against the matrices on the nodes that define it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep.prediction.wide.blocks import Screen, Stack, spread_over
from giantstep.prediction.wide.continuation import solve
from giantstep.prediction.wide.feature_outliers import _coupling, strengths
from giantstep.prediction.wide.fixed_point import Point
from giantstep.prediction.wide.losses import _screened
from giantstep.prediction.wide.readout_samples import ReadoutSamples
from giantstep.prediction.wide.system import closed_system
from giantstep.problem.setting import Setting

# Nodes, types, directions, neurons of a group: fewer and more coefficients than nodes.
SIZES = [(30, 4, 1, 1), (3, 4, 2, 2), (2, 1, 1, 1)]


def drawn(sizes: tuple[int, int, int, int], is_complex: bool) -> Screen:
    """Two blocks with coefficients, weights and resolvents at random."""
    nodes, types, directions, neurons = sizes
    generator = np.random.default_rng(41)
    parts = generator.normal(size=(2, nodes, types, directions, neurons))
    root = generator.normal(size=(types, neurons, neurons))
    turn = np.exp(0.7j) if is_complex else 1.0
    return Screen(
        Stack(parts, np.array([3.0, 50.0]), np.array([0.4, 1.0])),
        turn * 10.0 ** generator.uniform(-3.0, 2.0, nodes),
        100.0 * root @ root.swapaxes(1, 2) / turn,
    )


@pytest.mark.parametrize("is_complex", [False, True], ids=["ridge", "spectrum"])
@pytest.mark.parametrize("sizes", SIZES)
def test_screens_are_inverses_on_the_nodes(sizes, is_complex: bool) -> None:
    """Z = (1 + A D)^-1 with A from its definition, to rounding; without D it is another matrix."""
    screen = drawn(sizes, is_complex)
    for block, dimension in enumerate(screen.stack.dimensions):
        kernel = spread_over(screen.stack.parts[block], screen.counted) / dimension
        nodes = np.eye(len(kernel))
        expected = np.linalg.inv(nodes + kernel * screen.weighted)
        mu = screen.stack.flat[block]
        close = {"rtol": 1e-9, "atol": 1e-12}
        np.testing.assert_allclose(screen.matrices[block], expected, **close)
        np.testing.assert_allclose(screen.answers[block], expected @ kernel, **close)
        np.testing.assert_allclose(screen.screened[block], expected @ mu, **close)
        assert not np.allclose(screen.screened[block], np.linalg.inv(nodes + kernel) @ mu, rtol=0.1)


@pytest.mark.parametrize("is_complex", [False, True], ids=["ridge", "spectrum"])
def test_derivative_of_the_variance(is_complex: bool) -> None:
    """-d(n V)/do is a difference quotient's, whose error is of order 1e-8 for steps of 1e-4."""
    screen = drawn(SIZES[0], is_complex)
    found = screen.variance_by_weight
    for node in (0, 7):
        change = np.zeros(len(screen.weighted))
        change[node] = 1e-4 * abs(screen.weighted[node])
        after, before = (
            Screen(screen.stack, screen.weighted + sign * change, screen.counted).variance
            for sign in (1, -1)
        )
        slope = (before - after) / (2.0 * change[node])
        np.testing.assert_allclose(found[:, node], slope, rtol=1e-6, atol=1e-9)


SETTING = Setting.linear_width("x1 + x1*x2", d=100, start="sphere", readout_start="signs")


@pytest.mark.parametrize("steps", [1, 0], ids=["many nodes", "few nodes"])
def test_coupled_layers_are_solved_in_the_smaller_space(steps: int) -> None:
    """(1 + K D)^-1 h by the definition, to rounding, on more and on fewer nodes than coefficients.

    Without D it is another vector.
    """
    system = closed_system(SETTING)
    if steps == 0:
        system = replace(system, means=np.repeat(system.means, 20, axis=2))
    point = (
        solve(system, 0.1)
        if steps
        else Point(
            system, 0.1, np.full(len(system.weights), 0.7), np.ones((len(system.neurons), 1, 1))
        )
    )
    [*_, part] = sorted(system.coupled, key=lambda part: part.means[0].size)
    assert (part.means[0].size < len(part.means)) == (steps == 1)
    label = np.random.default_rng(steps).normal(size=(system.layers, len(system.weights)))
    kernel = spread_over(part.means, point.counted)
    given = label[part.layers].ravel()
    weights = np.tile(point.weighted, int(np.sum(part.layers)))
    expected = np.linalg.solve(np.eye(len(kernel)) + kernel * weights, given)
    none = np.zeros(len(system.weights))
    samples = ReadoutSamples(
        system, label, none[:, None], none, np.zeros((0, len(none))), system.weights
    )
    found = _screened(point, samples)[part.layers].ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert not np.allclose(found, np.linalg.solve(np.eye(len(kernel)) + kernel, given), rtol=0.1)


def test_strengths_are_the_eigenvalues_on_the_nodes() -> None:
    """Eigenvalues of -D^(1/2) K D^(1/2) outside the spectrum, by the coefficients or the nodes."""
    system = closed_system(SETTING, prune=True)
    point = solve(system, -2.0 * SETTING.p * system.feature_square)
    many = replace(system, means=np.repeat(system.means, 8, axis=2) / math.sqrt(8.0))
    assert system.means[0].size < len(system.means) < many.means[0].size
    expected = np.linalg.eigvalsh(_coupling(point))[::-1]
    for each in (point, replace(point, system=many)):
        found = strengths(each)[: system.means[0].size]
        np.testing.assert_allclose(found, expected[: len(found)], atol=1e-9 * expected[0])
    assert strengths(replace(point, damping=0.5 * point.damping))[0] < 0.6 * expected[0]
