"""Nodes over the learned coordinates: enough for steep labels and steep rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from giantstep.prediction.wide import nodes, system
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.neurons import neuron_types
from giantstep.prediction.wide.nodes import (
    LEAST_NODES,
    SETTLED,
    kappa_rule,
    node_counts,
    settled_counts,
)
from giantstep.problem.setting import Setting

STEEP = Setting(
    "tanh(2*x1)",
    activation="tanh(z + 0.5)",
    d=113,
    n=1305,
    p=201,
    steps=2,
    start="sphere",
    step_size=[274.0, 574.0],
    ridge=0.1,
    readout_n=1305,
    test_n=10,
)


def test_a_polynomial_label_and_smooth_rows_need_no_more() -> None:
    """The least numbers of nodes serve where Gauss-Hermite is exact for the label."""
    setting = STEEP.vary(target="x1 + He2(x1)/2", activation="tanh", step_size=[2.0, 2.0])
    types = neuron_types(setting)
    assert node_counts(setting, types) == LEAST_NODES[len(types.overlap)]


def test_an_axis_gets_nodes_until_its_moments_settle() -> None:
    """E tanh(4 kappa_2)^2 needs more nodes on the second axis alone."""

    def moments(counts: Sequence[int]) -> np.ndarray:
        kappa, weights = kappa_rule(2, counts=counts)
        return np.array([weights @ np.tanh(4.0 * kappa[:, 1]) ** 2])

    counts = settled_counts((12, 8), moments)
    assert counts[0] == 12
    assert counts[1] > 12
    exact = kappa_rule(1, counts=(2000,))
    expected = float(exact[1] @ np.tanh(4.0 * exact[0][:, 0]) ** 2)
    assert abs(moments(counts)[0] - expected) < SETTLED
    assert abs(moments((12, 8))[0] - expected) > 0.1


def test_an_even_grid_has_the_moments_of_a_normal_variable() -> None:
    """Powers up to eight on 24 points, to 1e-5."""
    kappa, weights = kappa_rule(2, counts=(24, 8))
    found = [float(weights @ kappa[:, 0] ** k) for k in (2, 4, 6, 8)]
    assert np.allclose(found, [1.0, 3.0, 15.0, 105.0], rtol=1e-5)


@pytest.mark.slow
def test_a_steep_label_has_the_error_of_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps on tanh(2 x1): within 0.1 % of 96 x 8 nodes; 12 x 8 nodes are 2 % off."""
    found = losses(STEEP).test
    monkeypatch.setattr(system, "node_counts", lambda *_, **__: (96, 8))
    many = losses(STEEP).test
    monkeypatch.setattr(system, "node_counts", lambda *_, **__: (12, 8))
    few = losses(STEEP).test
    assert abs(found / many - 1.0) < 1e-3
    assert abs(few / many - 1.0) > 0.02


def test_no_axis_grows_beyond_its_bound() -> None:
    """A moment that never settles stops at the largest numbers of nodes."""
    counts = settled_counts((40,), lambda counts: np.array([float(counts[0])]))
    assert 40 < counts[0] <= nodes.MOST_ON_AN_AXIS
