"""What the claims on training and robustness are made of: the loop, the distances, the refusal."""

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.papers.claims import full_training
from giantstep.papers.claims.full_training import network_error, trained
from giantstep.papers.claims.robustness import flip_distances, target_median
from giantstep.problem.activation import make_activation
from giantstep.problem.setting import Setting
from giantstep.simulation.stepped import stepped_runs

SMALL = Setting(
    "2*tanh(x1)",
    activation="tanh",
    d=4,
    n=60,
    p=3,
    steps=1,
    step_size=1.0,
    output_scale="1",
    start="sphere",
    readout_start="gaussian",
    readout_n=60,
    test_n=200,
)


def test_training_finds_a_target_that_the_network_can_be() -> None:
    """One neuron of weight 2 is the target; two iterations do not find it."""
    step = next(stepped_runs(SMALL))
    network, stopped = trained(step, 1e-6, 5000), trained(step, 1e-6, 2)
    assert network.converged
    assert not stopped.converged
    assert network_error(step, network.weights, network.readout) < 0.01
    assert network_error(step, stopped.weights, stopped.readout) > 0.1


def test_distances_to_known_zeros() -> None:
    """h^2 - 1 is zero at 1: from 3 the distance is 2, for a row of length 2 half of it."""
    activation = make_activation("z^2 - 1")
    h = np.array([[3.0], [1.5]])
    for length, expected in ((1.0, [2.0, 0.5]), (2.0, [1.0, 0.25])):
        gram = np.array([[length**2]])
        distances = flip_distances(h, gram, np.array([0.7]), activation)
        assert distances == pytest.approx(expected, abs=1e-6)
    first = flip_distances(h, np.eye(1), np.array([0.7]), activation, refinements=1)
    assert first[0] == pytest.approx(8.0 / 6.0)


def test_a_linear_output_is_flipped_at_its_distance_from_the_plane() -> None:
    rng = np.random.default_rng(0)
    rows, readout, x = rng.normal(size=(3, 5)), rng.normal(size=3), rng.normal(size=(7, 5))
    direction = readout @ rows
    expected = np.abs(x @ direction) / np.linalg.norm(direction)
    found = flip_distances(x @ rows.T, rows @ rows.T, readout, make_activation("z"))
    assert found == pytest.approx(expected)


def test_distance_of_a_line_is_the_median_of_a_normal() -> None:
    """The median of |x| is 0.6745; a zero at 1 has another."""
    assert target_median(SMALL) == pytest.approx(0.6745, abs=0.03)
    assert target_median(SMALL.vary(target="x1 - 1")) > 0.9


def test_digits_without_scikit_learn_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_training, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs scikit-learn"), full_training.digits():
        pass
