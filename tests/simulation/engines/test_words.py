"""Every word of the record has one law in both engines, and it is not the law without the word.

Two-sample Kolmogorov-Smirnov tests on 21 numbers a run after each of three steps.  Overall level
1e-3 (Bonferroni over all cases), and beside each case the same runs without the word, which must be
rejected at that level: an engine that ignores a word fails.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

# Where the law without the word is nearest; in all other cases 80 runs have p-values below 1e-15.
MANY = 160
BASE: dict[str, Any] = {
    "target": "x1 + x2 + x1^2 - x2^2",
    "d": 24,
    "n": 30,
    "p": 4,
    "steps": 3,
    "step_size": 8.0,
    "start": "sphere",
    "runs": 80,
    "readout_n": 40,
    "test_n": 200,
    "ridge": 1e-4,
}
EVEN: dict[str, Any] = {
    # An odd activation sees nothing of it without biases.
    "target": "x1 + x2 + 3*x1^2 + 3*x2^2",
    "activation": "sin",
    "step_size": 0.5,
    "p": 8,
    "readout_n": 400,
}
CASES: dict[str, dict[str, Any]] = {
    "decay": {"decay": 0.9, "runs": MANY},
    "rows": {"rows": "normalised"},
    "normalised": {"update": "normalised", "step_size": 1.0},
    "orthogonal": {"update": "orthogonal", "step_size": 1.0, "runs": MANY},
    "momentum": {"momentum": 0.6},
    "momentum, reused": {"momentum": "nesterov(0.6)", "batches": "reused", "runs": MANY},
    "huber": {"loss": "huber(0.5)"},
    "absolute": {"loss": "absolute"},
    "logistic": {"loss": "logistic", "label_transform": "sign(y)"},
    "transform": {
        "label_transform": "tanh(y)",
        "deflate": 1,
        "readout_batch": "last",
        "readout_n": 30,
    },
    "bias": {"bias": 2.0, "activation": "tanh", "runs": MANY},
    "readout bias": EVEN | {"bias": 2.0, "bias_at": "readout"},
    "ones": {"readout_start": "ones"},
    "numbers": {"readout_start": [2.0, 0.5, -1.0, -1.0]},
    "ridge between": {"readout_between": "ridge"},
    "gradient between": {"readout_between": "gradient(8)"},
    "repeat": {"batches": "repeat(2)", "readout_start": "ones", "runs": MANY},
    "minibatch": {"batches": "minibatch(33)", "readout_start": "ones", "runs": MANY},
    "spiked": {"inputs": "spiked(3, 0.6)"},
    "spiked, reused": {
        "inputs": "spiked(3, 0.6)",
        "batches": "reused",
        "start": "orthogonal",
        "deflate": 1,
    },
    "shifted": {"inputs": "shifted(1, 0.6)"},
    "shifted, reused": {
        "inputs": "shifted(1, 0.6)",
        "batches": "reused",
        "start": "orthogonal",
        "deflate": 1,
    },
    "clusters": {"inputs": "clusters(4, 0.6)"},
    "clusters, reused": {"inputs": "clusters(4, 0.6)", "batches": "reused", "start": "orthogonal"},
    "blocks": {"inputs": "blocks(0.5, 4, 0.5, 0.04)", "frame": "axes"},
    "blocks, last batch": {
        "inputs": "blocks(0.5, 4, 0.5, 0.04)",
        "frame": "axes",
        "start": "orthogonal",
        "deflate": 0,
        "batches": "repeat(2)",
        "readout_batch": "last",
        "readout_n": 30,
    },
    "given": {"start": "given", "start_gram": 4.0 * np.eye(4), "step_size": 1.0},
}
LEVEL = 1e-3 / (21 * len(CASES))


def observed(trajectory: Trajectory) -> dict[str, np.ndarray]:
    """One number a run and a step: of neuron 0, of the pair 0 and 1, and the errors."""
    found = {}
    assert trajectory.gram is not None
    assert trajectory.train_error is not None
    assert trajectory.test_error is not None
    assert trajectory.network_error is not None
    for t in range(1, trajectory.setting.steps + 1):
        found[f"norm {t}"] = trajectory.norms[:, t, 0]
        found[f"cross {t}"] = trajectory.gram[:, t, 0, 1]
        found[f"overlap {t}"] = trajectory.overlap[:, t, 0, 0]
        found[f"second overlap {t}"] = trajectory.overlap[:, t, 0, 1]
        found[f"train error {t}"] = trajectory.train_error[:, t]
        found[f"test error {t}"] = trajectory.test_error[:, t]
        found[f"network error {t}"] = trajectory.network_error[:, t]
    # Rows of unit length are so up to the rounding of each engine.
    return {name: np.round(values, 4) for name, values in found.items()}


def law(engine: str, seed: int, changes: dict[str, Any]) -> dict[str, np.ndarray]:
    return observed(simulate(Setting(**(BASE | changes | {"engine": engine, "seed": seed}))))


def smallest(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> float:
    assert len(one) == 21
    return min(float(ks_2samp(one[name], two[name]).pvalue) for name in one)


WITHOUT: dict[str, dict[str, Any]] = {
    # What stands beside a word stays: only the word itself is taken away.
    "bias": {"activation": "tanh", "runs": MANY},
    "readout bias": EVEN,
    "normalised": {"step_size": 1.0},
    "orthogonal": {"step_size": 1.0, "update": "normalised", "runs": MANY},
    "momentum, reused": {"momentum": 0.6, "batches": "reused", "runs": MANY},
    "logistic": {"label_transform": "sign(y)"},
    "transform": {"deflate": 1, "readout_batch": "last", "readout_n": 30},
    "repeat": {"readout_start": "ones", "runs": MANY},
    "minibatch": {"readout_start": "ones", "runs": MANY},
    "spiked": {"inputs": "spiked(3, 0)"},
    "spiked, reused": {"batches": "reused", "start": "orthogonal", "deflate": 1},
    "shifted": {"inputs": "shifted(1, 0)"},
    "shifted, reused": {"batches": "reused", "start": "orthogonal", "deflate": 1},
    "clusters": {"inputs": "clusters(4, 0)"},
    "clusters, reused": {"inputs": "clusters(4, 0)", "batches": "reused", "start": "orthogonal"},
    "blocks": {"inputs": "blocks(1, 2.02)"},
    "blocks, last batch": CASES["blocks, last batch"] | {"inputs": "blocks(1, 2.02)"},
    "given": {"start": "orthogonal", "step_size": 1.0},
}


@cache
def without_any() -> dict[str, np.ndarray]:
    return law("deferred", 3, {"runs": MANY})


@pytest.mark.law(sentinel="ones")
@pytest.mark.parametrize("name", CASES)
def test_a_word_has_one_law(name: str) -> None:
    dense = law("dense", 1, CASES[name])
    assert smallest(law("deferred", 2, CASES[name]), dense) > LEVEL
    without = law("deferred", 3, WITHOUT[name]) if name in WITHOUT else without_any()
    assert smallest(without, dense) < LEVEL
