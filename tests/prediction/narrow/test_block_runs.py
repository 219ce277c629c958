"""Predictions for inputs in blocks of variances, against exact runs of both engines.

Every case is judged by ``compare`` at a family level of 1e-3, its number of comparisons asserted;
beside it the prediction for one block of about the mean variance, which must be rejected at that
level (the nearest, on the dense engine, has the family p-value 1e-9).
"""

from typing import Any

import numpy as np
import pytest

from giantstep.prediction.narrow.block_runs import block_start
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.meter import Meter
from giantstep.simulation.simulate import make_engine, simulate

BASE: dict[str, Any] = {
    "target": "x1 + x1*x2",
    "activation": "tanh",
    "d": 1000,
    "n": "2d",
    "p": 4,
    "steps": 3,
    "step_size": 8.0,
    "noise": 0.3,
    "runs": 40,
    "seed": 3,
    "readout_n": 2000,
    "test_n": 2000,
    "ridge": 1e-3,
    "inputs": "blocks(0.3, 2, 0.7, 0.4)",
}
MEAN = "blocks(1, 0.88)"
SMALL: dict[str, Any] = {"d": 300, "runs": 30, "steps": 2, "readout_n": 300, "test_n": 1000}
LAST: dict[str, Any] = {"readout_batch": "last", "readout_n": "n"}
CASES: dict[str, tuple[dict[str, Any], int]] = {
    "random frame": ({}, 140),
    "axes": ({"frame": "axes"}, 140),
    "normalised rows": ({"start": "orthogonal", "rows": "normalised"}, 140),
    "few samples of the readout": ({"readout_n": 30}, 140),
    "readout between": ({"readout_between": "ridge", "steps": 2}, 103),
    "reused": ({"batches": "reused"}, 140),
    "repeated": ({"batches": "repeat(2)", "start": "sphere", "activation": "relu"}, 140),
    "minibatches": ({"batches": "minibatch(3000)", "steps": 2, "frame": "axes"}, 103),
    "power law": ({"inputs": "power(0.8)", "noise": 1.0}, 140),
    "dense": ({"engine": "dense", "d": 60, "runs": 20, "steps": 2}, 103),
    "tangent gradients": (SMALL | {"gradient": "tangent"}, 103),
    "readout on the last batch": (SMALL | LAST, 103),
    "momentum": (SMALL | {"momentum": 0.7, "frame": "axes"}, 103),
    "momentum and the last batch": (SMALL | LAST | {"momentum": 0.5, "batches": "reused"}, 103),
    "deflated": (SMALL | {"deflate": 1}, 103),
    "deflated by degree 2": (SMALL | {"deflate": 2, "d": 40, "n": "2d^2"}, 103),
    "looks ahead": (SMALL | {"lookahead": "sample(p/d)"}, 103),
    "signs": (SMALL | {"update": "sign", "step_size": 0.05}, 103),
    "adam": (SMALL | {"update": "adam(0.9, 0.99)", "step_size": 0.05, "frame": "axes"}, 103),
    "given rows": (SMALL | {"start": "given", "start_rows": np.eye(4, 300)[:, ::-1]}, 103),
    "dense, axes": ({"engine": "dense", "d": 60, "runs": 20, "steps": 2, "frame": "axes"}, 103),
}


@pytest.mark.law(sentinel="axes")
@pytest.mark.parametrize("name", CASES)
def test_blocks_are_predicted(name: str) -> None:
    changes, count = CASES[name]
    setting = Setting(**(BASE | changes))
    predicted, simulated = predict(setting), simulate(setting)
    found = compare(predicted, simulated)
    assert found.count == count
    assert found.p_value > 1e-3
    other = predict(setting.vary(inputs=MEAN), draws=24)
    assert compare(other, simulated, ignoring=["inputs"]).p_value < 1e-3


@pytest.mark.parametrize("engine", ["deferred", "dense"])
@pytest.mark.parametrize("frame", ["random", "axes"])
def test_a_prediction_starts_where_its_run_does(engine: str, frame: str) -> None:
    """Overlaps and inner products of the rows, block by block, are those of the engine."""
    changes = {"engine": engine, "frame": frame, "d": 40, "n": 50, "readout_n": 0, "test_n": 0}
    setting = Setting(**(BASE | changes))
    run = make_engine(setting, 2**30, Meter(0, None))
    run.begin(1)
    start = block_start(setting, 1)
    assert start.span is not None
    assert start.span.along_target(start.rows) == pytest.approx(run.layer.overlap, abs=1e-6)
    assert start.rows @ start.rows.T == pytest.approx(np.asarray(run.layer.gram), abs=1e-6)
    if engine == "dense":
        weights = np.asarray(run.last_rows)[:, :12]
        first = start.rows[:, start.span.columns == 0]
        assert first @ first.T == pytest.approx(weights @ weights.T, abs=1e-6)


@pytest.mark.law
def test_target_directions_spread_over_blocks() -> None:
    """Overlaps after two steps within 4 standard errors of runs; another block is 8 away."""
    setting = Setting(
        "x1 + He2(x2)", inputs="blocks(0.25, 4, 0.75, 0.5)", frame="shares(0.6, 0.4)", d=400,
        n="4d", p=4, activation="tanh", steps=2, readout_n=0, test_n=0, runs=30, seed=41,
    )  # fmt: skip

    def overlaps(found: Any) -> Any:
        return np.mean(np.abs(found.overlap[:, -1, :, 0]), axis=1)

    measured = overlaps(simulate(setting))
    for frame, low, high in (("shares(0.6, 0.4)", 0.0, 4.0), ("block(2)", 8.0, np.inf)):
        theory = overlaps(predict(setting.vary(frame=frame)))
        error = np.hypot(np.std(measured), np.std(theory)) / np.sqrt(30)
        assert low <= abs(np.mean(measured) - np.mean(theory)) / error <= high
