"""Labels that are random signs: theory against runs, and labels that are their mean, rejected.

Each comparison is at level 1e-3.
"""

from typing import Any

import pytest

from giantstep.analysis.analyze import analyze_setting
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    "target": "tanh(1.5*x1)",
    "label_kind": "sign",
    "inputs": "clusters(3, 1)",
    "d": 1000,
    "n": "2d",
    "p": 4,
    "steps": 2,
    "start": "sphere",
    "runs": 60,
    "readout_n": 2000,
    "test_n": 2000,
    "seed": 77,
}
CASES: dict[str, dict[str, Any]] = {
    "clusters": {"activation": "erf"},
    "clusters, again": {"batches": "reused"},
    "logistic": {"loss": "logistic", "batches": "reused"},
    "gaussian": {"inputs": "gaussian", "target": "tanh(x1) * tanh(x2 + 1)", "activation": "tanh"},
}


@pytest.mark.law(sentinel="clusters, again")
@pytest.mark.parametrize("case", CASES)
def test_signs_agree_and_their_mean_does_not(case: str) -> None:
    setting = Setting(**BASE | CASES[case])
    runs = simulate(setting)
    assert compare(predict(setting), runs).agrees
    mean = predict(setting.vary(label_kind="number"))
    assert not compare(mean, runs, ignoring=["label_kind"]).agrees


def test_reused_batches_hand_on_no_transform_of_a_sign() -> None:
    """Reused batches learn He3 by transforms of the label, and those of a sign are the sign."""
    setting = Setting("tanh(He3(x1))", batches="reused", readout_n=0, test_n=0)
    assert analyze_setting(setting).reused.dimensions[-1] == 1
    signs = setting.vary(label_kind="sign")
    assert analyze_setting(signs).reused.dimensions == analyze_setting(setting).fresh.dimensions
