"""A small part of the hunt over random settings, and the same with another step size.

Twenty settings at level 1e-3 each: one in 50 seeds would have a disagreement by chance.
"""

from dataclasses import replace

import pytest
from benchmarks import prediction_times
from benchmarks._hunted import KINDS, draw
from benchmarks.hunt import judge

from giantstep.errors import DivergenceError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

SEED = 3
HUNTED = {
    "narrow": (0, 2, 3, 4, 9, 10),
    "wide": (3, 7),
    "small": (0, 1, 2, 3, 4, 5),
    "words": (1, 2, 6),
    "inputs": (0, 2, 5),
}
"""The first settings of the seed that a theory covers and that take a few seconds."""


@pytest.mark.law(sentinel="few")
@pytest.mark.parametrize("most", [1, 6], ids=["few", "all"])
def test_random_settings_agree_and_other_step_sizes_do_not(most: int) -> None:
    """Predicted for steps larger by 30 %, most of them are rejected."""
    settings = [draw(SEED, index, kind) for kind in HUNTED for index in HUNTED[kind][:most]]
    told = 0
    for setting in settings:
        simulated = simulate(setting)
        found = compare(predict(setting), simulated)
        assert found.agrees, (setting, found.p_value)
        larger = setting.vary(step_size=[1.3 * size for size in setting.step_size])
        other = predict(larger, deviations=False)
        told += not compare(other, simulated, ignoring=["step_size"]).agrees
    assert told > len(settings) / 2


KINKS = Setting(
    "relu(x1 + x2 - 0.5)*x3",
    d=1690,
    n=2397,
    p=32,
    steps=4,
    step_size=42.793053,
    start="gaussian",
    readout_start="gaussian",
    residual="labels",
    output_scale="1/sqrt(p)",
    ridge="cv",
    readout_n=12_000,
    runs=10,
    seed=670847,
)
"""Found by the hunt with 55 runs: train errors were six standard errors off."""

SOFT = Setting(
    "abs(x1) + x1",
    activation="softplus",
    d=400,
    p=400,
    n=800,
    steps=2,
    step_size=[941.12833, 102.003938],
    start="sphere",
    readout_start="uniform",
    output_scale="1/p",
    noise=0.3,
    ridge=1.21e-6,
    readout_n=600,
    spectra=6,
    runs=5,
    seed=313453,
)
"""Found by the hunt with 16 runs: p = 3e-4, at linear width."""


@pytest.mark.law
@pytest.mark.parametrize("setting", [KINKS, SOFT], ids=["kinks", "soft"])
def test_settings_that_disagreed_once(setting: Setting) -> None:
    """At level 1e-3 each; rows that are longer by a tenth are rejected."""
    predicted, simulated = predict(setting), simulate(setting)
    assert compare(predicted, simulated).agrees
    wrong = replace(predicted, norms=1.1 * predicted.norms)
    assert not compare(wrong, simulated).agrees


@pytest.mark.law
def test_runs_beyond_single_precision_are_compared_in_double_precision() -> None:
    """Rows of length 1e11 after three steps, whose outputs have squares above 1e38."""
    setting = draw(5190231, 187, "small")
    with pytest.raises(DivergenceError, match="network error is not finite after step 3"):
        simulate(setting)
    verdict = judge(setting)
    assert verdict.word == "agrees"
    assert verdict.compared is not None
    assert verdict.compared.count > 1000


def test_times_are_asked_for_every_kind(monkeypatch, capsys) -> None:
    """Each kind has an option of its own; without settings nothing is measured."""
    none = [word for kind in KINDS for word in (f"--{kind}", "0")]
    monkeypatch.setattr("sys.argv", ["prediction_times", *none])
    prediction_times.main()
    assert capsys.readouterr().out == ""
