"""What the claims on spikes, limiting losses and the second step's strengths are made of."""

import math

import numpy as np
import pytest

from giantstep import Setting
from giantstep.papers.claims.expansions import _least_squares, predicted_parts
from giantstep.papers.claims.weight_outliers import NETWORK
from giantstep.papers.claims.wide import WIDE, features_of, readout_scatter
from giantstep.prediction.wide.outlier_count import with_exponents
from giantstep.prediction.wide.step import learned_step
from giantstep.prediction.wide.strong_spikes import limiting_losses
from giantstep.prediction.wide.update import second_strengths
from giantstep.problem.activation import centred
from giantstep.simulation.feature_models import longer_rows
from giantstep.simulation.stepped import stepped_runs

SMOOTH = WIDE | {"activation": centred("gelu(z)"), "residual": "labels", "test_n": 10}


def test_least_squares_finds_what_a_matrix_is_made_of() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(3, 7)), rng.normal(size=(3, 5))
    matrix = left.T @ np.diag([2.0, -1.0, 0.5]) @ right
    assert _least_squares(matrix, left, right) == pytest.approx([2.0, -1.0, 0.5])


def test_parts_of_the_features_tend_to_the_papers_and_one_more() -> None:
    """At eta a -> 0 all coefficients are 1; at n = 1000 the second is not yet."""
    far = predicted_parts(Setting(**SMOOTH | {"d": 10**10, "step_size": "n^0.3"}), 2)
    assert far == pytest.approx([1.0, 1.0, 1.0], abs=1e-3)
    near = predicted_parts(Setting(**SMOOTH | {"d": 250, "step_size": "n^0.3"}), 2)
    assert near[1] < 0.9 < 1.1 < near[2]


def test_rows_are_longer_by_what_the_constant_holds() -> None:
    """|W1 - W0|^2 = eta^2 c_1^2 |a|^2 |beta|^2 + ds |a|^2 to 5 %; without ds it is 20 % off."""
    setting = Setting(**SMOOTH | {"d": 200, "step_size": 3.0, "readout_n": 10})
    [step] = stepped_runs(setting)
    c = setting.activation.coefficients(2).values
    height = float(longer_rows(step).left(np.zeros(1))[0])
    norm = float(np.sum(step.readout**2))
    spike = (step.step_size * c[1]) ** 2 * norm * float(np.sum(step.spike**2))
    square = float(np.sum((step.weights - step.start) ** 2))
    # height = c_2 ds and coefficients are k! c_k
    assert square == pytest.approx(spike + 2.0 * height / c[2] * norm, rel=0.05)
    assert abs(square / spike - 1.0) > 0.2


def test_rank_one_has_two_thirds_of_the_second_part() -> None:
    """The gains of spike 2 are as 2/3 to 2/(2 + (1 + Delta)^2), those of spike 1 the same."""
    setting = Setting(**SMOOTH | {"d": 1000, "step_size": 1.0})
    actual = limiting_losses(setting).objectives
    flat = limiting_losses(setting, lengthened=False).objectives
    step = learned_step(setting, 1e9)
    delta = step.noise_square / step.shift**2
    assert flat[:2] == actual[:2]
    expected = (2.0 + (1.0 + delta) ** 2) / 3.0
    assert (flat[1] - flat[2]) / (actual[1] - actual[2]) == pytest.approx(expected, rel=1e-6)


def test_second_step_of_a_linear_network_has_one_order() -> None:
    """sigma' = 1: the update is u times one vector, whatever the sizes."""
    setting = Setting(**NETWORK | {"activation": "He1", "d": 400, "step_size": 1.0})
    found = second_strengths(with_exponents(setting, 0.4, 0.4))
    assert found[0] > 1.0
    assert np.all(found[1:] < 1e-6 * found[0])


def test_strengths_grow_as_the_count_says() -> None:
    """Exponents alpha_2 - k (1/2 - alpha_1) between p = 10^11 and 10^13, to 0.02."""
    base = NETWORK | {"activation": centred("tanh(z + 0.5)"), "step_size": 1.0}
    low, high = (
        second_strengths(with_exponents(Setting(**base | {"d": p}), 0.4, 0.4))
        for p in (10**11, 10**13)
    )
    assert np.log(high / low) / math.log(100.0) == pytest.approx([0.4, 0.3, 0.2], abs=0.02)


def test_scatter_of_powers_of_the_readout() -> None:
    """Relative deviation of |a^k| over 400 normals, 4000 times, to 10 %."""
    u = np.random.default_rng(1).normal(size=(4000, 400))
    for degree in (1, 2):
        norms = np.linalg.norm(u**degree, axis=1)
        assert norms.std() / norms.mean() == pytest.approx(readout_scatter(degree, 400), rel=0.1)


def test_features_of_another_size_of_the_step() -> None:
    setting = Setting(**SMOOTH | {"d": 20, "step_size": 2.0})
    [step] = stepped_runs(setting)
    real = step.features(step.training.inputs)
    same, other = (features_of(step, step.resized(size).weights) for size in (2.0, 1.0))
    np.testing.assert_allclose(same, real, atol=1e-12)
    assert np.max(np.abs(other - real)) > 0.1
