"""A run goes on from the rows of another: exactly on the same samples, in law on fresh ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from giantstep.errors import InputError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    "target": "x1 + x2 + x1^2 - x2^2",
    "d": 24,
    "n": 30,
    "p": 4,
    "steps": 2,
    "step_size": 4.0,
    "start": "sphere",
    "readout_n": 0,
    "test_n": 0,
}
LEVEL = 1e-3 / 16
"""Two engines, two laws of the inputs, four numbers: 16 comparisons at 1e-3 together."""


def rows_of(trajectory: Trajectory) -> np.ndarray:
    assert trajectory.rows is not None
    return trajectory.rows


@pytest.mark.parametrize("inputs", ["gaussian", "spiked(3, 0.6)", "rademacher"])
def test_on_the_same_samples_the_dense_engine_goes_on_as_if_it_had_not_stopped(inputs: str) -> None:
    fields = BASE | {"engine": "dense", "batches": "reused", "inputs": inputs}
    fields |= {"precision": "float64", "readout_between": "gradient(1)"}
    whole, half = simulate(Setting(**fields)), simulate(Setting(**(fields | {"steps": 1})))
    assert half.last_readout is not None
    fields |= {"start": "given", "steps": 1, "readout_start": half.last_readout[0]}
    again = simulate(Setting(**fields, start_rows=rows_of(half)[0]))
    np.testing.assert_allclose(rows_of(again), rows_of(whole), rtol=1e-10, atol=1e-12)
    wrong = simulate(Setting(**fields, start_rows=1.01 * rows_of(half)[0]))
    assert not np.allclose(rows_of(wrong), rows_of(whole), rtol=1e-3)


@pytest.mark.law(sentinel="deferred-gaussian")
@pytest.mark.parametrize("inputs", ["gaussian", "spiked(3, 0.6)"])
@pytest.mark.parametrize("engine", ["deferred", "dense"])
def test_on_fresh_samples_the_law_is_that_of_a_run_that_did_not_stop(
    engine: str, inputs: str
) -> None:
    """120 runs of two steps of the deferred engine against one step and one more.

    The runs that go on are of the deferred engine whichever stopped.  Rejected: going on from rows
    whose coordinates are in reverse order, which have the same lengths and products.
    """
    fields = BASE | {"inputs": inputs, "runs": 120, "readout_start": "ones", "n": 200}
    fields |= {"residual": "labels"}
    whole = observed(simulate(Setting(**fields, engine="deferred", seed=1)))
    half = rows_of(simulate(Setting(**(fields | {"steps": 1}), engine=engine, seed=2)))
    found = gone_on(fields, half)
    assert min(ks_2samp(a, b).pvalue for a, b in zip(found, whole, strict=True)) > LEVEL
    wrong = gone_on(fields, half[:, :, ::-1])
    assert min(ks_2samp(a, b).pvalue for a, b in zip(wrong, whole, strict=True)) < LEVEL


def gone_on(fields: dict[str, Any], rows: np.ndarray) -> list[np.ndarray]:
    """Numbers after one more step from every run's rows."""
    more = fields | {"steps": 1, "runs": 1, "start": "given", "engine": "deferred"}
    parts = [
        observed(simulate(Setting(**more, start_rows=w, seed=3 + k))) for k, w in enumerate(rows)
    ]
    return [np.concatenate(values) for values in zip(*parts, strict=True)]


def observed(trajectory: Trajectory) -> list[np.ndarray]:
    """Length, two overlaps and a product, after the last step."""
    rows = trajectory.overlap[:, -1, 0]
    assert trajectory.gram is not None
    return [trajectory.norms[:, -1, 0], rows[:, 0], rows[:, 1], trajectory.gram[:, -1, 0, 1]]


@pytest.mark.parametrize("engine", ["deferred", "dense"])
def test_a_start_of_given_rows_is_those_rows(engine: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((4, 24)) / 5
    np.save(tmp_path / "rows.npy", rows)
    setting = Setting(
        **(BASE | {"steps": 0, "start": "given"}),
        start_rows=str(tmp_path / "rows.npy"),
        engine=engine,
    )
    found = simulate(setting)
    assert found.gram is not None
    np.testing.assert_allclose(found.overlap[0, 0], rows[:, :2], atol=1e-6)
    np.testing.assert_allclose(found.gram[0, 0], rows @ rows.T, atol=1e-6)
    assert Setting(**setting.as_dict()) == setting
    held = Setting(**(BASE | {"start": "given"}), start_rows=rows)
    assert held.unstorable == (
        "start_rows cannot be stored as a text, got what 'array of 4 x 24' does not give back"
    )


def test_theory_starts_from_given_rows() -> None:
    """As from their overlaps and Gram matrix."""
    rows = np.zeros((2, 300))
    rows[:, :4] = [[0.3, 0.2, 0.9, 0.0], [0.1, -0.5, 0.2, 0.8]]
    fields = BASE | {"d": 300, "n": 600, "p": 2, "start": "given", "step_size": 1.0}
    one = predict(Setting(**fields, start_rows=rows))
    gram, overlaps = rows @ rows.T, rows[:, :2]
    two = predict(Setting(**fields, start_gram=gram, start_overlaps=overlaps))
    other = predict(Setting(**fields, start_rows=rows[:, ::-1]))
    assert one.overlap_uncertainty is not None
    # Five standard errors of their difference, for eight numbers after two steps.
    error = 5.0 * 2**0.5 * one.overlap_uncertainty + 1e-12
    assert np.all(np.abs(one.overlap - two.overlap) < error)
    assert not np.all(np.abs(one.overlap - other.overlap) < error)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"start": "sphere"}, "start_rows needs start = given, got 'sphere'"),
        ({"p": 3}, "start_rows must have p = 3 rows, got 4"),
        ({"d": 20}, "start_rows must have rows of from 2 to 20 numbers, got 24"),
        ({"d": 30, "inputs": "uniform"}, "start_rows must have rows of 30 numbers, got 24"),
        ({"start_gram": np.eye(4)}, "start_gram must be left out where start_rows is given"),
        ({"start_rows": [[1.0], [np.nan]]}, "start_rows must be a matrix of finite numbers"),
        ({"start_rows": "no.npy"}, "start_rows cannot be read, got 'no.npy'"),
    ],
)
def test_bad_rows_are_refused(changes: dict[str, Any], sentence: str) -> None:
    fields = BASE | {"start": "given", "start_rows": np.ones((4, 24))}
    with pytest.raises(InputError, match=sentence):
        Setting(**(fields | changes))


def test_a_file_of_objects_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"start_rows must be a \.npy file"):
        Setting(**(BASE | {"start": "given"}), start_rows=str(tmp_path / "rows.npy"))
