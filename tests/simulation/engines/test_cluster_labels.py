"""Random signs of mean tanh(D/2 <u, x>) have the law of the cluster that a sample is from.

The loop below draws the cluster first and the sample around its centre, in R^d, and takes the
cluster for the label.  Two-sample Kolmogorov-Smirnov tests on 4 numbers a run after two steps, of
three engines on two kinds of batches: overall level 1e-3 (Bonferroni over 24 tests).  Rejected at
that level are labels that are the mean itself, and signs that follow x alone.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import ks_2samp

from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

RUNS, D, N, P, DISTANCE, SIZE = 1200, 20, 24, 2, 2.0, 1.5
BASE: dict[str, Any] = {
    "target": f"tanh({DISTANCE / 2}*x1)",
    "label_kind": "sign",
    "inputs": f"clusters({DISTANCE}, 1)",
    "activation": "erf",
    "d": D,
    "n": N,
    "p": P,
    "steps": 2,
    "step_size": SIZE,
    "start": "sphere",
    "readout_start": "ones",
    "runs": RUNS,
    "readout_n": 0,
    "test_n": 0,
}
ENGINES: dict[str, dict[str, Any]] = {
    "together": {"engine": "deferred"},
    "deferred": {"engine": "deferred", "spectra": P},
    "dense": {"engine": "dense"},
}
WRONG: list[dict[str, Any]] = [
    {"label_kind": "number"},
    {"label_kind": "number", "target": "sign(x1)"},
]
LEVEL = 1e-3 / (4 * 2 * len(ENGINES))


@cache
def plain_loop(batches: str, seed: int = 11) -> tuple[np.ndarray, ...]:
    """Clusters first: y = +1 or -1, x = z + y D/2 e_1."""
    key = np.random.default_rng(seed)
    w = key.standard_normal((RUNS, P, D))
    w /= np.linalg.norm(w, axis=2, keepdims=True)
    for step in range(2):
        if batches == "fresh" or step == 0:
            y = key.choice([-1.0, 1.0], size=(RUNS, 1, N))
            x = key.standard_normal((RUNS, D, N))
            x[:, :1] += 0.5 * DISTANCE * y
        h = w @ x
        residual = y - np.mean(erf(h / np.sqrt(2)), axis=1, keepdims=True)
        slopes = np.sqrt(2 / np.pi) * np.exp(-0.5 * h**2)
        w = w + SIZE / P * (residual * slopes) @ np.swapaxes(x, 1, 2) / N
    gram = w @ np.swapaxes(w, 1, 2)
    return w[:, 0, 0], w[:, 1, 0], gram[:, 0, 0], gram[:, 0, 1]


@cache
def engine_runs(batches: str, engine: str, wrong: int | None = None) -> tuple[np.ndarray, ...]:
    """The same numbers by an engine, with the labels or with wrong ones."""
    fields = BASE | ENGINES[engine] | {"batches": batches} | ({} if wrong is None else WRONG[wrong])
    runs = simulate(Setting(**fields))
    overlap, gram = runs.overlap[:, -1, :, 0], runs.gram[:, -1]
    return overlap[:, 0], overlap[:, 1], gram[:, 0, 0], gram[:, 0, 1]


def least_p_value(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> float:
    return min(ks_2samp(a, b).pvalue for a, b in zip(first, second, strict=True))


@pytest.mark.law(sentinel="fresh-together")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("batches", ["fresh", "reused"])
def test_signs_have_the_law_of_the_cluster(batches: str, engine: str) -> None:
    clusters = plain_loop(batches)
    assert least_p_value(engine_runs(batches, engine), clusters) > LEVEL
    for wrong in range(len(WRONG)):
        assert least_p_value(engine_runs(batches, "together", wrong), clusters) < LEVEL
