"""The deferred engine on an accelerator has the law it has on the host.

JAX on the CPU stands for the accelerator.  Two-sample Kolmogorov-Smirnov tests on norms, overlaps,
gradient cosines and errors after two steps: 6 comparisons a case, 2 cases, overall level 1e-3, so
that each is rejected below 8e-5.  Without the noise of the labels they are.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from giantstep import InputError, Setting, simulate
from giantstep.simulation.engines import deferred
from giantstep.simulation.engines.accelerated import AcceleratedBlocks

CASES: dict[str, dict[str, Any]] = {
    "deflated": {"deflate": 1, "noise": 1.0, "step_size": 2.0},
    "spiked": {"inputs": "spiked(1.5, 0.4)", "noise": 1.0, "label_transform": "tanh(y)"},
}
LEVEL = 1e-3 / 12


def setting(name: str, seed: int, **changes: Any) -> Setting:
    base: dict[str, Any] = {"d": 20, "n": 60, "p": 4, "runs": 80, "readout_n": 60, "test_n": 200}
    base |= {"ridge": 1e-3, "engine": "deferred", "seed": seed} | CASES[name] | changes
    return Setting("x1 + x1*x2", **base)


def observed(setting: Setting) -> list[np.ndarray]:
    run = simulate(setting)
    assert run.train_error is not None
    assert run.test_error is not None
    assert run.network_error is not None
    errors = [v[:, 2] for v in (run.train_error, run.test_error, run.network_error)]
    return [run.norms[:, 2, 0], run.overlap[:, 2, 0, 0], run.gradient_cosine[:, 1, 0, 0], *errors]


@pytest.mark.law(sentinel="spiked")
@pytest.mark.parametrize("name", list(CASES))
def test_the_law_is_that_of_the_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host, quiet = observed(setting(name, 1)), observed(setting(name, 2, noise=0.0))
    monkeypatch.setattr(deferred, "accelerated", lambda _: True)
    found = observed(setting(name, 3))
    assert min(ks_2samp(a, b).pvalue for a, b in zip(found, host, strict=True)) > LEVEL
    assert min(ks_2samp(a, b).pvalue for a, b in zip(found, quiet, strict=True)) < LEVEL


@pytest.mark.slow
def test_results_do_not_depend_on_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 samples in one block, and in one of 40 with one of 20 after it."""
    one = setting("deflated", 4, runs=1, steps=1, test_n=60)
    monkeypatch.setattr(deferred, "accelerated", lambda _: True)
    whole = simulate(one)

    def smaller(self: AcceleratedBlocks, p: int) -> None:
        self.block = 40

    monkeypatch.setattr(AcceleratedBlocks, "__init__", smaller)
    parts = simulate(one)
    for name, value in whole.arrays().items():
        scale = np.abs(value).max()
        np.testing.assert_allclose(parts.arrays()[name], value, atol=1e-4 * scale, err_msg=name)


def test_what_an_accelerator_cannot_do_is_said_in_one_sentence() -> None:
    with pytest.raises(InputError, match="device must be auto or cpu where JAX sees no gpu"):
        simulate(Setting("x1", d=50, device="gpu", engine="dense"))
    with pytest.raises(InputError, match="device must be auto or cpu where JAX sees no gpu"):
        simulate(Setting("x1", d=50, device="gpu"))
    with pytest.raises(InputError, match="holds batches on the host, got device = 'gpu'"):
        simulate(Setting("x1", d=50, device="gpu", batches="reused", engine="deferred"))
    simulate(Setting("x1", d=50, device="cpu", engine="dense"))
