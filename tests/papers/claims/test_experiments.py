"""What the claims measure of a network: neuron by neuron, not the span of its rows."""

import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep.papers.claims.experiments import (
    neurons,
    not_learned,
    over_sizes,
    strongest,
    weakest,
    with_runs,
)
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

PLANE = [[1.0, 0.0], [0.0, 1.0]]


def trained(step_size: str) -> Trajectory:
    return simulate(
        Setting(
            target="He2(x1) + He2(x2)/2",
            activation="relu",
            d=100,
            n="8*d^2",
            p=8,
            step_size=step_size,
            readout_n=0,
            test_n=0,
            runs=4,
        )
    )


def test_neurons_see_the_size_of_the_step_and_the_span_of_the_rows_does_not() -> None:
    """At leap 2 a step of .04 p leaves the neurons where they started, one of 4 p d^(1/2) not."""
    small, large = trained("0.04*p"), trained("4*p*d^0.5")
    spans = [run.principal_cosines(np.eye(2))[:, 1] for run in (small, large)]
    np.testing.assert_allclose(*spans, atol=1e-6)
    for statistic in (neurons(PLANE, 1), weakest(PLANE, 1)):
        assert np.median(statistic(large)) > 2 * np.median(statistic(small))
    np.testing.assert_allclose(neurons(PLANE, 0)(small), neurons(PLANE, 1)(small), rtol=0.2)


def test_statistics_are_those_of_the_cosines() -> None:
    """Two neurons on w1, two halfway to w2."""
    found = trained("p")
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [3.0, 4.0], [3.0, -4.0]]) / 5.0
    cosines = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    overlap = np.zeros_like(found.overlap)
    overlap[:, 1, :4] = cosines
    overlap[:, 1, 4:] = cosines
    made = replace(found, overlap=overlap, norms=np.ones_like(found.norms))
    assert neurons([[1.0, 0.0]], 1)(made) == pytest.approx(0.8)
    # Columns are orthogonal: root mean squares of (1, 1, .6, .6) and (0, 0, .8, .8).
    assert strongest(PLANE, 1)(made) == pytest.approx(math.sqrt((2 + 0.72) / 4))
    assert weakest(PLANE, 1)(made) == pytest.approx(math.sqrt(1.28 / 4))


def test_the_noise_of_the_gradient_has_five_times_the_squared_cosine_for_he2() -> None:
    """E[y^2 z^2]/E[y^2] of y = He2(z), from the moments 1, 3, 15 of z^2, z^4, z^6."""
    assert (15 - 2 * 3 + 1) / 2 == 5
    sizes, values = (100, 10_000), [[0.1, 0.11], [0.01, 0.011]]
    five, one = (
        not_learned("cosine", None, noise=noise).quantity(sizes, [np.array(v) for v in values])
        for noise in (5.0, 1.0)
    )
    assert five.allowance - one.allowance == pytest.approx(0.5 * math.log(5) / math.log(100))


def test_runs_are_the_same_at_every_size_or_one_number_a_size() -> None:
    assert with_runs((10, 20), 3) == [(10, 3), (20, 3)]
    assert with_runs((10, 20), (4, 2)) == [(10, 4), (20, 2)]
    with pytest.raises(ValueError, match="shorter"):
        with_runs((10, 20), (4,))
    setting = {"target": "x1", "activation": "relu", "n": "4d", "p": 4, "steps": 1}
    [few], [more] = (
        over_sizes(setting, (50,), runs, {"cosine": neurons([[1.0]], 1)})["cosine"]
        for runs in (2, (5,))
    )
    assert len(more) == 5
    np.testing.assert_array_equal(more[:2], few)
