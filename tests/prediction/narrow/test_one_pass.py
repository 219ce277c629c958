"""One sample a step: the recursion of the means at widths that are no small share of d."""

from typing import Any

import numpy as np
import pytest

from giantstep.errors import NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
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

    The prediction for half the step size is rejected.  The cosine of one sample is not predicted.
    """
    setting = Setting(**(BASE | {"steps": 20, "runs": 24, "seed": 5} | fields))
    predicted, simulated = predict(setting), simulate(setting)
    assert predicted.theory == "narrow"
    assert compare(predicted, simulated).agrees
    assert np.all(np.isnan(predicted.gradient_cosine))
    assert "length of a gradient: n must be at least 100, got 1" in predicted.notes[0]
    wrong = predict(setting.vary(step_size=setting.step_size[0] / 2), deviations=False)
    assert not compare(wrong, simulated, ignoring=["step_size"]).agrees


@pytest.mark.law
@pytest.mark.sentinel
def test_steps_that_shift_the_mean_are_drawn() -> None:
    """Where one mean does not tell what runs do, a row for each run; small steps have the mean."""
    setting = Setting(**(BASE | {"p": 8, "steps": 6, "step_size": 2.0, "runs": 2}))
    assert predict(setting).gram_uncertainty is None
    assert predict(setting.vary(step_size=0.1)).gram_uncertainty is not None
    with pytest.raises(
        NoTheoryError, match=r"p must be at most 0.5 d .* got 51 neurons at d = 100"
    ):
        predict(setting.vary(p=51, step_size=0.1))


def test_readout_errors_have_a_note_instead() -> None:
    sizes = {"p": 8, "steps": 3, "step_size": 0.08, "runs": 2, "readout_n": 60, "test_n": 100}
    found = predict(Setting(**(BASE | sizes)))
    assert found.network_error is not None
    assert found.test_error is None
    assert "readout errors: readout_n must be at least 10 p, got 60 for 8 neurons" in found.notes[0]
