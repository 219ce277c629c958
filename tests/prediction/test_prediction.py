"""Predictions beside the deferred engine; theories that are wrong on purpose are told apart.

Each comparison takes the means of RUNS runs at every step, neuron and observable; a case agrees if
the p-value of its largest deviation (Student's t), times the number of comparisons in it, is at
least 1e-3: of the 10 cases, one would fail by chance in about 100 seeds.  What is told apart is
at least 9 standard errors off; where it is tens of them it needs no more than COARSE points.
"""

from typing import Any

import numpy as np
import pytest

from giantstep.errors import InputError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

RUNS = 40
COARSE = 12
BASE: dict[str, Any] = {
    "d": 4000,
    "p": 4,
    "runs": RUNS,
    "readout_n": 8000,
    "test_n": 4000,
    "ridge": 1e-4,
    "seed": 1,
}
CASES: list[dict[str, Any]] = [
    {"target": "staircase", "n": "2d", "steps": 4},
    {"target": "equal-links", "n": "8d", "steps": 2, "activation": "erf"},
    {"target": "joint-step", "n": "2d", "steps": 3, "activation": "He1 + He2/2", "step_size": 1},
    {"target": "tanh-cubic", "n": "2d", "steps": 3, "activation": "tanh", "noise": 0.5},
    {"target": "linear-quadratic", "n": "2d", "steps": 2, "step_size": 0.3, "p": 2},
    {"target": "staircase", "n": "8d", "steps": 2, "deflate": 1, "step_size": 3.0},
]
FLIPPED = [
    {"corruption": 0.3},
    {"corruption": 0.3, "batches": "reused"},
    {"corruption": 0.3, "engine": "dense", "d": 400, "runs": 20, "readout_n": 4000, "test_n": 1000},
]
REUSED: list[dict[str, Any]] = [
    {"target": "staircase", "n": "2d", "steps": 3},
    {"target": "hidden-by-oddness", "n": "3d", "steps": 3, "p": 2, "noise": 0.3},
    {"target": "linear-quadratic", "n": "d/2", "steps": 2, "activation": "tanh"},
]


@pytest.mark.law(sentinel="linear-quadratic-2d")
@pytest.mark.parametrize("fields", CASES, ids=lambda f: f"{f['target']}-{f['n']}")
def test_fresh_batches_follow_state_evolution(fields: dict[str, Any]) -> None:
    setting = Setting(**(BASE | fields))
    simulated = simulate(setting)
    comparison = compare(predict(setting), simulated)
    assert comparison.agrees, (comparison.largest, comparison.p_value)
    # Without the d/n term the norms are wrong, and everything after them.
    wrong = setting.vary(d=setting.p * 40, n=setting.n)
    short = predict(wrong, log2_points=COARSE, deviations=False)
    assert not compare(short, simulated, ignoring=["d", "n"]).agrees


@pytest.mark.law(sentinel="linear-quadratic-d/2")
@pytest.mark.parametrize("fields", REUSED, ids=lambda f: f"{f['target']}-{f['n']}")
def test_reused_batches_follow_the_effective_process(fields: dict[str, Any]) -> None:
    setting = Setting(**(BASE | fields | {"batches": "reused"}))
    simulated = simulate(setting)
    comparison = compare(predict(setting), simulated)
    assert comparison.agrees, (comparison.largest, comparison.p_value)
    # Noise redrawn at every step is the theory of fresh batches.
    wrong = predict(setting.vary(batches="fresh"), log2_points=COARSE, deviations=False)
    assert not compare(wrong, simulated, ignoring=["batches"]).agrees


def test_known_directions_have_the_noise_of_the_samples() -> None:
    """Reused batches with p = d/25: what one step reveals is of length d, not d less the known.

    With 400 - 18 known - (p - 1)/2 dimensions in the first step it is rejected.
    """
    fields = {"target": "x1 + x1*x2", "activation": "tanh", "d": 400, "n": 400, "p": 16, "steps": 2}
    start = {"start": "orthogonal", "readout_start": "alternating", "batches": "reused"}
    setting = Setting(**(BASE | fields | start | {"runs": 200, "readout_n": 0, "test_n": 0}))
    simulated = simulate(setting)
    assert compare(predict(setting), simulated).agrees
    short = predict(setting.vary(d=374), deviations=False)
    assert not compare(short, simulated, ignoring=["d"]).agrees


