"""Feature models: the sampled step is a gradient step, and which models learn as the features do.

Errors of a model are compared with those of the real features run by run; ``excess`` is the mean
difference with its standard error.  Agreement means 4 standard errors, rejection 5.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from giantstep import InputError, Setting
from giantstep.simulation.feature_models import (
    conditional_equivalent,
    distance,
    equivalences,
    expansion,
    gaussian_equivalent,
    real_features,
)
from giantstep.simulation.readout import fit_readout
from giantstep.simulation.simulate import simulate
from giantstep.simulation.stepped import SteppedRun, stepped_runs, table_errors
from giantstep.simulation.table import FeatureTable

TARGET = "x1 + He2(x1)/sqrt(2)"


def setting(**fields: Any) -> Setting:
    given = {
        "activation": "relu",
        "d": 100,
        "n": "2d",
        "p": "1.5d",
        "steps": 1,
        "step_size": "n^0.38",
        "output_scale": "1",
        "start": "sphere",
        "readout_start": "gaussian",
        "noise": 0.1,
        "readout_n": "2d",
        "test_n": 800,
        "seed": 1,
    }
    return Setting(TARGET, **(given | fields))


def stepped(record: Setting) -> SteppedRun:
    [step] = stepped_runs(record)
    return step


# -- the step -------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", ["gaussian", "rademacher"])
def test_a_run_is_that_of_the_dense_engine(inputs: str) -> None:
    """The weights of ``simulate`` in float64, its errors, and its runs by their numbers."""
    record = setting(d=40, runs=2, engine="dense", precision="float64", ridge=0.1, inputs=inputs)
    trajectory = simulate(record)
    assert trajectory.train_error is not None
    assert trajectory.test_error is not None
    for step in stepped_runs(record, [1, 0]):
        for rows, index in ((step.start, 0), (step.weights, 1)):
            gram = trajectory.gram[step.run, index]
            np.testing.assert_allclose(rows @ rows.T, gram, atol=1e-10 * np.abs(gram).max())
        training, test = (
            FeatureTable(step.features(samples.inputs), samples.labels)
            for samples in (step.training, step.test)
        )
        expected = [e[step.run, 1] for e in (trajectory.train_error, trajectory.test_error)]
        assert table_errors(record, training, test) == pytest.approx(expected, rel=1e-8)
    assert not np.allclose(trajectory.gram[0], trajectory.gram[1])


def test_a_step_of_another_size_is_along_the_same_gradient() -> None:
    """A run resized is the run of that size: one step is linear in its size."""
    record = setting()
    longer = record.vary(step_size=3.0 * record.step_size[0])
    resized, other = stepped(record).resized(longer.step_size[0]), stepped(longer)
    assert resized.setting == longer
    np.testing.assert_allclose(resized.weights, other.weights, atol=1e-12)
    assert np.max(np.abs(stepped(record).weights - other.weights)) > 1e-3


def test_the_readout_may_be_fitted_on_the_batch() -> None:
    step = stepped(setting(d=20, readout_batch="last"))
    np.testing.assert_array_equal(step.training.inputs, step.batch.inputs)
    np.testing.assert_array_equal(step.training.labels, step.batch.labels)
    fresh = stepped(setting(d=20))
    assert not np.array_equal(fresh.training.inputs, fresh.batch.inputs)


def test_labels_may_be_flipped() -> None:
    clean = Setting("x1", d=20, n=40, steps=1, start="sphere", readout_start="gaussian")
    labels = stepped(clean).batch.labels
    flipped = stepped(clean.vary(corruption=1.0)).batch.labels
    assert np.array_equal(flipped, -labels)


@pytest.mark.parametrize("residual", ["full", "labels"])
def test_the_step_descends_the_loss(residual: str) -> None:
    """(W1 - W0)/step_size is minus the derivative of half the mean squared loss, by differences."""
    record = setting(activation="tanh", d=7, n=20, p=4, output_scale="1/sqrt(p)", residual=residual)
    step = stepped(record)

    def loss(weights: np.ndarray) -> float:
        output = record.scale * np.tanh(step.batch.inputs @ weights.T) @ step.readout
        if residual == "labels":  # the derivative of -y f alone
            return float(np.mean(-step.batch.labels * output))
        return float(np.mean(0.5 * (step.batch.labels - output) ** 2))

    for i, j in [(0, 0), (2, 5), (3, 6)]:
        bump = np.zeros_like(step.start)
        bump[i, j] = 1e-5
        slope = (loss(step.start + bump) - loss(step.start - bump)) / 2e-5
        moved = (step.weights - step.start)[i, j] / record.step_size[0]
        assert moved == pytest.approx(-slope, abs=1e-9)


def test_expansion_is_exact_for_a_rank_one_step_of_a_polynomial() -> None:
    """He1: F_1 = F0 + eta (X beta) a^T whatever the size; higher orders add nothing."""
    step = stepped(setting(activation="He1", d=30, test_n=50))
    x = step.test.inputs
    key = np.random.default_rng(0)
    real = real_features(step)(x, key)
    for order in (1, 4):
        np.testing.assert_allclose(expansion(step, order)(x, key), real, atol=1e-9)
    assert distance(expansion(step, 0)(x, key), real) > 0.1


def test_models_have_the_moments_of_the_features() -> None:
    """Mean and second moment of each feature over 20000 inputs within 5 joint standard errors.

    The Gaussian equivalent matches them by construction, the conditional one after averaging over
    kappa; the features of the start do not have them.
    """
    step = stepped(setting(d=40, n=160, p=20, readout_n=20_000, test_n=20_000))
    x, other = step.test.inputs, step.training.inputs
    real = real_features(step)(x, np.random.default_rng(1))

    def worst(phi: np.ndarray) -> float:
        gaps = []
        for power in (1, 2):
            error = np.sqrt((np.var(real**power, axis=0) + np.var(phi**power, axis=0)) / len(x))
            gaps.append(np.abs(np.mean(real**power, axis=0) - np.mean(phi**power, axis=0)) / error)
        return float(np.max(gaps))

    for model in (gaussian_equivalent(step), conditional_equivalent(step)):
        assert worst(model(other, np.random.default_rng(2))) < 5
    assert worst(expansion(step, 0)(other, np.random.default_rng(2))) > 10


# -- learning -------------------------------------------------------------------------------------


@pytest.mark.law(sentinel="sphere")
@pytest.mark.parametrize("start", ["sphere", "symmetric"])
def test_before_the_step_all_models_agree(start: str) -> None:
    found = equivalences(setting(step_size=0, start=start), orders=(2,), runs=16)
    for what in ("train", "test"):
        for model in ("gaussian", "conditional"):
            excess, error = found.excess(model, what)
            assert abs(excess) < 4 * error
        assert found.excess("expansion 2", what)[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.law(sentinel="relu-2d-n^0.38")
@pytest.mark.parametrize(
    ("activation", "n", "step_size"), [("relu", "2d", "n^0.38"), ("tanh(z + 0.5)", "4d", "n^0.42")]
)
def test_after_a_giant_step_only_the_conditional_equivalent_holds(
    activation: str, n: str, step_size: str
) -> None:
    record = setting(activation=activation, n=n, step_size=step_size)
    found = equivalences(record, orders=(), runs=24)
    for what in ("train", "test"):
        excess, error = found.excess("conditional", what)
        assert abs(excess) < 4 * error
    excess, error = found.excess("gaussian")
    assert excess > 5 * error
    assert found.mean("gaussian", "distance")[0] > found.mean("conditional", "distance")[0]


@pytest.mark.law
def test_the_right_order_of_the_expansion() -> None:
    """n^0.3 lies between 1/4 and 1/3: two spikes.  F_2 is nearer than F_1, F_1 than F_0."""
    found = equivalences(setting(step_size="n^0.3"), orders=(0, 1, 2), runs=24)
    models = [found.models[f"expansion {order}"] for order in (0, 1, 2)]
    for worse, better in pairwise(models):
        for gain, least in (
            (worse.distance - better.distance, 5),
            (worse.test - better.test, 4),
            (worse.train - better.train, 2),
        ):
            assert gain.mean() > least * gain.std(ddof=1) / np.sqrt(len(gain))
    first, second = (found.excess(f"expansion {order}") for order in (1, 2))
    assert first[0] > 4 * first[1]
    assert abs(second[0]) < 0.6 * first[0]


@pytest.mark.law
def test_pairs_of_the_symmetric_start_share_their_noise() -> None:
    """The conditional equivalent with independent noise in a pair misses the training error."""
    record = setting(start="symmetric", p=140, noise=0.5, step_size="n^0.25", ridge=0.1)
    gaps = np.empty((24, 2))
    for step in stepped_runs(record, range(24)):
        x, y = step.training.inputs, step.training.labels
        key = np.random.default_rng(step.run)
        alone = replace(step, setting=record.vary(start="sphere"))
        trains = [
            fit_readout(FeatureTable(phi, y), record).train_errors[0]
            for phi in (
                real_features(step)(x, key),
                conditional_equivalent(step)(x, key),
                conditional_equivalent(alone)(x, key),
            )
        ]
        gaps[step.run] = np.array(trains[1:]) - trains[0]
    mean, error = gaps.mean(axis=0), gaps.std(axis=0, ddof=1) / np.sqrt(24)
    assert abs(mean[0]) < 4 * error[0]
    assert abs(mean[1]) > 5 * error[1]


def test_ridge_on_both_sides_of_n_equal_p() -> None:
    key = np.random.default_rng(5)
    for n, p in ((30, 20), (20, 30)):
        phi, y = key.standard_normal((n, p)), key.standard_normal(n)
        psi, z = key.standard_normal((7, p)), key.standard_normal(7)
        record = setting(p=p, ridge=0.3, output_scale="1/sqrt(p)")
        s = record.scale
        a = np.linalg.solve(s**2 * phi.T @ phi / n + 0.3 * np.eye(p), s * phi.T @ y / n)
        expected = (np.mean((y - s * phi @ a) ** 2), np.mean((z - s * psi @ a) ** 2))
        found = table_errors(record, FeatureTable(phi, y), FeatureTable(psi, z))
        assert found == pytest.approx(expected)


def test_runs_are_reproducible() -> None:
    record = setting(d=40)
    one, two = (equivalences(record, runs=3, orders=(1,), seed=7) for _ in range(2))
    longer = equivalences(record, runs=4, orders=(1,), seed=7)
    for name in one.models:
        np.testing.assert_array_equal(one.models[name].test, two.models[name].test)
        np.testing.assert_array_equal(one.models[name].test, longer.models[name].test[:3])
    other = equivalences(record, runs=3, orders=(1,), seed=8)
    assert not np.array_equal(one.models["real"].test, other.models["real"].test)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="steps must be at least 1"):
        stepped(setting(steps=0))
    with pytest.raises(InputError, match="inputs must be gaussian"):
        equivalences(setting(inputs="rademacher"))
    with pytest.raises(InputError, match="deflate must be -1"):
        stepped(setting(deflate=1))
    with pytest.raises(InputError, match="readout_n must be positive"):
        stepped(setting(readout_n=0, test_n=0))
    with pytest.raises(InputError, match="ridge must be positive, got 0"):
        equivalences(setting(), ridge=0.0)
    with pytest.raises(InputError, match="runs must be at least 2"):
        equivalences(setting(), runs=1)
