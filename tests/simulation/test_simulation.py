"""Simulations from the outside: reproducible, honest when they fail, and what they should find."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from giantstep.analysis.analyze import analyze
from giantstep.errors import DivergenceError
from giantstep.problem.setting import Setting
from giantstep.records.scaling import Scaling, scaling_exponent
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.engines.deferred import held_bytes
from giantstep.simulation.meter import Meter
from giantstep.simulation.simulate import (
    MEMORY,
    choose_engine,
    expected_samples,
    make_engine,
    simulate,
)

TARGET = "x1 + x1*x2"
SMALL: dict[str, Any] = {"d": 60, "n": 200, "p": 4, "test_n": 100}
NO_READOUT = {"readout_n": 0, "test_n": 0}
ENGINES = pytest.mark.parametrize("engine", ["deferred", "dense"])


def assert_same(one: Trajectory, two: Trajectory, runs: int) -> None:
    assert set(one.arrays()) == set(two.arrays())
    for name, value in one.arrays().items():
        np.testing.assert_array_equal(value[:runs], two.arrays()[name][:runs], name)


@ENGINES
@pytest.mark.parametrize("fields", [{}, {"batches": "reused", "deflate": 1, "noise": 0.5}])
def test_a_run_does_not_depend_on_the_number_of_runs(engine: str, fields: dict[str, Any]) -> None:
    setting = Setting(TARGET, **SMALL, engine=engine, spectra=2, seed=7, **fields)
    few, many = simulate(setting.vary(runs=5)), simulate(setting.vary(runs=8))
    assert (few.runs, many.runs) == (5, 8)
    assert_same(few, many, 5)
    # Runs differ from each other.
    assert len(np.unique(many.gram[:, 1, 0, 0])) == 8


@pytest.mark.slow(sentinel="*-deferred")
@ENGINES
@pytest.mark.parametrize(
    ("batches", "readout_batch", "deflate"),
    [("fresh", "last", 1), ("reused", "last", -1), ("reused", "last", 1), ("reused", "fresh", 1)],
)
def test_measuring_does_not_change_a_run(
    engine: str, batches: str, readout_batch: str, deflate: int
) -> None:
    setting = Setting(
        "x1 + He2(x1)*x2",
        d=60,
        n=100,
        p=4,
        steps=3,
        step_size=1.0,
        engine=engine,
        batches=batches,
        readout_batch=readout_batch,
        deflate=deflate,
        test_n=50,
    )
    with_readout = simulate(setting)
    without = simulate(setting.vary(**NO_READOUT))
    np.testing.assert_array_equal(with_readout.gram, without.gram)
    shorter = simulate(setting.vary(steps=2))
    np.testing.assert_array_equal(with_readout.gram[:, :3], shorter.gram)
    assert not np.array_equal(with_readout.gram, simulate(setting.vary(seed=1)).gram)


@ENGINES
def test_another_seed_is_another_experiment(engine: str) -> None:
    setting = Setting(TARGET, **SMALL, engine=engine)
    one, again, other = (simulate(setting.vary(seed=seed)) for seed in (0, 0, 1))
    assert_same(one, again, 1)
    for name in ("overlap", "gram", "gradient_cosine", "train_error", "test_error"):
        assert not np.array_equal(one.arrays()[name], other.arrays()[name]), name


@ENGINES
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_shapes(engine: str, steps: int) -> None:
    fields = SMALL | {"p": 6, "steps": steps, "runs": 2, "engine": engine, "spectra": 5}
    setting = Setting("x1 + x1*x2*x3", **fields, ridge=(1e-4, 1e-2))
    trajectory = simulate(setting)
    t = steps + 1
    expected = {
        "overlap": (2, t, 6, 3),
        "gram": (2, t, 6, 6),
        "gradient_cosine": (2, steps, 6, 3),
        "train_error": (2, t),
        "test_error": (2, t),
        "test_error_uncertainty": (2, t),
        "network_error": (2, t),
        "ridge": (2, t),
        "train_error_by_ridge": (2, t, 2),
        "test_error_by_ridge": (2, t, 2),
        "weights.singular_values": (2, t, 5),
        "weights.overlap": (2, t, 6, 3),
        "norms": (2, t, 6),
        "span": (2, t, 3, 3),
        "features.singular_values": (2, t, 5),
    } | ({"gradients.singular_values": (2, steps, 5)} if steps else {})
    shapes = {name: value.shape for name, value in trajectory.arrays().items()}
    assert expected == {name: shapes[name] for name in expected}
    assert all(value.dtype == np.float64 for value in trajectory.arrays().values())
    assert trajectory.engine == engine
    assert trajectory.setting is setting
    assert trajectory.seconds > 0
    assert not trajectory.interrupted


@ENGINES
def test_without_a_readout_there_are_no_errors(engine: str) -> None:
    trajectory = simulate(Setting(TARGET, **(SMALL | NO_READOUT), engine=engine))
    found = trajectory.arrays()
    assert {"overlap", "gram", "gradient_cosine"} <= set(found)
    assert not [name for name in found if "error" in name or "ridge" in name or "singular" in name]
    assert trajectory.test_error is None


@ENGINES
def test_no_steps_leave_the_start(engine: str) -> None:
    trajectory = simulate(Setting(TARGET, **SMALL, steps=0, runs=3, engine=engine))
    np.testing.assert_allclose(trajectory.norms, 1.0, rtol=1e-6)
    # The symmetric start: neuron i + p/2 is neuron i.
    np.testing.assert_array_equal(trajectory.overlap[:, :, :2], trajectory.overlap[:, :, 2:])


@ENGINES
def test_the_symmetric_network_answers_zero_before_the_first_step(engine: str) -> None:
    """Its error is E y^2 = 4 for x1 + He2(x1) + x2: 4 runs of 5000 samples, 5 standard errors.

    One comparison for each engine; after a step it is another number.
    """
    setting = Setting("x1 + x1^2 - 1 + x2", d=60, p=4, runs=4, steps=1, engine=engine, test_n=5000)
    found = simulate(setting).network_error
    assert found is not None
    # Var y^2 = E y^4 - 16, y = x1 + He2(x1) + x2
    z = np.random.default_rng(0).standard_normal((200_000, 2))
    spread = np.std((z[:, 0] + z[:, 0] ** 2 - 1 + z[:, 1]) ** 2)
    error = spread / math.sqrt(4 * 5000)
    assert abs(found[:, 0].mean() - 4.0) < 5 * error
    assert not abs(found[:, 1].mean() - 4.0) < 5 * error


DIVERGING = [
    NO_READOUT,
    {},
    {"precision": "float64"},
    {"batches": "reused"} | NO_READOUT,
    {"batches": "reused", "precision": "float64", "deflate": 1},
    {"readout_batch": "last", "spectra": 3},
    # More than one block: in threads, where a warning must not be seen either.
    {"n": 10_000} | NO_READOUT,
    {"n": 10_000, "deflate": 1, "readout_n": 9000},
]


@pytest.mark.slow(sentinel="*-deferred")
@ENGINES
@pytest.mark.parametrize("fields", DIVERGING, ids=str)
def test_divergence_is_said_and_no_nan_escapes(engine: str, fields: dict[str, Any]) -> None:
    setting = Setting(
        TARGET, activation="He3", step_size=1e10, steps=6, engine=engine, **(SMALL | fields)
    )
    said = r"^run 0 diverged: [a-z ]+ (is|are) not finite after step [1-6], with step_size 1e\+10"
    with pytest.raises(DivergenceError, match=said):
        simulate(setting)


@ENGINES
def test_large_is_not_divergent(engine: str) -> None:
    setting = Setting(TARGET, **SMALL, step_size=1e10, engine=engine, precision="float64")
    trajectory = simulate(setting)
    assert np.max(trajectory.norms) > 1e9
    assert all(np.all(np.isfinite(value)) for value in trajectory.arrays().values())


@ENGINES
def test_an_interrupt_keeps_the_finished_runs_where_asked_to(engine: str) -> None:
    setting = Setting(TARGET, **SMALL, runs=4, engine=engine)
    a_run = expected_samples(setting) // 4

    def stop(share: float, samples: int) -> None:
        if samples > 2 * a_run:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(setting, progress=stop)
    stopped = simulate(setting, progress=stop, partial=True)
    assert stopped.interrupted
    assert stopped.runs == 2
    whole = simulate(setting)
    assert not whole.interrupted
    assert_same(stopped, whole, 2)


@ENGINES
def test_an_interrupt_of_the_first_run_leaves_nothing(engine: str) -> None:
    def stop(share: float, samples: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(Setting(TARGET, **SMALL, runs=4, engine=engine), progress=stop, partial=True)


@ENGINES
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"ridge": 1e-3},
        {"deflate": 1, "noise": 0.3},
        {"batches": "reused"},
        {"batches": "reused", "deflate": 1},
        {"readout_batch": "last"},
        {"readout_batch": "last", "deflate": 0},
        {"p": 20, "readout_n": 12},
        {"n": 10_000, "steps": 1} | NO_READOUT,
    ],
    ids=str,
)
def test_progress_grows_to_one_and_gets_there_last(engine: str, fields: dict[str, Any]) -> None:
    shares: list[float] = []
    setting = Setting(TARGET, **(SMALL | {"engine": engine, "runs": 2} | fields))
    simulate(setting, progress=lambda share, samples: shares.append(share))
    assert all(before <= after for before, after in pairwise(shares))
    assert shares[-1] == 1.0
    assert shares.count(1.0) == 1


@pytest.mark.parametrize(
    ("fields", "engine"),
    [
        ({"d": 1000}, "deferred"),
        ({"d": 10**9}, "deferred"),
        ({"d": 18, "n": 50}, "deferred"),
        ({"d": 17, "n": 50}, "dense"),
        ({"d": 20, "batches": "reused", "steps": 2}, "dense"),
        ({"d": 1000, "inputs": "rademacher"}, "dense"),
        ({"d": 1000, "engine": "dense"}, "dense"),
        ({"d": 17, "engine": "deferred"}, "deferred"),
    ],
    ids=str,
)
def test_auto_chooses_deferred_where_it_is_exact(fields: dict[str, Any], engine: str) -> None:
    """Fresh batches need r + 2 p = 18 dimensions, reused ones p more for each further step."""
    assert choose_engine(Setting(TARGET, **fields)) == engine


def test_auto_leaves_a_batch_that_does_not_fit_to_the_dense_engine() -> None:
    setting = Setting(TARGET, batches="reused")
    needed = held_bytes(setting)
    assert choose_engine(setting, needed) == "deferred"
    assert choose_engine(setting, needed - 1) == "dense"


@ENGINES
def test_singular_values_are_those_of_the_matrices(engine: str) -> None:
    """W, the gradient (W' - W)/eta and the features, rebuilt step by step; svd by NumPy."""
    fields = SMALL | {"readout_n": 50, "precision": "float64"}
    setting = Setting(TARGET, **fields, engine=engine, spectra=3, start="sphere")
    trajectory = simulate(setting)
    replay: Any = make_engine(setting, MEMORY, Meter(1, None))
    replay.begin(0)
    before = None
    for t in range(setting.steps + 1):
        weights = np.asarray(replay.weights if engine == "dense" else replay.rows)
        features, _ = replay.training(t).collect()
        expected = {
            "weights.singular_values": weights,
            "features.singular_values": features / math.sqrt(50),
        }
        for name, matrix in expected.items():
            values = np.linalg.svd(matrix, compute_uv=False)[:3]
            np.testing.assert_allclose(trajectory.arrays()[name][0, t], values, rtol=1e-6)
        if before is not None and engine == "dense":
            gradient = (weights - before) / setting.step_size[t - 1]
            values = np.linalg.svd(gradient, compute_uv=False)[:3]
            found = trajectory.arrays()["gradients.singular_values"][0, t - 1]
            np.testing.assert_allclose(found, values, rtol=1e-6)
        before = weights
        if t < setting.steps:
            replay.step(t)


def test_small_singular_values_survive_a_large_step() -> None:
    """Single precision: 1 part in 10^3 of the ones that stay of order one beside some of 10^3."""
    fields = {"d": 2000, "n": 4000, "steps": 1, "step_size": 1e4, "spectra": 8} | NO_READOUT
    setting = Setting(TARGET, **fields, engine="dense")
    found = simulate(setting).arrays()["weights.singular_values"]
    replay: Any = make_engine(setting, MEMORY, Meter(1, None))
    replay.begin(0)
    replay.step(0)
    values = np.linalg.svd(np.asarray(replay.weights, dtype=float), compute_uv=False)
    assert values[0] > 1e3
    assert values[-1] < 2
    np.testing.assert_allclose(found[0, 1], values, rtol=1e-3)


@ENGINES
def test_gradients_of_the_symmetric_start_pair_up(engine: str) -> None:
    """Neurons i and i + p/2 get opposite gradients: half the singular values vanish at step 1."""
    setting = Setting(TARGET, **SMALL, engine=engine, spectra=4, precision="float64")
    found = simulate(setting).arrays()["gradients.singular_values"]
    assert np.all(found[0, 0, :2] > 0.1 * found[0, 0, 0])
    # Square roots of eigenvalues that are zero to rounding.
    assert np.all(found[0, 0, 2:] < 1e-6 * found[0, 0, 0])
    assert np.all(found[0, 1] > 1e-6 * found[0, 1, 0])


@ENGINES
def test_several_penalties_fill_the_table_and_one_is_chosen(engine: str) -> None:
    fields = SMALL | {"ridge": (1e-4, 1e-2, 10.0), "engine": engine, "runs": 3}
    trajectory = simulate(Setting(TARGET, **fields))
    errors, train = trajectory.test_error_by_ridge, trajectory.train_error_by_ridge
    assert errors is not None
    assert train is not None
    assert trajectory.ridge is not None
    assert trajectory.test_error is not None
    assert errors.shape == train.shape == (3, 3, 3)
    chosen = np.searchsorted((1e-4, 1e-2, 10.0), trajectory.ridge)
    np.testing.assert_array_equal(np.array((1e-4, 1e-2, 10.0))[chosen], trajectory.ridge)
    picked = np.take_along_axis(errors, chosen[..., None], axis=-1)[..., 0]
    np.testing.assert_array_equal(picked, trajectory.test_error)
    # More penalty, more training error.
    assert np.all(np.diff(train, axis=-1) > 0)
    alone = simulate(Setting(TARGET, **(fields | {"ridge": 1e-2})))
    np.testing.assert_allclose(alone.test_error, errors[..., 1], rtol=1e-9)
    np.testing.assert_array_equal(alone.ridge, 1e-2)


def mean_test_error(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Mean over runs and the larger of its two standard errors: of the runs, of the samples."""
    assert trajectory.test_error is not None
    assert trajectory.test_error_uncertainty is not None
    runs = trajectory.runs
    between = trajectory.standard_error()["test_error"]
    within = np.sqrt(np.sum(trajectory.test_error_uncertainty**2, axis=0)) / runs
    return trajectory.test_error.mean(axis=0), np.maximum(between, within)


@pytest.mark.parametrize("target", ["staircase", "equal-links"])
def test_no_readout_beats_the_floor_of_what_is_learned(target: str) -> None:
    """Narrow floors E Var(f | P_U x) at d = 20,000, n = 8d: 4 runs, within 3 standard errors.

    Steps 0, 1, 2 of two targets: 6 one-sided comparisons, 0.8 % of seeds would fail at worst.  The
    floor of one step earlier is rejected wherever a step learns something.
    """
    setting = Setting(
        target, d=20_000, n="8d", p=8, runs=4, readout_n="d", engine="deferred", seed=1
    )
    mean, error = mean_test_error(simulate(setting))
    # Nothing more is learned once a staircase has ended.
    floors = [entry.narrow for entry in analyze(target).floors]
    floors = np.array((floors + floors[-1:])[:3])
    assert np.all(mean > floors - 3 * error)
    learns = floors[1:] < floors[:-1]
    assert np.array_equal(learns, [True, target == "staircase"])
    assert not np.any((mean[1:] > floors[:-1] - 3 * error[1:])[learns])


def test_a_narrow_network_reaches_its_floor_and_stops() -> None:
    """x1 + He2(x2) after one large step: x1 is fitted, the weight 2 of He2(x2) is left.

    8 runs at n = 50d, one comparison from below within 3 standard errors, from above within 10 %.
    The training error of a readout that has seen 4 samples a neuron is rejected.
    """
    base = Setting(
        "x1 + He2(x2)", d=4000, n="50d", p=10, steps=1, step_size="10p", runs=8, readout_n="d"
    )
    floor = analyze(base.target).floors[1].narrow
    assert floor == pytest.approx(2.0)
    mean, error = mean_test_error(simulate(base))
    assert floor - 3 * error[1] < mean[1] < 1.1 * floor
    wrong = simulate(base.vary(readout_n="4p", ridge=1e-9)).train_error
    assert wrong is not None
    assert not wrong[:, 1].mean() > floor - 3 * wrong[:, 1].std(ddof=1) / math.sqrt(8)


DIMENSIONS = [1000, 3162, 10_000, 31_623, 100_000]
SUM, DIFFERENCE = np.array([1.0, 1.0]) / math.sqrt(2), np.array([1.0, -1.0]) / math.sqrt(2)


def cosines(target: str, sizes: list[int], **fields: Any) -> list[Trajectory]:
    base = Setting(target, p=8, n="4d", runs=32, engine="deferred", seed=1, **NO_READOUT)
    return [simulate(base.vary(d=d, **fields)) for d in sizes]


def exponent(found: list[Trajectory], step: int, direction: np.ndarray) -> Scaling:
    """Exponent in d of |cosine| with a direction after a step: median over neurons, then runs."""
    values = [np.median(np.abs(t.cosine[:, step] @ direction), axis=1) for t in found]
    return scaling_exponent([t.setting.d for t in found], values, level=0.999)


@pytest.mark.law
@pytest.mark.parametrize(
    ("target", "second"), [("x1 + x2 + x1^2 - x2^2", 0.0), ("x1 + x2 + x1^2 + x2^2 - 2", -0.5)]
)
def test_scaling_of_the_staircase_and_of_equal_links(target: str, second: float) -> None:
    """x1 + x2 in step 1; x1 - x2 in step 2 for opposite signs of the squares, never for equal ones.

    Exponents of |cosine| in d over two decades, 0 where learned and -1/2 where not, each in its
    99.9 % interval: 4 comparisons for each of two targets, 0.8 % of seeds would fail one.  Each
    interval excludes the other exponent; the two targets are each other's wrong variant.
    """
    found = cosines(target, DIMENSIONS)
    expected = {(1, "sum"): 0.0, (1, "difference"): -0.5, (2, "sum"): 0.0}
    expected |= {(2, "difference"): second}
    for (step, name), value in expected.items():
        scaling = exponent(found, step, SUM if name == "sum" else DIFFERENCE)
        assert scaling.low <= value <= scaling.high, (step, name, scaling)
        assert not scaling.low <= -0.5 - value <= scaling.high, (step, name, scaling)
        assert scaling.verdict == ("learned" if value == 0 else "not learned"), (step, name)


@pytest.mark.law(sentinel="steps that are not giant")
@pytest.mark.parametrize(
    ("fields", "step", "direction"),
    [
        ({"step_size": "p*d^-0.5"}, 1, SUM),
        ({"activation": "erf"}, 2, DIFFERENCE),
    ],
    ids=["steps that are not giant", "an odd activation in the second step"],
)
def test_what_should_not_learn_does_not(
    fields: dict[str, Any], step: int, direction: np.ndarray
) -> None:
    """The comparison above, at 99.9 %, on two runs of the staircase that are wrong on purpose."""
    scaling = exponent(cosines("staircase", DIMENSIONS[:4], **fields), step, direction)
    assert scaling.verdict == "not learned"
    assert not scaling.low <= 0.0 <= scaling.high
