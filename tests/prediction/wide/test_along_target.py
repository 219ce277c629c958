"""Overlaps of rows with target directions beside their means, after one step and two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantstep.prediction.predict import predict
from giantstep.prediction.wide import rows
from giantstep.prediction.wide.along_target import along_target_after_more, along_target_after_one
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.row_law import RowLaw, laws_of_runs
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

SETTING = Setting(
    "0.7*x1 + x1*x2",
    activation="gelu",
    d=100,
    n="4d",
    p="2d",
    steps=2,
    output_scale="1/sqrt(p)",
    start="sphere",
    readout_start="signs",
    residual="labels",
    step_size=[20.0, 18.0],
    readout_n=0,
    test_n=0,
    runs=100,
    seed=5120,
)
FULL = SETTING.vary(
    target="0.7*x1 + He2(x1)/1.4",
    activation="erf",
    n="2d",
    p="1.4d",
    start="symmetric",
    residual="full",
    noise=0.5,
    step_size=[12.7, 7.2],
)


BLOCKS = SETTING.vary(
    target="0.7*x1 + x1*x2 + He2(x1)/2",
    inputs="blocks(0.3, 2.2, 0.7, 0.486)",
    frame="axes",
    steps=1,
    n="1.5d",
    step_size=[15.0],
)
SPIKE = FULL.vary(inputs="spiked(3, 0.6)", start="gaussian", steps=1, step_size=[10.0])


def test_no_step_leaves_the_start() -> None:
    """With a step of size 0 rows have N(0, 1/d) along any direction, and no noise."""
    parts = along_target_after_one(Network(SETTING), np.array([-1.0, 1.0]), 0.0)
    assert np.allclose(parts.variance, 1.0)
    assert not np.any(parts.shared)


def test_equal_blocks_are_one() -> None:
    """Blocks of variance one have the parts of N(0, I); other variances do not."""
    at, setting = np.array([-1.0, 1.0]), BLOCKS.vary(residual="full")
    even = along_target_after_one(Network(setting.vary(inputs="gaussian", frame="random")), at)
    one = along_target_after_one(Network(setting.vary(inputs="blocks(0.5, 1, 0.5, 1)")), at)
    assert np.allclose(one.variance, even.variance)
    assert np.allclose(one.shared_variance, even.shared_variance)
    uneven = along_target_after_one(Network(setting), at)
    assert np.all(np.abs(uneven.variance / even.variance - 1.0) > 0.1)


def test_the_start_is_carried_as_by_the_matrices_of_all_axes() -> None:
    """|(1 + m Sigma^(1/2) E[r z z^T] Sigma^(1/2)) w*_k|^2 on 100 axes, without noise of samples.

    Two directions with parts in both blocks; without what the start has beside them, eq. (11), the
    sum is too small.
    """
    setting = BLOCKS.vary(frame="random", n=10**9)
    network = Network(setting)
    inputs, means = network.inputs, network.target_means
    variances = np.repeat(inputs.variances, (100 * inputs.shares).astype(int))
    # Both have the share of a block in each, and are orthogonal there.
    target = np.ones((2, 100)) / 10.0
    target[1, ::2] *= -1.0
    seen = np.sqrt(variances) * target
    seen /= np.linalg.norm(seen, axis=1, keepdims=True)
    mean = network.residual_mean
    weighted = mean * np.eye(100) + seen.T @ (means - mean * np.eye(2)) @ seen
    root, moved = np.sqrt(variances), network.size(0) / np.sqrt(setting.p)
    turn = np.eye(100) + moved * network.moments.tilt * root[:, None] * weighted * root
    parts = along_target_after_one(network, np.ones(1))
    expected = np.sum((target @ turn) ** 2, axis=1)
    assert np.allclose(parts.variance[0] - parts.shared_variance[0], expected)
    assert np.all(np.sum(parts.carried[0] ** 2, axis=1) < 0.99 * expected)


@pytest.mark.parametrize("batches", ["fresh", "reused"])
def test_a_second_step_of_size_0_changes_nothing(batches: str) -> None:
    """Whatever the batch, the parts after a second step of size 0 are those after the first."""
    network = Network(SETTING.vary(step_size=[20.0, 0.0], batches=batches))
    first = along_target_after_one(network, network.readout[0])
    second = along_target_after_more(network)
    assert np.allclose(second.carried, first.carried)
    assert np.allclose(second.noise, first.noise)
    assert np.allclose(second.shared, first.shared)


@pytest.mark.law(sentinel="labels")
@pytest.mark.parametrize(
    "setting", [SETTING, FULL, BLOCKS, SPIKE], ids=["labels", "full", "blocks", "spike"]
)
def test_variances_of_overlaps_are_those_of_runs(setting: Setting) -> None:
    """Mean squares of overlaps less their means: 100 runs, each step, each direction.

    At most four comparisons within 4 standard errors and 8 %, for the order 1/d that is left out.
    Rejected: rows that are equally random in all directions, as outside the target, and for inputs
    of several variances those of N(0, I).
    """
    runs = simulate(setting)
    assert runs.readout is not None
    for step in range(1, setting.steps + 1):
        part = setting.vary(steps=step, step_size=list(setting.step_size[:step]))
        laws = laws_of_runs(part, runs.readout)
        off = runs.overlap[:, step] - np.array([law.target for law in laws])
        squares = setting.d * np.mean(off**2, axis=1)
        expected = np.mean([law.along_target.variance for law in laws], axis=(0, 1))
        even = np.mean([law.random_square for law in laws])
        error = squares.std(axis=0, ddof=1) / np.sqrt(runs.runs)
        found = squares.mean(axis=0)
        assert np.all(np.abs(found - expected) < 4 * error + 0.08 * expected)
        assert np.all(np.abs(found - even) > 4 * error + 0.08 * even)
        if not setting.inputs.is_gaussian:
            plain = laws_of_runs(part.vary(inputs="gaussian", frame="random"), runs.readout)
            other = np.mean([law.along_target.variance for law in plain], axis=(0, 1))
            assert np.any(np.abs(found - other) > 4 * error + 0.08 * other)


@pytest.mark.law(sentinel="fresh")
@pytest.mark.parametrize("batches", ["fresh", "reused"])
def test_cosines_that_are_not_learned_take_part_in_the_comparison(batches: str) -> None:
    """tanh does not learn x2 from x1 + x1*x2: the table has its cosine, and it is compared.

    100 runs, one comparison at level 1e-3.  Deviations that are too small by a third are rejected.
    """
    setting = SETTING.vary(
        target="x1 + x1*x2", activation="tanh", step_size=[8.0, 8.0], batches=batches, seed=77
    )
    predicted, runs = predict(setting, theory="linear-width"), simulate(setting)
    assert compare(predicted, runs).agrees
    deviation, shared = predicted.overlap_deviation, predicted.overlap_shared_deviation
    assert deviation is not None
    assert shared is not None
    wrong = replace(
        predicted, overlap_deviation=deviation / 1.5, overlap_shared_deviation=shared / 1.5
    )
    assert not compare(wrong, runs).agrees


HUGE = Setting(
    "-1.14*He2(x1) + 0.53*He2(x2)",
    activation="silu",
    d=205,
    n=1122,
    p=111,
    steps=2,
    step_size=[76.9, 418.0],
    batches="reused",
    runs=2,
    seed=14,
    output_scale="1",
    start="gaussian",
    readout_start="gaussian",
    residual="labels",
    readout_n=0,
    test_n=0,
)
"""Steps that are huge on a reused batch."""


def test_huge_steps_have_deviations() -> None:
    """The leading order leaves every variance positive here, so that deviations are stated."""
    assert predict(HUGE, theory="linear-width").overlap_deviation is not None


def test_a_negative_variance_is_no_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the leading order fails, no deviation is stated, and the means are compared."""

    def negative(setting: Setting, readouts: np.ndarray) -> list[RowLaw]:
        laws = laws_of_runs(setting, readouts)
        part = laws[0].along_target
        laws[0] = replace(laws[0], along_target=replace(part, noise=part.noise - 1e6))
        return laws

    monkeypatch.setattr(rows, "laws_of_runs", negative)
    predicted = predict(HUGE, theory="linear-width")
    assert predicted.overlap_deviation is None
    assert compare(predicted, simulate(HUGE)).count > 0
