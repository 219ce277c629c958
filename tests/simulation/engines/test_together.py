"""Runs advanced together have the law of a plain loop in R^d, word by word.

The loop below draws whole samples and knows nothing of coordinates.  Two-sample Kolmogorov-Smirnov
tests on 8 numbers a run after the last of 12 steps, which take three chunks: overall level 1e-3
(Bonferroni over all cases), and beside each case the runs without the word, rejected at that level.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import ks_2samp

from giantstep.errors import DivergenceError
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.engines import together
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    "target": "x1 + x2 + x1^2 - x2^2",
    "activation": "erf",
    "d": 18,
    "n": 2,
    "p": 4,
    "steps": 12,
    "step_size": 0.8,
    "start": "sphere",
    "readout_start": "ones",
    "noise": 0.3,
    "runs": 800,
    "readout_n": 0,
    "test_n": 0,
    "record": "every(12)",
}
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "one sample": {"n": 1, "step_size": 0.4},
    "decay": {"decay": 0.2},
    "rows": {"rows": "normalised"},
    "normalised": {"update": "normalised", "step_size": 0.2, "decay": 0.1},
    "orthogonal": {"update": "orthogonal", "step_size": 0.2},
    "clipped": {"update": "clipped(0.3)"},
    "huber": {"loss": "huber(0.5)"},
    "labels": {"residual": "labels", "step_size": 0.4},
    "transform": {"label_transform": "tanh(y)"},
    "bias": {"bias": 2.0},
    "readout": {"readout_between": "gradient(1)"},
    "repeat": {"batches": "repeat(3)"},
    "spiked": {"inputs": "spiked(3, 0.6)"},
    "shifted": {"inputs": "shifted(1, 0.6)"},
    "clusters": {"inputs": "clusters(4, 0.6)"},
}
WITHOUT: dict[str, dict[str, Any]] = {
    "plain": {"noise": 3.0},
    "one sample": {"n": 2, "step_size": 0.4},
    "normalised": {"step_size": 0.2, "decay": 0.1},
    "orthogonal": {"update": "normalised", "step_size": 0.2},
    "labels": {"step_size": 0.4},
}
LEVEL = 1e-3 / (8 * len(CASES))


def plain_loop(setting: Setting, seed: int) -> list[np.ndarray]:
    """All runs of a setting in R^d, a whole sample at a time."""
    key, runs, scale = np.random.default_rng(seed), setting.runs, setting.scale
    p, d, n = setting.p, setting.d, setting.n
    w = key.standard_normal((runs, p, d))
    w /= np.linalg.norm(w, axis=2, keepdims=True)
    b = setting.bias * key.standard_normal((runs, p, 1))
    a = np.ones((runs, p, 1))
    for step in range(setting.steps):
        if setting.batches == "fresh" or step % 3 == 0:
            x = key.standard_normal((runs, d, n))
            if not setting.inputs.is_gaussian:
                u = np.zeros(d)
                u[[0, 5]] = 0.6, 0.8
                moved: Any = {
                    "spiked": (2.0 - 1.0) * (u @ x)[:, None],
                    "shifted": 1.0,
                    "clusters": 2.0 * key.choice([-1.0, 1.0], size=(runs, 1, n)),
                }[setting.inputs.kind]
                x += u[:, None] * moved
            y = x[:, :1] + x[:, 1:2] + x[:, :1] ** 2 - x[:, 1:2] ** 2
            y = y + setting.noise * key.standard_normal((runs, 1, n))
            y = y if setting.label_transform.is_plain else np.tanh(y)
        h = w @ x + b
        phi, slope = erf(h / 2**0.5), (2 / np.pi) ** 0.5 * np.exp(-(h**2) / 2)
        r = y - (0.0 if setting.residual == "labels" else scale * np.sum(a * phi, 1, keepdims=True))
        r = r if setting.loss == "square" else np.clip(r, -0.5, 0.5)
        g = scale * (a * slope * r) @ np.swapaxes(x, 1, 2) / n
        # A saturated neuron, its slope exp(-h^2/2) beyond the floats, has no direction: cosine 0.
        length = np.linalg.norm(g[:, 0], axis=1)
        cosine = np.divide(g[:, 0, 0], length, where=length > 0, out=np.zeros(runs))
        if setting.readout_between != "frozen":
            a = a + scale * np.sum(r * phi, axis=2, keepdims=True) / n
        if setting.update.kind.clips:
            g *= np.minimum(1.0, 0.3 / np.linalg.norm(g, axis=2, keepdims=True))
        if setting.update == "normalised":
            g /= np.linalg.norm(g, axis=2, keepdims=True)
        if setting.update == "orthogonal":
            left, values, right = np.linalg.svd(g, full_matrices=False)
            there = values > 1e-6 * values[:, :1]
            g = (left * there[:, None]) @ right
        w = (1.0 - setting.decay) * w + setting.step_size[0] * g
        if setting.rows == "normalised":
            w /= np.linalg.norm(w, axis=2, keepdims=True)
    return numbers(w[:, :, :2], w @ np.swapaxes(w, 1, 2), cosine, a[:, 0, 0])


def numbers(
    overlap: np.ndarray, gram: np.ndarray, cosine: np.ndarray, readout: np.ndarray
) -> list[np.ndarray]:
    """Eight numbers a run; what is the same in all runs is so up to rounding."""
    found = [overlap[:, 0, 0], overlap[:, 0, 1], overlap[:, 1, 0], gram[:, 0, 0], gram[:, 0, 1]]
    found += [gram[:, 1, 2], cosine, readout]
    return [np.round(values, 6) for values in found]


def observed(trajectory: Trajectory) -> list[np.ndarray]:
    assert trajectory.gram is not None
    assert trajectory.readout is not None
    last = trajectory.last_readout
    readout = trajectory.readout if last is None else last
    assert trajectory.gradient_cosine is not None
    cosine = trajectory.gradient_cosine[:, -1, 0, 0]
    return numbers(trajectory.overlap[:, -1], trajectory.gram[:, -1], cosine, readout[:, 0])


def smallest(one: list[np.ndarray], two: list[np.ndarray]) -> float:
    assert len(one) == 8
    return min(float(ks_2samp(a, b).pvalue) for a, b in zip(one, two, strict=True))


@cache
def without(name: str) -> list[np.ndarray]:
    """Of the cases that change nothing but their word, the name is empty."""
    return observed(simulate(Setting(**(BASE | WITHOUT.get(name, {})), seed=2)))


@pytest.mark.law(sentinel="labels")
@pytest.mark.parametrize("name", CASES)
def test_runs_together_have_the_law_of_a_plain_loop(name: str) -> None:
    setting = Setting(**(BASE | CASES[name]))
    assert together.covers(setting)
    loop = plain_loop(setting, 1)
    assert smallest(observed(simulate(setting)), loop) > LEVEL
    assert smallest(without(name if name in WITHOUT else ""), loop) < LEVEL


def test_a_run_depends_on_nothing_but_its_number() -> None:
    """Neither on the other runs, nor on how many are together, nor on what is recorded."""
    fields = BASE | {"runs": 3, "record": "all", "readout_n": 20, "test_n": 20}
    all_runs = simulate(Setting(**fields))
    alone = simulate(Setting(**(fields | {"runs": 1})), first=2)
    few = simulate(Setting(**fields), memory=2**16)
    seldom = simulate(Setting(**(fields | {"record": "every(5)", "readout_n": 0, "test_n": 0})))
    shorter = simulate(Setting(**(fields | {"steps": 7})))
    np.testing.assert_array_equal(all_runs.overlap[2:], alone.overlap)
    np.testing.assert_array_equal(all_runs.overlap, few.overlap)
    np.testing.assert_array_equal(all_runs.overlap[:, [0, 5, 10, 12]], seldom.overlap)
    np.testing.assert_array_equal(all_runs.overlap[:, :8], shorter.overlap)
    assert not np.array_equal(all_runs.overlap[0], all_runs.overlap[1])


def test_a_run_that_diverges_is_named() -> None:
    fields = BASE | {"activation": "He3", "step_size": 9.0, "runs": 2, "steps": 400}
    with pytest.raises(
        DivergenceError,
        match=r"^run [01] diverged: .* step_size 9 at each of 400 steps\. Use a smaller step$",
    ):
        simulate(Setting(**(fields | {"d": 100})))
