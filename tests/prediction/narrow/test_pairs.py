"""Rows that start in pairs: what they hold of a direction by their differences.

Principal cosines of 120 runs after the last step, within 4 standard errors: level 1e-4 for each of
two.  Single rows around the one mean, each with its own deviations, are rejected.
"""

import math
from typing import Any

import numpy as np
import pytest

from giantstep.prediction.narrow import theory
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.observables import expected, observed
from giantstep.simulation.simulate import simulate

SIZES: dict[str, Any] = {
    "activation": "silu",
    "n": "6.5d",
    "p": 8,
    "step_size": [5.8, 3.3],
    "noise": 0.5,
    "readout_n": 0,
    "test_n": 0,
    "runs": 120,
    "seed": 97,
}
NAME = "principal_cosine_2"


@pytest.mark.law(sentinel="few inputs")
@pytest.mark.parametrize("d", [600, 3000], ids=["few inputs", "more inputs"])
def test_principal_cosines_of_pairs_are_drawn(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """x2 + x3 is learned a little by two steps on x1 + x1*x2 + x1*x3, beside noise in 1/d."""
    setting = Setting("joint-step", d=d, **SIZES)
    measured = observed(simulate(setting))[NAME][:, -1]

    def distance(cosines: np.ndarray) -> float:
        error = np.hypot(cosines.std() / math.sqrt(len(cosines)), measured.std() / math.sqrt(120))
        return float(abs(cosines.mean() - measured.mean()) / error)

    drawn = predict(setting)
    assert len(drawn.overlap) == 120
    assert distance(observed(drawn)[NAME][:, -1]) < 4
    monkeypatch.setattr(theory, "pairs_add", lambda *_: False)
    around = predict(setting)
    assert len(around.overlap) == 1
    assert distance(expected(around)[NAME][-1:]) > 4


def test_what_pairs_learn_well_or_not_at_all_is_no_reason_to_draw() -> None:
    """At d = 10^5 noise is small beside the weak direction; a direction of size 0 is not known."""
    for target in ("joint-step", "x1 + He2(x1)*x2"):
        predicted = predict(Setting(target, d=100_000, **SIZES))
        assert len(predicted.overlap) == 1
