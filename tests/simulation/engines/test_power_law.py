"""Power-law inputs in blocks have the law of power-law inputs without, and of twice the blocks.

Two-sample Kolmogorov-Smirnov tests on 12 numbers a run, overall level 1e-3 (Bonferroni over numbers
and the comparisons that must hold); coarse blocks and another exponent must be rejected at that
level.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from giantstep.problem.input_blocks import blocks_by_power
from giantstep.problem.inputs import LAWS
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    # The noise of a step is what the second sees of the covariance.
    "target": "x1",
    "noise": 1.0,
    "d": 100,
    "n": 100,
    "p": 2,
    "steps": 2,
    "step_size": 4.0,
    "start": "sphere",
    "readout_start": "ones",
    "readout_n": 50,
    "test_n": 200,
    "runs": 300,
    "engine": "deferred",
    "inputs": "power(0.5)",
}
LEVEL = 1e-3 / (12 * 4)


def law(**changes: Any) -> np.ndarray:
    """Lengths, overlaps, inner products, cosines and errors after each of two steps."""
    found = simulate(Setting(**(BASE | changes)))
    assert found.gram is not None
    assert found.gradient_cosine is not None
    assert found.network_error is not None
    numbers = []
    for t in (1, 2):
        numbers += [found.norms[:, t, 0], found.norms[:, t, 1], found.overlap[:, t, 0, 0]]
        numbers += [found.gram[:, t, 0, 1], found.gradient_cosine[:, t - 1, 0, 0]]
        numbers += [found.network_error[:, t]]
    return np.array(numbers)


def smallest(one: np.ndarray, two: np.ndarray) -> float:
    assert len(one) == len(two) == 12
    return min(float(ks_2samp(a, b).pvalue) for a, b in zip(one, two, strict=True))


def in_blocks(monkeypatch: pytest.MonkeyPatch, ratio: float, **changes: Any) -> np.ndarray:
    """Runs with blocks of variances that differ by another factor at most."""
    blocks = partial(blocks_by_power, ratio=ratio)
    with monkeypatch.context() as patch:
        patch.setitem(LAWS, "power", replace(LAWS["power"], blocks=blocks))
        return law(**changes)


@pytest.mark.law(sentinel="fresh")
@pytest.mark.parametrize("batches", ["fresh", "reused"])
def test_blocks_of_a_power_law(batches: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {"batches": batches}
    found = law(seed=1, **changes)
    # Twice the blocks: the factor is its square root.
    assert smallest(found, in_blocks(monkeypatch, 1.25**0.5, seed=2, **changes)) > LEVEL
    assert smallest(found, in_blocks(monkeypatch, 30.0, seed=3, **changes)) < LEVEL
    plain = {"inputs": "correlated(0.5)", "engine": "dense"}
    assert smallest(found, law(seed=4, **changes, **plain)) > LEVEL
    assert smallest(found, law(seed=5, **changes, inputs="power(0.2)")) < LEVEL
