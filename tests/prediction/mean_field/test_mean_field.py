"""Many neurons in few dimensions: the flow against exact sums, and against runs.

Laws are tested by ``compare`` at its own level, 1e-3, once a case; wrong variants must fall below.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep import NoTheoryError, Setting, compare, predict, simulate
from giantstep.prediction.mean_field.flow import Field, Flow
from giantstep.prediction.mean_field.theory import _start
from giantstep.problem.network import network_and_coefficients

SMALL: dict[str, Any] = {"d": 3, "p": 80, "output_scale": "1/p", "record": "log", "runs": 12}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "relu": (
        "tanh(x1) + x1*x2",
        {"n": 60, "steps": 120, "step_size": "0.1p", "start": "gaussian"},
    ),
    "erf": (
        "relu(x1) - x2",
        {"n": 40, "steps": 150, "step_size": "0.1p", "activation": "erf", "bias": 0.5},
    ),
    "decay": (
        "He2(x1) + x2",
        {"n": 80, "steps": 110, "step_size": "0.1p", "decay": 0.005, "noise": 0.3},
    ),
    "one over root p": (
        "sin(2*x1)",
        {"n": 60, "steps": 130, "output_scale": "1/sqrt(p)", "step_size": "0.1p^0.5"},
    ),
}


def setting_of(name: str) -> Setting:
    target, fields = CASES[name]
    readout = {"readout_n": 40, "test_n": 4000, "ridge": 0.1}
    return Setting(target, **SMALL | {"readout_start": "gaussian"} | readout | fields)


def test_the_field_is_the_mean_gradient() -> None:
    """On 2^16 points drawn at random, in float64: within five standard errors, 240 numbers."""
    setting = setting_of("erf")
    start = _start(setting, 0)
    field = Flow(setting, start, 0, log2_points=13).field(start.rows, 0)
    assert isinstance(field, Field)
    x = np.random.default_rng(0).standard_normal((2**16, 3))
    labels = setting.target([x[:, 0], x[:, 1]])
    inputs = start.rows @ x.T + start.biases[:, None]
    output, c = network_and_coefficients(setting, inputs, labels, start.readout)
    products = c[:, None, :] * x.T
    error = products.std(axis=2) / 2**8
    assert np.max(np.abs(products.mean(axis=2) - field.gradient) / error) < 5
    np.testing.assert_allclose(np.mean((labels - output) ** 2), field.error, rtol=0.02)
    np.testing.assert_allclose((c**2 * np.sum(x**2, axis=1)).mean(axis=1), field.square, rtol=0.1)
    # Without the biases the field is another.
    plain = replace(start, biases=np.zeros(setting.p))
    other = Flow(setting, plain, 0, log2_points=13).field(start.rows, 0)
    assert np.max(np.abs(products.mean(axis=2) - other.gradient) / error) > 5


@pytest.mark.law(sentinel="relu")
@pytest.mark.parametrize("name", CASES)
def test_runs_follow_the_flow(name: str) -> None:
    setting = setting_of(name)
    expected, found = predict(setting), simulate(setting)
    assert expected.theory == "mean-field"
    assert compare(expected, found).agrees
    assert found.network_error is not None
    assert expected.network_error is not None
    assert expected.network_error[:, -1].mean() < 0.98 * expected.network_error[:, 0].mean()
    # A flow at three quarters of the speed is another.
    slower = setting.vary(step_size=[0.75 * size for size in setting.step_size])
    wrong = replace(predict(slower), setting=setting)
    assert not compare(wrong, found).agrees


def test_noise_of_batches_is_refused() -> None:
    """Runs whose batches add half of a row's squared length are not those of the flow."""
    setting = setting_of("relu").vary(n=1, readout_n=0, test_n=0)
    with pytest.raises(NoTheoryError, match="Their noise adds"):
        predict(setting)


def test_what_is_left_open_is_said() -> None:
    prediction = predict(setting_of("relu").vary(runs=1))
    [note] = prediction.notes
    assert note.startswith("no prediction of readout errors: readout_n must be 0")
    assert prediction.test_error is None
    with pytest.raises(NoTheoryError, match="p must be at least 20 d"):
        predict(setting_of("relu").vary(p=40, d=3), theory="mean-field")