@pytest.mark.law(sentinel="fresh")
@pytest.mark.parametrize("fields", FLIPPED, ids=["fresh", "reused", "dense"])
def test_flipped_labels(fields: dict[str, Any]) -> None:
    """Both engines against theory; a share of 0.2 in place of 0.3 is told apart.

    Its test error is a quarter lower: 25 standard errors of 20 runs with 1000 samples each.
    """
    setting = Setting(**(BASE | {"target": "staircase", "d": 2000, "n": "2d"} | fields))
    simulated = simulate(setting)
    assert compare(predict(setting), simulated).agrees
    wrong = predict(setting.vary(corruption=0.2), log2_points=COARSE, deviations=False)
    assert not compare(wrong, simulated, ignoring=["corruption"]).agrees
    assert setting.noisy_floor(0.0) == pytest.approx((1 - 0.4**2) * 6.0)


@pytest.mark.law
@pytest.mark.parametrize("batches", ["fresh", "reused"])
def test_every_run_is_predicted_with_its_own_readout(batches: str) -> None:
    fields = {"readout_start": "gaussian", "start": "sphere", "output_scale": "1/sqrt(p)"}
    setting = Setting(**(BASE | fields | {"target": "split-step", "n": "2d", "batches": batches}))
    predicted, simulated = predict(setting), simulate(setting)
    assert predicted.runs % RUNS == 0  # drawn runs take the readouts in turn
    assert compare(predicted, simulated).agrees
    other = "reused" if batches == "fresh" else "fresh"
    wrong = predict(setting.vary(batches=other), deviations=False)
    assert not compare(wrong, simulated, ignoring=["batches"]).agrees


def test_a_thousand_dimensions_agree_already() -> None:
    setting = Setting(**(BASE | {"target": "staircase", "d": 1000, "n": "2d", "runs": 200}))
    assert compare(predict(setting), simulate(setting)).agrees


def test_prediction_is_a_record_like_any_other() -> None:
    setting = Setting("staircase", d=1000, steps=2)
    found = predict(setting, scrambles=2, log2_points=10)
    assert found.engine == "theory"
    assert found.overlap.shape == (1, 3, 8, 2)
    assert found.test_error is not None
    assert found.overlap_uncertainty is not None
    assert np.all(found.overlap_uncertainty >= 0)
    assert found.summary()["theory"] == "narrow"


def test_more_points_shrink_the_error() -> None:
    setting = Setting("staircase", d=1000, steps=2, readout_n=0, test_n=0)
    coarse, fine = (predict(setting, log2_points=k, deviations=False) for k in (9, 15))
    assert coarse.gram_uncertainty is not None
    assert fine.gram_uncertainty is not None
    assert fine.gram_uncertainty[0, -1].max() < 0.3 * coarse.gram_uncertainty[0, -1].max()


@pytest.mark.parametrize(
    ("fields", "piece"),
    [
        (
            {"inputs": "rademacher"},
            "inputs must be gaussian, spiked, shifted, clusters, blocks or power for a prediction, "
            "got 'rademacher'",
        ),
        (
            {"p": 40_000},
            r"narrow: too many neurons: .* p times min\(d, p \+ r\) must be at most 262144",
        ),
        (
            {"readout_batch": "last", "readout_n": "n", "n": "d^3"},
            "theory would draw random runs for about",
        ),
    ],
)
def test_where_no_theory_applies_it_says_so(fields: dict[str, Any], piece: str) -> None:
    with pytest.raises(NoTheoryError, match=piece):
        predict(Setting("staircase", d=1000, **fields))


def test_comparisons_need_runs_of_the_same_setting_and_readout() -> None:
    setting = Setting("staircase", d=1000, steps=1, test_n=100, readout_n=100)
    predicted = predict(setting, scrambles=2, log2_points=10)
    with pytest.raises(InputError, match="at least 2 runs, got 1"):
        compare(predicted, simulate(setting))
    other = setting.vary(start="sphere", readout_start="gaussian", runs=3, step_size=8.0)
    simulated = simulate(other)
    with pytest.raises(InputError, match="start is 'symmetric' in the prediction and 'sphere' in"):
        compare(predicted, simulated)
    with pytest.raises(InputError, match="do not have the readout"):
        compare(predicted, simulated, ignoring=["start", "readout_start"])
    # The number of runs, the seed and the engine are free.
    assert compare(predicted, simulate(setting.vary(runs=4, seed=3, engine="dense"))).runs == 4
