"""The matrices that two fresh steps share with all rows, and the errors of readouts after them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantstep.prediction.predict import predict
from giantstep.prediction.wide import row_law
from giantstep.prediction.wide.both_steps import (
    learned_of,
    matrix_of_both,
    special_coordinates,
    two_classes,
)
from giantstep.prediction.wide.gradient import GradientMatrix, gradient_matrix
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.row_law import RowLaw, law_of_features
from giantstep.prediction.wide.step import learned_step
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

SETTING = Setting(
    "0.7*x1 + x1*x2",
    activation="gelu",
    d=100,
    n="3.7d",
    p="1.8d",
    steps=2,
    output_scale="1/sqrt(p)",
    start="sphere",
    readout_start="signs",
    residual="labels",
    step_size=[19.5, 17.5],
    ridge=0.02,
    readout_n="2.7d",
    test_n=1000,
    seed=8841,
)
ENTRIES = np.array([[-1.0], [1.0]])


def even_noise(*given: object) -> tuple[RowLaw, GradientMatrix]:
    """The law after two steps with noise that is the same in all directions."""
    law = given[1]
    assert isinstance(law, RowLaw)
    return law, GradientMatrix.even(len(law.overlap) + law.overlap.shape[1])


def test_a_vanishing_second_step_leaves_the_matrix_of_the_first() -> None:
    """Special directions, their rests and the share of the noise are those of eq. (8), one step."""
    both = SETTING.vary(step_size=[19.5, 1e-9])
    one = both.vary(steps=1, step_size=19.5)
    law, matrix = law_of_features(both, ENTRIES)
    expected_law, _ = law_of_features(one, ENTRIES)
    expected = gradient_matrix(one, learned_step(one))
    size = expected.special
    assert matrix.special == size
    assert law.linear_share == pytest.approx(abs(expected_law.linear_share), rel=1e-4)
    turned = expected_law.linear_share * expected_law.noise
    label = expected.on_special[:size, :size]
    carried = expected_law.kept[..., None, None] * np.eye(size) + turned[..., None, None] * label
    # Directions are known up to their sign.
    flip = np.diag(
        np.concatenate([np.sign(law.overlap[:, 0] * expected_law.overlap[:, 0]), [1, 1]])
    )
    assert np.allclose(flip @ matrix.carried @ flip, carried, atol=2e-3)
    rest = expected.on_special[:size, size : 2 * size]
    found = matrix.on_special[:size, size : 2 * size]
    assert np.allclose(flip @ found @ flip, np.sign(expected_law.linear_share) * rest, atol=5e-3)


def test_a_readout_of_nothing_turns_nothing() -> None:
    """What the start of a row becomes on special directions is the start itself at u near 0."""
    network = Network(SETTING.vary(readout_start="gaussian"))
    u = network.readout[0]
    overlap, shares = np.array([[0.8, 0.0]]), np.zeros((len(u), 1))
    matrix, carried, strength = matrix_of_both(network, learned_of(network, overlap, shares))
    least = int(np.argmin(np.abs(u)))
    assert strength > 0.0
    assert matrix.special == 3
    assert np.max(np.abs(carried[least] - np.eye(3))) < 2 * abs(u[least])


def test_special_coordinates_are_those_of_orthonormal_directions() -> None:
    """Coordinates of unit covariance, for overlaps of two directions with the target."""
    overlap = np.array([[0.8, 0.1], [0.0, -0.5]])
    coordinates = special_coordinates(overlap)
    # Covariance of (z, kappa) for orthonormal v and w*.
    covariance = np.block([[np.eye(2), overlap.T], [overlap, np.eye(2)]])
    assert np.allclose(coordinates @ covariance @ coordinates.T, np.eye(4))


def test_two_classes_have_three_moments() -> None:
    """Mean 0, square 1 and third moment sqrt(delta) mu_3; the square of the noise has mean 1."""
    values, squares, shares = two_classes(0.7, 0.5)
    assert shares.sum() == pytest.approx(1.0)
    assert shares @ values == pytest.approx(0.0, abs=1e-12)
    assert shares @ values**2 == pytest.approx(1.0)
    assert shares @ values**3 == pytest.approx(0.7 * math.sqrt(0.5))
    assert shares @ squares == pytest.approx(1.0)


@pytest.mark.sentinel
@pytest.mark.law
def test_errors_after_two_steps_are_those_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean test error of 200 runs at d = 100: one comparison, 3 standard errors and 2 % left out.

    Rejected: noise that is the same in all directions, and a start that the steps do not turn.
    """
    setting = SETTING.vary(
        target="x1 + 0.5*x2 + He2(x1)/1.4",
        n=209,
        p=60,
        output_scale="1",
        readout_start="gaussian",
        residual="full",
        step_size=[6.62, 8.13],
        ridge=0.319,
        readout_n=216,
        runs=200,
    )
    errors = simulate(setting).test_error
    assert errors is not None
    found = errors[:, 2].mean()
    allowed = 3 * errors[:, 2].std(ddof=1) / math.sqrt(len(errors)) + 0.02 * found

    def predicted() -> float:
        values = predict(setting, theory="linear-width").test_error
        assert values is not None
        return float(values[:, 2].mean())

    assert abs(found - predicted()) < allowed
    monkeypatch.setattr(row_law, "_with_both_steps", even_noise)
    assert abs(found - predicted()) > allowed
