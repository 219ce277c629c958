"""Cosines against scipy's angles, means over runs, and scaling exponents with their intervals."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.records.scaling import Scaling, scaling_exponent
from giantstep.records.trajectory import Trajectory, principal_cosines

RUNS, STEPS, P, R, D = 5, 2, 4, 3, 40


def made_up(runs: int = RUNS, **changes: Any) -> tuple[Trajectory, np.ndarray]:
    """A trajectory of random weights in R^40, target directions the first axes, and the weights."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((runs, STEPS + 1, P, D))
    setting = Setting("x1 + x1*x2*x3", d=D, p=P, steps=STEPS, runs=runs)
    fields: dict[str, Any] = {
        "overlap": weights[..., :R],
        "gram": weights @ weights.swapaxes(-1, -2),
        "gradient_cosine": np.zeros((runs, STEPS, P, R)),
        "test_error": rng.random((runs, STEPS + 1)),
    }
    return Trajectory(setting, "dense", 0.1, **(fields | changes)), weights


@pytest.mark.parametrize("p", [3, 5, 8])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_principal_cosines_are_those_of_scipy(p: int, k: int) -> None:
    rng = np.random.default_rng(10 * p + k)
    w = rng.standard_normal((p, 12)) * np.logspace(0, 2, p)[:, None]
    u = np.linalg.qr(rng.standard_normal((12, k)))[0].T
    expected = np.sort(np.cos(subspace_angles(w.T, u.T)))[::-1]
    np.testing.assert_allclose(principal_cosines(w @ u.T, w @ w.T), expected, atol=1e-10)


def test_dependent_rows_change_nothing() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((3, 12))
    u = np.linalg.qr(rng.standard_normal((12, 2)))[0].T
    more = np.concatenate([w, -w, w[:1] + 2 * w[1:2], np.zeros((1, 12))])
    expected = principal_cosines(w @ u.T, w @ w.T)
    np.testing.assert_allclose(principal_cosines(more @ u.T, more @ more.T), expected, atol=1e-10)
    np.testing.assert_allclose(expected, np.cos(subspace_angles(w.T, u.T))[::-1], atol=1e-10)


def test_fewer_rows_than_directions_leave_cosines_of_zero() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((2, 12))
    u = np.linalg.qr(rng.standard_normal((12, 4)))[0].T
    found = principal_cosines(w @ u.T, w @ w.T)
    np.testing.assert_allclose(found[:2], np.cos(subspace_angles(w.T, u.T))[::-1], atol=1e-10)
    np.testing.assert_array_equal(found[2:], 0.0)
    np.testing.assert_array_equal(principal_cosines(0 * w @ u.T, 0 * w @ w.T), 0.0)


def test_a_subspace_that_is_reached_has_cosines_of_one() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((4, 12))
    u = np.linalg.qr(w[:2].T)[0].T
    found = principal_cosines(w @ u.T, w @ w.T)
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
    expected = np.sqrt(squares.sum(axis=0) / (RUNS - 1) / RUNS)
    np.testing.assert_allclose(error["overlap"], expected, rtol=1e-12)


def test_one_run_has_no_standard_error() -> None:
    trajectory, _ = made_up(runs=1)
    assert trajectory.mean()["overlap"].shape == (STEPS + 1, P, R)
    with pytest.raises(InputError, match="at least 2 runs, got 1"):
        trajectory.standard_error()


def test_the_record_is_json() -> None:
    trajectory, weights = made_up()
    record = json.loads(json.dumps(trajectory.as_dict(), allow_nan=False))
    assert record["runs"] == RUNS
    assert record["interrupted"] is False
    assert record["setting"]["d"] == D
    assert "train_error" not in record
    np.testing.assert_array_equal(record["overlap"], weights[..., :R])


SIZES = [1e3, 1e4, 1e5]


def power_law(
    exponent: float, runs: int, seed: int, sizes: Sequence[float] = SIZES
) -> list[np.ndarray]:
    """Gaussian numbers of size d^exponent, as overlaps are."""
    rng = np.random.default_rng(seed)
    return [d**exponent * rng.standard_normal(runs) for d in sizes]


