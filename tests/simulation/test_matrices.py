"""Arrays that stay where they were found give the record that NumPy gives.

JAX on the CPU stands for an accelerator: samples, sums, Gram matrices, decompositions and readouts
are its arrays.  Relative to the largest entry results differ by at most 1e-9 in float64.
"""

import math
from typing import Any

import numpy as np
import pytest

from giantstep import Setting, Trajectory, simulate
from giantstep.errors import InputError
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


def test_more_rows_than_columns_are_recorded_by_as_few() -> None:
    """40 rows in R^5: span and singular values against those of the p x p Gram matrix, to 1e-9."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((40, 5)) * [3.0, 1.0, 1.0, 1.0, 0.01]
    rows = matrices.Rows(values, values[:, :2])
    few = rows.fewest
    assert few.values.shape == (5, 5)
    longest = float(np.max(rows.norms)) ** 2
    span, whole = (matrices.rows_span(each.overlap, each.gram, longest) for each in (few, rows))
    np.testing.assert_allclose(span.T @ span, whole.T @ whole, atol=1e-9)
    found = matrices.row_spectrum(few.gram, few.overlap, 5, 5)
    expected = np.linalg.svd(values)
    np.testing.assert_allclose(found[0], expected.S, rtol=1e-9)
    np.testing.assert_allclose(found[1], np.abs(expected.Vh[:, :2]), atol=1e-9)
    np.testing.assert_allclose(rows.norms, np.linalg.norm(values, axis=1))
    # A row too few loses a direction.
    lost = matrices.Rows(few.values[1:], few.overlap[1:])
    assert np.abs(matrices.rows_span(lost.overlap, lost.gram, longest) - span).max() > 1e-3


def test_a_long_common_part_of_many_rows_hides_no_direction() -> None:
    """400 rows in R^300 share a direction that is 10,000 times as long as they are.

    The first of 300 rows that stand for them is as long as all 400 together: directions that are
    measured by it are lost.
    """
    rng = np.random.default_rng(3)
    common = rng.standard_normal(300) / math.sqrt(300)
    values = rng.standard_normal((400, 300)) / math.sqrt(300) + 10_000.0 * common
    rows = matrices.Rows(values, values[:, :2])
    few = rows.fewest
    longest = float(np.max(rows.norms)) ** 2
    kept = matrices.rows_span(few.overlap, few.gram, longest)
    np.testing.assert_allclose(kept.T @ kept, np.eye(2), atol=1e-6)
    lost = matrices.rows_span(few.overlap, few.gram, float(np.max(few.norms)) ** 2)
    assert np.abs(lost.T @ lost - np.eye(2)).max() > 1e-3


def test_a_network_of_many_neurons_needs_no_square_matrices() -> None:
    """20,000 neurons in R^3: one p x p matrix would fill the memory that is given."""
    setting = Setting("x1 + x1*x2", d=3, p=20_000, n=4, steps=3, step_size="p", output_scale="1/p")
    found = simulate(setting.vary(readout_n=0, test_n=0, start="gaussian"), memory=2**28)
    assert found.gram is None
    assert found.span is not None
    # Rows that fill R^3 contain every direction of the target.
    np.testing.assert_allclose(found.span.mT @ found.span, np.eye(2) + 0 * found.span, atol=1e-6)
    with pytest.raises(InputError, match="memory must be at least"):
        simulate(setting, memory=2**28)  # the normal equations of a readout
