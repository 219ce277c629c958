"""One sample a step: the recursion of the means at widths that are no small share of d."""

from typing import Any

import numpy as np
import pytest

from giantstep.errors import NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

COMMITTEE = "(erf(x1/sqrt(2)) + erf(x2/sqrt(2)) + erf(x3/sqrt(2)) + erf(x4/sqrt(2)))/4"
BASE: dict[str, Any] = {
    "target": COMMITTEE,
    "activation": "erf",
    "d": 100,
    "n": 1,
    "output_scale": "1/p",
    "start": "sphere",
    "readout_start": "alternating",
    "noise": 0.0316,
    "readout_n": 0,
    "test_n": 0,
}


def distances(predicted: Trajectory, simulated: Trajectory) -> np.ndarray:
    """Differences of gradient cosines, their mean along a_i and mean square, in standard errors."""
    means, errors = [], []
    for record in (predicted, simulated):
        cosines, readout = record.gradient_cosine, record.readout
        assert cosines is not None
        assert readout is not None
        along = np.sign(readout)[:, None, :, None] * cosines
        numbers = np.stack([each.mean(axis=(1, 2, 3)) for each in (along, cosines**2)])
        means.append(numbers.mean(axis=1))
        errors.append(numbers.std(axis=1, ddof=1) / np.sqrt(len(cosines)))
    return np.abs(means[0] - means[1]) / np.hypot(*errors)


@pytest.mark.law
@pytest.mark.parametrize(
    "fields",
    [
        {"p": 50, "step_size": 1.0},
        {"p": 20, "step_size": 0.4, "activation": "relu", "steps": 40},
    ],
    ids=["p/d = .5", "relu"],
)
def test_widths_that_are_no_small_share_of_d(fields: dict[str, Any]) -> None:
    """24 runs, every run from its own start, at the level of ``compare``, 1e-3, two settings.

    The prediction for half the step size is rejected.  The cosine of the gradient of one sample is
    a matter of chance, which drawn runs have: its mean along a_i and its mean square over neurons,
    steps and directions are within 4 standard errors, two comparisons a setting.  Gradients of five
    samples are rejected by both.
    """
    setting = Setting(**(BASE | {"steps": 20, "runs": 24, "seed": 5} | fields))
    predicted, simulated = predict(setting), simulate(setting)
    assert predicted.theory == "narrow"
    assert compare(predicted, simulated).agrees
    assert predicted.notes == (
        f"theory draws {predicted.runs} random runs, each step from the known distribution of "
        "the gradient, and shows their mean",
    )
    assert np.all(distances(predicted, simulated) < 4)
    assert np.all(distances(predict(setting.vary(n=5)), simulated) > 4)
    wrong = predict(setting.vary(step_size=setting.step_size[0] / 2), deviations=False)
    assert not compare(wrong, simulated, ignoring=["step_size"]).agrees


@pytest.mark.law
@pytest.mark.sentinel
def test_steps_that_shift_the_mean_are_drawn() -> None:
    """Where one mean does not tell what runs do, a row for each run; small steps have the mean.

    Below 100 samples runs are drawn at any step size: the length of a gradient is then uncertain.
    """
    setting = Setting(**(BASE | {"p": 8, "steps": 6, "step_size": 2.0, "runs": 2}))
    for changes in ({}, {"step_size": 0.1}, {"d": 1000, "n": 100, "step_size": 40.0}):
        assert predict(setting.vary(**changes)).gram_uncertainty is None
    small = setting.vary(d=1000, n=100, step_size=0.1)
    assert predict(small).gram_uncertainty is not None
    with pytest.raises(NoTheoryError, match=r"p must be at most 0.5 d .* got p = 51 at d = 100"):
        predict(setting.vary(p=51, step_size=0.1))


def test_readouts_of_few_samples_are_drawn() -> None:
    sizes = {"p": 8, "steps": 3, "step_size": 0.08, "runs": 2, "readout_n": 60, "test_n": 100}
    found = predict(Setting(**(BASE | sizes)))
    assert found.network_error is not None
    assert found.test_error is not None
    assert found.notes == (
        "theory draws 96 random runs, each step from the known distribution of "
        "the gradient, and shows their mean",
    )
