"""What ridge sees of the blocks, against the matrices on the nodes that define it."""

import numpy as np
import pytest

from giantstep.prediction.wide.blocks import Screen, Stack, spread_over

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
