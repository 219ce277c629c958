"""The deferred engine has the law of the dense one.

Two-sample Kolmogorov-Smirnov tests on norms, cross-overlaps, overlaps, gradient cosines, train,
test and network error after each of T = 1, 2, 3 steps: 28 comparisons a case, 5 cases, 140 in all.
Overall level 1e-3 (Bonferroni), so that each comparison is rejected below 7e-6.  The same tests
reject engines that are wrong on purpose: chi variables with d degrees of freedom instead of d - q,
fresh batches in place of reused ones, label noise dropped, labels not deflated by their own fit.
The weakest, chi variables of a reused batch, has p = 2e-7 with 240 runs: what is known is a large
part of the 14 dimensions (in 20 of them it takes 600 runs to see as much).
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from giantstep.gaussian.coordinates import bartlett
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.engines import held, streamed
from giantstep.simulation.simulate import simulate

RUNS = 320
BASE: dict[str, Any] = {
    "d": 14,
    "n": 40,
    "p": 4,
    "steps": 3,
    "runs": RUNS,
    "readout_n": 60,
    "test_n": 400,
    "ridge": 1e-3,
}
CASES: dict[str, dict[str, Any]] = {
    "fresh": {"noise": 1.0, "start": "sphere", "output_scale": "1/sqrt(p)"},
    "reused": {"batches": "reused", "activation": "tanh", "noise": 1.0},
    "deflated": {"deflate": 1, "step_size": 2.0, "readout_start": "gaussian"},
    "last": {"readout_batch": "last", "readout_n": 40, "deflate": 1, "step_size": 2.0},
    "labels": {"residual": "labels", "start": "gaussian", "readout_start": "uniform"},
}
LEVEL = 1e-3 / (28 * len(CASES))


def observed(trajectory: Trajectory) -> dict[str, np.ndarray]:
    """One number a run: statistics of neurons 0 and 1, which stand for all by exchangeability."""
    found = {}
    assert trajectory.train_error is not None
    assert trajectory.test_error is not None
    assert trajectory.network_error is not None
    for t in range(1, trajectory.setting.steps + 1):
        found[f"norm {t}"] = trajectory.gram[:, t, 0, 0]
        found[f"cross {t}"] = trajectory.gram[:, t, 0, 1]
        found[f"overlap {t}"] = trajectory.overlap[:, t, 0, 0]
        found[f"second overlap {t}"] = np.abs(trajectory.overlap[:, t, 0, 1])
        cosines = trajectory.gradient_cosine[:, t - 1, 0]
        found[f"cosine {t}"] = np.abs(cosines[:, 0])
        found[f"share {t}"] = np.sum(cosines**2, axis=1)
        norms = trajectory.norms[:, t]
        found[f"angle {t}"] = trajectory.gram[:, t, 0, 1] / (norms[:, 0] * norms[:, 1])
        found[f"test error {t}"] = trajectory.test_error[:, t]
        found[f"network error {t}"] = trajectory.network_error[:, t]
    found["train error"] = trajectory.train_error[:, -1]
    return found


def smallest(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> float:
    return min(float(ks_2samp(one[name], two[name]).pvalue) for name in one)


def setting(name: str, engine: str, **changes: Any) -> Setting:
    seed = 1 if engine == "dense" else 2
    fields = BASE | CASES[name] | {"engine": engine, "seed": seed} | changes
    return Setting("x1 + x2 + x1^2 - x2^2", **fields)


def wrong_degrees(patch: pytest.MonkeyPatch) -> None:
    """Chi variables with d degrees of freedom instead of d - q: what is known is counted again."""
    for module in (streamed, held):
        patch.setattr(module, "bartlett", lambda rng, k, m: bartlett(rng, k, BASE["d"]))


def another_fit(patch: pytest.MonkeyPatch) -> None:
    """Deflated by a fit on other samples of the same law: the samples' own pull is dropped."""
    right = streamed.Stream.deflate

    def wrong(stream: streamed.Stream) -> streamed.Stream:
        return replace(right(stream), fitted_here=False)

    patch.setattr(streamed.Stream, "deflate", wrong)


WRONG_ENGINES = dict.fromkeys(CASES, wrong_degrees) | {"deflated": another_fit}
WRONG_EXPERIMENTS: dict[str, list[dict[str, Any]]] = {
    "fresh": [{"noise": 0.0}],
    "reused": [{"batches": "fresh"}, {"noise": 0.0}],
    "last": [{"readout_batch": "fresh"}],
}


@pytest.mark.law(sentinel="labels")
@pytest.mark.parametrize("name", list(CASES))
def test_same_law_and_no_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dense = observed(simulate(setting(name, "dense")))

    def level(**changes: Any) -> float:
        """The smallest p-value of the deferred engine beside the dense one."""
        found = observed(simulate(setting(name, "deferred", **changes)))
        assert len(found) == 28
        return smallest(found, dense)

    assert level() > LEVEL
    for change in WRONG_EXPERIMENTS.get(name, []):
        assert level(**change) < LEVEL, change
    with monkeypatch.context() as patch:
        WRONG_ENGINES[name](patch)
        assert level() < LEVEL
