"""Cosines against scipy's angles, and means over runs."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from giantstep.errors import InputError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.observables import expected
from giantstep.records.trajectory import Trajectory, keeps_gram, principal_cosines, span_factor

RUNS, STEPS, P, R, D = 5, 2, 4, 3, 40


def made_up(runs: int = RUNS, **changes: Any) -> tuple[Trajectory, np.ndarray]:
    """A trajectory of random weights in R^40, target directions the first axes, and the weights."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((runs, STEPS + 1, P, D))
    setting = Setting("x1 + x1*x2*x3", d=D, p=P, steps=STEPS, runs=runs)
    gram = weights @ weights.swapaxes(-1, -2)
    fields: dict[str, Any] = {
        "overlap": weights[..., :R],
        "norms": np.linalg.norm(weights, axis=-1),
        "gram": gram,
        "span": np.array([[span_factor(w[:, :R], w @ w.T) for w in run] for run in weights]),
        "gradient_cosine": np.zeros((runs, STEPS, P, R)),
        "test_error": rng.random((runs, STEPS + 1)),
    }
    return Trajectory(setting, "dense", 0.1, **(fields | changes)), weights


def cosines(w: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Of the principal angles between the rows of w and those of u, as a Trajectory has them."""
    return principal_cosines(span_factor(w @ u.T, w @ w.T), np.eye(len(u)))


@pytest.mark.parametrize("p", [3, 5, 8])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_principal_cosines_are_those_of_scipy(p: int, k: int) -> None:
    rng = np.random.default_rng(10 * p + k)
    w = rng.standard_normal((p, 12)) * np.logspace(0, 2, p)[:, None]
    u = np.linalg.qr(rng.standard_normal((12, k)))[0].T
    expected = np.sort(np.cos(subspace_angles(w.T, u.T)))[::-1]
    np.testing.assert_allclose(cosines(w, u), expected, atol=1e-10)


def test_dependent_rows_change_nothing() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((3, 12))
    u = np.linalg.qr(rng.standard_normal((12, 2)))[0].T
    more = np.concatenate([w, -w, w[:1] + 2 * w[1:2], np.zeros((1, 12))])
    expected = cosines(w, u)
    np.testing.assert_allclose(cosines(more, u), expected, atol=1e-10)
    np.testing.assert_allclose(expected, np.cos(subspace_angles(w.T, u.T))[::-1], atol=1e-10)


def test_fewer_rows_than_directions_leave_cosines_of_zero() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((2, 12))
    u = np.linalg.qr(rng.standard_normal((12, 4)))[0].T
    found = cosines(w, u)
    np.testing.assert_allclose(found[:2], np.cos(subspace_angles(w.T, u.T))[::-1], atol=1e-10)
    np.testing.assert_array_equal(found[2:], 0.0)
    np.testing.assert_array_equal(cosines(0 * w, u), 0.0)


def test_a_subspace_that_is_reached_has_cosines_of_one() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((4, 12))
    u = np.linalg.qr(w[:2].T)[0].T
    found = cosines(w, u)
    np.testing.assert_allclose(found, 1.0, atol=1e-10)
    assert np.all(found <= 1.0)


def test_cosines_and_alignment_of_each_neuron() -> None:
    trajectory, weights = made_up()
    norms = np.linalg.norm(weights, axis=-1)
    np.testing.assert_allclose(trajectory.norms, norms, rtol=1e-12)
    np.testing.assert_allclose(trajectory.cosine, weights[..., :R] / norms[..., None], rtol=1e-12)
    # The plane of x1 + x2 and x3, and all that the target sees.
    plane = np.array([[0.5**0.5, 0.5**0.5, 0.0], [0.0, 0.0, 1.0]])
    inside = np.hypot((weights[..., 0] + weights[..., 1]) / math.sqrt(2), weights[..., 2])
    np.testing.assert_allclose(trajectory.alignment(plane), inside / norms, rtol=1e-12)
    one = trajectory.alignment(np.eye(R)[:1])
    np.testing.assert_allclose(one, np.abs(trajectory.cosine[..., 0]), rtol=1e-12)


def test_principal_cosines_of_a_trajectory_are_those_of_its_weights() -> None:
    trajectory, weights = made_up()
    found = trajectory.principal_cosines(np.eye(R))
    assert found.shape == (RUNS, STEPS + 1, R)
    for run in range(RUNS):
        for t in range(STEPS + 1):
            angles = subspace_angles(weights[run, t].T, np.eye(D)[:R].T)
            np.testing.assert_allclose(found[run, t], np.cos(angles)[::-1], atol=1e-10)


def test_means_and_standard_errors_are_over_the_runs() -> None:
    trajectory, weights = made_up()
    mean, error = trajectory.mean(), trajectory.standard_error()
    assert set(mean) == set(error) == set(trajectory.arrays())
    assert {"overlap", "gram", "gradient_cosine", "test_error"} <= set(mean)
    assert "train_error" not in mean
    for name, value in trajectory.arrays().items():
        assert mean[name].shape == error[name].shape == value.shape[1:]
    np.testing.assert_allclose(mean["overlap"], weights[..., :R].mean(axis=0), rtol=1e-12)
    squares = (weights[..., :R] - mean["overlap"]) ** 2
    errors = np.sqrt(squares.sum(axis=0) / (RUNS - 1) / RUNS)
    np.testing.assert_allclose(error["overlap"], errors, rtol=1e-12)


def test_one_run_has_no_standard_error() -> None:
    trajectory, _ = made_up(runs=1)
    assert trajectory.mean()["overlap"].shape == (STEPS + 1, P, R)
    with pytest.raises(InputError, match="at least 2 runs, got 1"):
        trajectory.standard_error()


def test_what_the_record_is_of_is_json() -> None:
    trajectory, _ = made_up()
    record = json.loads(json.dumps(trajectory.summary(), allow_nan=False))
    assert record["runs"] == RUNS
    assert record["interrupted"] is False
    assert record["setting"]["d"] == D
    assert not set(record) & set(trajectory.arrays())


def test_gram_matrices_are_kept_while_they_are_few() -> None:
    """2^22 numbers over all runs and steps: 4 x 1024^2 exactly, and one neuron pair more."""
    few = Setting("x1", d=10_000, p=1024, steps=3, n=10)
    assert keeps_gram(few)
    assert not keeps_gram(few.vary(p=1026))
    assert not keeps_gram(few.vary(runs=2))


def test_magnitudes_without_fluctuations_are_not_known() -> None:
    """Overlaps of what is not learned are 0 in the mean; runs show what they fluctuate by."""
    setting = Setting("x1 + He2(x2)", d=100, p=60, n="4d", steps=2, readout_n=0, test_n=0)
    predicted = predict(setting, theory="linear-width")
    assert np.isfinite(expected(predicted)["cosine_2"]).all()
    predicted = replace(predicted, overlap_deviation=None, overlap_shared_deviation=None)
    found = expected(predicted)
    assert np.isnan(found["cosine_2"][0])
    learned = np.median(np.abs(predicted.cosine[0, 1, :, 0]))
    assert found["cosine_1"][1] == pytest.approx(learned, rel=0.01)
