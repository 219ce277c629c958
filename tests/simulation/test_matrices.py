"""Arrays that stay where they were found give the record that NumPy gives.

JAX on the CPU stands for an accelerator: samples, sums, Gram matrices, decompositions and readouts
are its arrays.  Relative to the largest entry results differ by at most 1e-9 in float64.
"""

from typing import Any

import numpy as np
import pytest

from giantstep import Setting, Trajectory, simulate
from giantstep.simulation import matrices
from giantstep.simulation.engines.dense import DenseEngine
from giantstep.simulation.engines.place import Place

BASE: dict[str, Any] = {"d": 60, "p": 48, "n": 240, "steps": 2, "start": "sphere", "noise": 0.3}
BASE |= {"output_scale": "1/sqrt(p)", "engine": "dense", "precision": "float64", "test_n": 300}

CASES: dict[str, dict[str, Any]] = {
    "all singular values, leave-one-out": {"spectra": "p", "readout_n": 400},
    "fewer samples than neurons": {"spectra": "p", "readout_n": 30},
    "leading singular values, deflated": {
        "spectra": 1,
        "readout_n": 400,
        "deflate": 1,
        "ridge": 0.1,
    },
    "paired rows, which are dependent": {"start": "symmetric", "spectra": 2, "readout_n": 400},
    "orthogonal rows": {"update": "orthogonal", "readout_n": 400, "ridge": [0.01, 0.1]},
}


def on_accelerator(patch: pytest.MonkeyPatch) -> None:
    plain = Place.__init__

    def away(self: Place, kind: str = "auto") -> None:
        plain(self, kind)
        self.on_cpu = False

    patch.setattr(Place, "__init__", away)
    patch.setattr(Place, "memory", lambda _, host: host)


def farthest(one: Trajectory, two: Trajectory) -> float:
    """The largest difference of any array over its largest entry; of a span R that of R^T R."""
    pairs = one.arrays(), two.arrays()
    assert pairs[0].keys() == pairs[1].keys()
    for arrays in pairs:
        arrays["span"] = arrays["span"].mT @ arrays["span"]
    return max(
        float(np.max(np.abs(value - pairs[1][name])) / np.max(np.abs(value)))
        for name, value in pairs[0].items()
        if np.max(np.abs(value)) > 0
    )


@pytest.mark.slow(sentinel="paired rows, which are dependent")
@pytest.mark.parametrize("name", CASES)
def test_the_record_is_that_of_the_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting("x1 + x1*x2", activation="tanh", **(BASE | CASES[name]))
    with monkeypatch.context() as patch:
        patch.setattr(DenseEngine, "_host_chunk", DenseEngine._device_chunk)
        host = simulate(setting)
    on_accelerator(monkeypatch)
    assert farthest(host, simulate(setting)) < 1e-9
    assert farthest(host, simulate(setting.vary(seed=1))) > 1e-3
    # Directions that are taken for dependent are missing in the span.
    monkeypatch.setattr(matrices, "DEPENDENT", 0.2)
    assert farthest(host, simulate(setting)) > 1e-3


def test_one_decomposition_gives_values_and_overlaps() -> None:
    """300 rows in R^320, one direction of which stands out: against the SVD, to 1e-9."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 320))
    rows += 3 * np.outer(rng.standard_normal(300), np.eye(320)[0])
    gram, overlap = rows @ rows.T, rows @ np.eye(320)[:2].T
    _, values, right = np.linalg.svd(rows)
    for most in (3, 9, 300):
        found, along = matrices.row_spectrum(gram, overlap, most)
        assert found == pytest.approx(values[:most], rel=1e-9)
        assert along == pytest.approx(np.abs(right[:8, :2]), abs=1e-9)
    assert along != pytest.approx(np.abs(right[1:9, :2]), abs=1e-3)
