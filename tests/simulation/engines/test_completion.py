"""Beyond d directions the deferred engine knows all of R^d, and has the law of the dense one still.

Linear neurons near the least squares of their samples, whose length tells how much of R^d there is.
Two-sample Kolmogorov-Smirnov tests on squared length, cross-overlap, both overlaps and both
gradient cosines of the first neurons after five and after ten steps: 12 comparisons a case, 2
cases.  Overall level 1e-3 (Bonferroni).  An engine that goes on as if R^d had no end is rejected at
that level, and on a reused batch one that reveals nothing beyond half of R^d.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from giantstep.gaussian.coordinates import bartlett
from giantstep.problem.setting import Setting
from giantstep.simulation.engines import held, streamed
from giantstep.simulation.engines.deferred import dimensions_needed
from giantstep.simulation.simulate import choose_engine, simulate

BASE: dict[str, Any] = {
    "target": "x1 + x2^2",
    "noise": 3.0,
    "activation": "z",
    "start": "sphere",
    "readout_start": "ones",
    "d": 8,
    "n": 12,
    "p": 2,
    "steps": 10,
    "step_size": 1.0,
    "record": "every(5)",
    "readout_n": 0,
    "test_n": 0,
    "runs": 150,
}
CASES: dict[str, dict[str, Any]] = {
    "reused": {"batches": "reused"},
    "fresh": {"p": 5},
}
LEVEL = 1e-3 / (12 * len(CASES))


def observed(engine: str, seed: int, changes: dict[str, Any]) -> np.ndarray:
    """Runs by numbers."""
    found = simulate(Setting(**(BASE | changes | {"engine": engine, "seed": seed})))
    assert found.gram is not None
    columns = []
    for row in (1, 2):
        columns += [found.gram[:, row, 0, :2], found.overlap[:, row, 0]]
        columns.append(found.gradient_cosine[:, row - 1, 0])
    return np.concatenate(columns, axis=1)


def smallest(one: np.ndarray, two: np.ndarray) -> float:
    assert one.shape[1] == 12
    return min(float(ks_2samp(a, b).pvalue) for a, b in zip(one.T, two.T, strict=True))


REVEAL = held.HeldBatch.reveal


def early_end(batch: held.HeldBatch, c: np.ndarray) -> None:
    if 2 * batch.data.shape[1] < batch.setting.d:
        REVEAL(batch, c)


@pytest.mark.slow(sentinel="reused")
@pytest.mark.parametrize("name", CASES)
def test_growth_ends_with_all_of_the_space(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(**(BASE | CASES[name]))
    assert dimensions_needed(setting) > setting.d
    assert choose_engine(setting) == "dense"
    dense = observed("dense", 1, CASES[name])
    assert smallest(observed("deferred", 2, CASES[name]), dense) > LEVEL
    with monkeypatch.context() as patch:
        for module in (held, streamed):
            patch.setattr(module, "bartlett", lambda rng, k, m: bartlett(rng, k, BASE["d"]))
        assert smallest(observed("deferred", 2, CASES[name]), dense) < LEVEL
    if name == "reused":
        monkeypatch.setattr(held.HeldBatch, "reveal", early_end)
        assert smallest(observed("deferred", 2, CASES[name]), dense) < LEVEL