def test_scaling_exponent_is_within_its_interval_as_often_as_it_says() -> None:
    """Coverage of the 90 % interval in 300 synthetic experiments of 30 runs a size.

    Binomial standard error 1.7 %: between 83 % and 97 %, 4 standard errors, of them hold -1/2;
    an exponent that is wrong by 0.15 is held by fewer.
    """
    found = [
        scaling_exponent(SIZES, power_law(-0.5, 30, seed), level=0.9, resamples=400, seed=seed)
        for seed in range(300)
    ]

    def coverage(exponent: float) -> float:
        return float(np.mean([s.low <= exponent <= s.high for s in found]))

    assert 0.83 < coverage(-0.5) < 0.97
    assert not 0.83 < coverage(-0.35) < 0.97
    assert np.mean([s.exponent for s in found]) == pytest.approx(-0.5, abs=0.02)


@pytest.mark.parametrize("exponent", [0.0, -0.25, -0.5, -1.0])
def test_an_exact_power_law_is_recovered_exactly(exponent: float) -> None:
    """Signs do not matter, nor does the constant; one outlier does not move a median."""
    values = [np.array([3.0, -3.0, 3.0, -3.0, 1e9]) * d**exponent for d in SIZES]
    found = scaling_exponent(SIZES, values, level=0.5)
    assert found.exponent == pytest.approx(exponent, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((exponent, exponent), abs=1e-12)


def test_a_higher_level_has_a_wider_interval() -> None:
    values = power_law(-0.5, 30, 0)
    narrow, wide = (scaling_exponent(SIZES, values, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.exponent < narrow.high < wide.high
    assert scaling_exponent(SIZES, values) == scaling_exponent(SIZES, values)


@pytest.mark.parametrize(
    ("sizes", "exponent", "verdict"),
    [
        (SIZES, 0.0, "learned"),
        (SIZES, -0.5, "not learned"),
        (SIZES, -0.25, "undecided"),
        ([1000, 2000], 0.0, "undecided"),
    ],
)
def test_verdicts(sizes: list[float], exponent: float, verdict: str) -> None:
    """The side of -1/4 at 99 % from 100 runs a size, and none where the sizes are too close.

    Standard error 0.04 over two decades, 0.25 over a factor of two: 4 comparisons, the nearest at
    6 standard errors from -1/4 where a side is expected.
    """
    assert scaling_exponent(sizes, power_law(exponent, 100, 1, sizes)).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.2, 0.1, "learned"),
        (-0.6, -0.3, "not learned"),
        (-0.3, -0.2, "undecided"),
        (-0.25, 0.0, "undecided"),
        (-0.5, -0.25, "undecided"),
    ],
)
def test_an_interval_that_touches_the_boundary_decides_nothing(
    low: float, high: float, verdict: str
) -> None:
    assert Scaling((low + high) / 2, low, high, 0.99).verdict == verdict


GOOD = [np.ones(5), np.full(5, 2.0), np.full(5, 3.0)]


@pytest.mark.parametrize(
    ("sizes", "values", "options"),
    [
        ([1e3], GOOD[:1], {}),
        (SIZES, GOOD[:2], {}),
        ([], [], {}),
        ([1e3, 1e3, 1e3], GOOD, {}),
        ([0, 1e3, 1e4], GOOD, {}),
        ([-1e3, 1e3, 1e4], GOOD, {}),
        (SIZES, [np.ones(0), *GOOD[1:]], {}),
        (SIZES, [np.ones(1), *GOOD[1:]], {}),
        (SIZES, [np.full(5, math.nan), *GOOD[1:]], {}),
        (SIZES, [np.zeros(5), *GOOD[1:]], {}),
        (SIZES, GOOD, {"level": 0.0}),
        (SIZES, GOOD, {"level": 1.5}),
    ],
    ids=[
        "one size",
        "fewer values than sizes",
        "nothing",
        "equal sizes",
        "size zero",
        "negative size",
        "no runs",
        "one run has no interval",
        "not a number",
        "median zero",
        "level 0",
        "level 1.5",
    ],
)
def test_what_has_no_exponent_is_refused(
    sizes: list[float], values: list[np.ndarray], options: dict[str, float]
) -> None:
    with pytest.raises(InputError):
        scaling_exponent(sizes, values, **options)
