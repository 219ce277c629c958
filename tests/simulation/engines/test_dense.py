"""The dense engine: against plain NumPy on the same samples, and its streams."""

import gc
import weakref
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from giantstep.errors import InputError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.inputs import LAWS
from giantstep.problem.randomness import Purpose
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.chunks import plan
from giantstep.simulation.engines.dense import DenseEngine
from giantstep.simulation.engines.place import Place
from giantstep.simulation.engines.samples import HostSampler, block_size
from giantstep.simulation.meter import Meter
from giantstep.simulation.readout import fit_readout
from giantstep.simulation.simulate import MEMORY, simulate


def plain_steps(setting: Setting) -> list[np.ndarray]:
    """The rows of W after each step, in NumPy and float64, on the engine's own samples."""
    engine = DenseEngine(setting, MEMORY, Meter(1, None))
    engine.begin(0)
    rows, frame = np.asarray(engine.weights, float), np.asarray(engine.frame, float)
    a, s = engine.readout, setting.scale
    found = [rows]
    for t in range(setting.steps):
        step = 0 if setting.batches == "reused" else t
        size = -(-setting.n // block_size(setting.d)) * block_size(setting.d)
        chunk, noise = HostSampler(setting, 0).chunk(Purpose.BATCH, step, 0, size, setting.n)
        x, eps = chunk[: setting.n].astype(float), noise[: setting.n].astype(float)
        y = setting.target(list((x @ frame.T).T)) + setting.noise * eps
        if setting.deflate >= 0:
            centred = y - y.mean()
            y = centred - (x @ (centred @ x / setting.n) if setting.deflate == 1 else 0.0)
        pre = x @ rows.T
        output = s * setting.activation(pre) @ a if setting.residual == "full" else 0.0
        c = (y - output)[:, None] * s * a * setting.activation.derivative(pre)
        rows = rows + setting.step_size[t] / setting.n * c.T @ x
        found.append(rows)
    return found


CASES: list[dict[str, Any]] = [
    {},
    {"batches": "reused", "noise": 0.3},
    {"deflate": 1, "step_size": 3.0},
    {"deflate": 0, "residual": "labels"},
    {"activation": "gelu", "start": "gaussian", "readout_start": "gaussian"},
    {"inputs": "rademacher", "start": "sphere"},
    {"inputs": "mixture(0.7)", "frame": "axes"},
    {"inputs": "correlated(0.4)", "output_scale": "1/sqrt(p)"},
]


@pytest.mark.parametrize("fields", CASES)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_steps_are_those_of_plain_numpy(fields: dict[str, Any], precision: str) -> None:
    setting = Setting(
        "x1 + x2 + x1^2 - x2^2",
        d=70,
        n=500,
        p=6,
        engine="dense",
        precision=precision,
        **({"readout_n": 0, "test_n": 0} | fields),
    )
    trajectory = simulate(setting)
    rows = plain_steps(setting)
    # Single precision: sums of 500 products of size one, 1e-7 each, through two steps.
    tolerance = 1e-10 if precision == "float64" else 2e-4
    for t, w in enumerate(rows):
        scale = np.abs(w @ w.T).max()
        np.testing.assert_allclose(trajectory.gram[0, t], w @ w.T, atol=tolerance * scale)


@pytest.mark.slow(sentinel="gaussian")
@pytest.mark.parametrize("law", ["gaussian", "student(6)", "mixture(0.5)", "uniform"])
def test_results_do_not_depend_on_the_chunk(law: str) -> None:
    setting = Setting(
        "x1 + x1*x2", d=1000, n=1500, p=4, inputs=law, engine="dense", noise=0.2, test_n=1500
    )
    small, large = (simulate(setting, memory=m) for m in (48 * 2**20, MEMORY))
    assert plan(setting, 48 * 2**20, Place()).chunk < plan(setting, MEMORY, Place()).chunk
    for name, value in large.arrays().items():
        if "ridge" not in name:
            scale = np.abs(value).max()
            np.testing.assert_allclose(small.arrays()[name], value, atol=1e-4 * scale)


def every_law(path: Path) -> list[str]:
    """A law of each kind as it is typed, parameters within 3 of their lower end."""
    np.save(path, np.random.default_rng(0).standard_normal((8300, 500)))
    middle = {
        # Two blocks, whose shares sum to one.
        name: ", ".join(
            f"{r.low + min(r.high - r.low, 6.0) / 2:g}" for r in law.ranges * (1 + law.repeated)
        )
        for name, law in LAWS.items()
        if law.ranges
    }
    return [law.form(middle.get(name)).replace("FILE", str(path)) for name, law in LAWS.items()]


def test_samples_are_a_function_of_their_number_alone(tmp_path: Path) -> None:
    for law in every_law(tmp_path / "rows.npy"):
        block = block_size(500)
        base: dict[str, Any] = {"d": 500, "n": 2 * block, "readout_n": 10, "inputs": law}
        sampler = HostSampler(Setting("x1", noise=1.0, **base), 3)
        long, noise = sampler.chunk(Purpose.BATCH, 1, 0, 2 * block, 2 * block)
        short, few = sampler.chunk(Purpose.BATCH, 1, 0, block, 37)
        np.testing.assert_array_equal(short[:37], long[:37])
        np.testing.assert_array_equal(few[:37], noise[:37])
        assert not short[37:].any()
        late, _ = sampler.chunk(Purpose.BATCH, 1, block, block, 10)
        np.testing.assert_array_equal(late[:10], long[block : block + 10])
        other, _ = HostSampler(Setting("x1", **base), 4).chunk(Purpose.BATCH, 1, 0, block, 5)
        assert not np.array_equal(other[:5], long[:5])


@pytest.mark.parametrize(
    ("law", "kurtosis"),
    [("gaussian", 3.0), ("rademacher", 1.0), ("uniform", 1.8), ("student(9)", 4.2)],
)
def test_laws_have_their_moments(law: str, kurtosis: float) -> None:
    """Mean 0, variance 1 and kurtosis of 2^18 numbers, within 5 standard errors (estimated)."""
    x, _ = HostSampler(Setting("x1", d=64, inputs=law), 0).chunk(Purpose.BATCH, 0, 0, 4096, 4096)
    x = x.astype(float).ravel()
    for power, expected in ((1, 0.0), (2, 1.0), (4, kurtosis)):
        error = max((x**power).std() / np.sqrt(x.size), 1e-12)
        assert abs((x**power).mean() - expected) < 5 * error + 1e-6
        assert not abs((x**power).mean() - expected - 0.1) < 5 * error + 1e-6 or power == 4


def test_mixture_has_identity_covariance_and_two_humps() -> None:
    sampler = HostSampler(Setting("x1", d=16, inputs="mixture(0.9)"), 0)
    x, _ = sampler.chunk(Purpose.BATCH, 0, 0, 65536, 65536)
    covariance = x.T.astype(float) @ x / len(x)
    np.testing.assert_allclose(covariance, np.eye(16), atol=5 * np.sqrt(2 / len(x)))
    along = x @ sampler.prepared
    # (1 - m^2) + m^2: variance one; kurtosis 3 - 2 m^4
    assert np.mean(along**4) == pytest.approx(3 - 2 * 0.9**4, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dense", "deferred"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_callables_run_traced_or_called_back(engine: str, precision: str) -> None:
    base: dict[str, Any] = {"d": 60, "n": 200, "p": 4, "test_n": 100}
    base |= {"engine": engine, "precision": precision}
    expected = simulate(Setting("tanh(x1)*x2 + x1", activation="tanh", **base))
    for functions in (
        (lambda x1, x2: jnp.tanh(x1) * x2 + x1, jnp.tanh),
        (lambda x1, x2: np.tanh(x1) * x2 + x1, np.tanh),
    ):
        setting = Setting(functions[0], activation=functions[1], **base)
        if functions[1] is np.tanh and (engine, precision) == ("dense", "float64"):
            with pytest.raises(InputError, match="in float64, got the callable 'tanh'"):
                simulate(setting)
            continue
        found = simulate(setting)
        # Differences have an error of 1e-10, JAX's single precision one of 1e-7.
        tolerance = 1e-5 if precision == "float32" else 1e-7
        np.testing.assert_allclose(found.gram, expected.gram, atol=tolerance)


def test_memory_that_is_too_small_is_refused_with_its_bytes() -> None:
    with pytest.raises(InputError, match=r"memory must be at least .* MiB for .* got 977 KiB"):
        simulate(Setting("x1", d=2000, p=200, engine="dense"), memory=10**6)


def test_plan_keeps_to_its_memory() -> None:
    for d, p, n in ((4096, 4096, 4096**2), (10**5, 8, 10**6), (50, 10, 10**7)):
        for batches in ("fresh", "reused"):
            setting = Setting("x1", d=d, p=p, n=n, engine="dense", batches=batches)
            assert plan(setting, MEMORY, Place()).bytes <= MEMORY


@pytest.mark.parametrize("where", ["_host_chunk", "_device_chunk"])
def test_an_engine_goes_with_its_last_reference(where: str) -> None:
    """Compiled functions are kept for good; they must not keep the engine or its batch."""
    setting = Setting("x1", d=60, n=200, p=4, engine="dense", batches="reused", deflate=1)
    engine = DenseEngine(setting, MEMORY, Meter(1, None))
    engine.draw_chunk = getattr(engine, where)
    engine.begin(0)
    engine.step(0)
    fit_readout(engine.training(1), setting)
    engine.plain(1).collect()
    gone = [weakref.ref(engine), weakref.ref(engine.held[0, 0][0])]
    assert all(reference() is not None for reference in gone)
    del engine
    gc.collect()
    assert all(reference() is None for reference in gone)


@pytest.mark.parametrize("deflate", [0, 1, 2])
def test_deflated_labels_have_lost_their_fitted_hermite_part(deflate: int) -> None:
    """y - mean - <beta, x> - <T, x x^T - 1>/2 with beta and T fitted on the same samples."""
    fields: dict[str, Any] = {"d": 12, "n": 5000, "deflate": deflate, "precision": "float64"}
    setting = Setting("1 + x1 + x1*x2 + x1*x2*x3", engine="dense", noise=0.5, **fields)
    engine = DenseEngine(setting, MEMORY, Meter(0, None))
    engine.begin(0)
    x, y = engine.batch(0).inputs_and_labels()
    _, found = engine.batch(0).deflate().inputs_and_labels()
    rest = y - y.mean()
    tensor = (x.T * rest) @ x / len(x)
    parts = [y.mean(), x @ (rest @ x) / len(x)]
    parts += [0.5 * (np.sum((x @ tensor) * x, axis=1) - np.trace(tensor))]
    expected = y - sum(parts[: deflate + 1])
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert not np.allclose(found, y - sum(parts[:deflate]), atol=1e-2)
    # What is left of the target: its higher degrees and the noise, and what the fit takes along.
    # A square of three normals has a standard deviation of 5, 7 % in the mean of 5000.
    left = [3.0, 2.0, 1.0][deflate] + 0.25
    assert np.mean(found**2) == pytest.approx(left, rel=0.25)


def test_the_deferred_engine_and_theory_of_many_samples_refuse_to_deflate_degree_2() -> None:
    with pytest.raises(InputError, match="cannot hold a fit of degree 2, got deflate = 2"):
        simulate(Setting("x1", deflate=2, engine="deferred"))
    with pytest.raises(NoTheoryError, match="theory would draw random runs for about"):
        predict(Setting("x1", deflate=2, n=10**6))
