"""What runs take, counted by hand, and times of a machine that pilot runs measure."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep import Setting, estimate
from giantstep.errors import InputError
from giantstep.simulation import cost, typical
from giantstep.simulation import estimate as estimates
from giantstep.simulation.cost import Work, peak_bytes, work
from giantstep.simulation.engines.chunks import plan
from giantstep.simulation.engines.place import Place
from giantstep.simulation.estimate import pilot_setting
from giantstep.simulation.typical import CORE, H200, typical_seconds

BARE: dict[str, Any] = {"d": 1000, "n": 4096, "p": 4, "steps": 1, "readout_n": 0, "test_n": 0}


def test_a_streamed_step_by_hand() -> None:
    """One direction and p = 4 rows: 5 normals a sample, W z, c z^T and c c^T."""
    done = work(Setting("x1", **BARE))
    assert done.normals == 4096 * 5
    assert done.products == 4096 * (4 * 5 + 4 * 5 + 4 * 4)
    # Activation and slope of every neuron, and the label.
    assert done.values == 4096 * (2 * 4 + 1)
    # A pass of one block (7), a step (10), and two moments that are recorded (10 each).
    assert done.calls == 7 + 10 + 20
    assert done.compiled == 0


def test_a_dense_step_by_hand() -> None:
    done = work(Setting("x1", **BARE, engine="dense"))
    assert done.normals == 4096 * 1000
    assert done.products == 2 * 4096 * 4 * 1000
    # The start, and Gram matrices of the rows before and after and of the gradient.
    assert (done.rows, done.exact) == (4 * 1000, 3 * 4 * 4 * 1000)
    assert done.compiled == 1


def test_a_wide_step_on_an_accelerator_by_hand() -> None:
    wide: dict[str, Any] = {"d": 1024, "p": 1024, "n": 2**18, "steps": 1, "engine": "dense"}
    setting = Setting("x1", **BARE | wide, start="sphere")
    done = work(setting, accelerated=True)
    assert done.products == 2 * 2**18 * 2**20
    assert done.exact == 3 * 2**30
    assert done.calls == 5 + 10 + 2 * 10
    assert done.cubes == 2 * 1024**3
    # The rows of pairs, or of more neurons than inputs, are dependent: a decomposition for each.
    assert work(setting.vary(start="symmetric"), accelerated=True).cubes == 22 * 1024**3
    assert work(setting.vary(p=2048), accelerated=True).cubes == 22 * 2048**3


def test_deferred_blocks_are_large_on_an_accelerator() -> None:
    fields: dict[str, Any] = {"p": 8, "engine": "deferred", "device": "gpu"}
    small, large = (
        work(Setting("x1", **BARE | fields | {"n": n}), accelerated=True) for n in (4096, 2**26)
    )
    assert small.compiled == 1
    # 2^26 numbers of a block over 2 p + 8 are 24 blocks, the last one of another shape.
    assert large.compiled == 2
    assert large.calls - small.calls == pytest.approx(2 * 24, rel=1e-2)


@pytest.mark.parametrize("engine", ["deferred", "dense"])
@pytest.mark.parametrize(
    "fields",
    [{}, {"batches": "reused"}, {"readout_n": "n", "test_n": "n", "ridge": 0.1}, {"deflate": 1}],
)
def test_twice_the_samples_take_twice_the_work(engine: str, fields: dict[str, Any]) -> None:
    plain = BARE | {"n": 2**17, "engine": engine} | fields
    one, two = (work(Setting("x1", **plain | {"n": n})) for n in (2**17, 2**18))
    assert two.normals == 2 * one.normals
    assert two.products + two.exact == pytest.approx(2 * (one.products + one.exact), rel=0.3)
    assert two.flops == pytest.approx(2 * one.flops, rel=0.3)


def test_precision_and_more_neurons_cost() -> None:
    plain = Setting("x1", **BARE)
    assert work(plain.vary(precision="float64")).exact == work(plain).products
    assert work(plain.vary(precision="float64")).products == 0
    assert work(plain.vary(p=8)).products > 2 * work(plain).products
    small = Setting("x1", **BARE | {"n": 4, "steps": 1000, "record": "every(1000)"})
    looks = 2 * 10
    assert work(small).calls == 1000 + looks
    # Runs that advance together share the calls of a step.
    assert work(small.vary(runs=10)).calls == 100 + looks


def test_memory_is_what_the_engine_plans() -> None:
    dense = Setting("x1", **BARE, engine="dense")
    assert peak_bytes(dense) >= plan(dense, 2**31, Place()).bytes
    held = Setting("x1", **BARE | {"n": 10**6, "batches": "reused"})
    assert peak_bytes(held) > 8 * 10**6 * 5
    with pytest.raises(InputError, match=r"memory must be at least .*, got 1 KiB"):
        peak_bytes(held.vary(engine="deferred"), 1024)


def test_work_adds_up() -> None:
    assert Work(normals=1.0) + Work(calls=2.0) == Work(normals=1.0, calls=2.0)
    assert Work(normals=1.0, exact=3.0) * 2.0 == Work(normals=2.0, exact=6.0)
    assert np.isclose(Work(products=3.0).flops, 6.0)


# -- an H200 --------------------------------------------------------------------------------------

SQUARE: dict[str, Any] = {"d": 16384, "p": 16384, "n": 65536, "precision": "tf32", "test_n": 0}
SQUARE |= {"readout_n": 0, "steps": 2, "start": "sphere", "engine": "dense"}
EXACT: dict[str, Any] = {"steps": 2, "precision": "float64"}
FITTED_READOUT: dict[str, Any] = {"readout_n": "n", "ridge": 0.1, "batches": "reused"}
MANY: dict[str, Any] = {"d": 1000, "p": 256, "n": 8000, "steps": 40, "start": "sphere"}
MANY |= {"readout_n": 0, "test_n": 0}
READOUT = SQUARE | {"steps": 0, "readout_n": 65536, "test_n": 16384, "ridge": 1e-3}

# Seconds on an H200, with the settings they are of: what benchmarks/gpu.py printed, and the first
# run of settings, most of which is compiling.  All but the last two are
# from when XLA wrote kernels for products, which took some seconds more.
CLOCK: list[tuple[float, dict[str, Any]]] = [
    (12.5, SQUARE | {"spectra": 8}),
    (26.2, SQUARE | {"spectra": 16384}),
    (14.9, READOUT),
    (14.8, READOUT | {"ridge": "cv"}),
]
RANDOM: list[tuple[float, dict[str, Any]]] = [
    (
        8.9,
        FITTED_READOUT
        | {"d": 247, "p": 2, "n": 3477, "deflate": 1, "spectra": 5, "readout_batch": "last"},
    ),
    (11.4, FITTED_READOUT | {"d": 7197, "p": 560, "n": 3212, "spectra": 5} | EXACT),
    (9.9, {"d": 979, "p": 14, "n": 36034, "readout_n": "n", "ridge": "cv"} | EXACT),
    (12.3, {"d": 2439, "p": 74, "n": 18862, "readout_n": "n", "ridge": "cv", "deflate": 1} | EXACT),
    (
        10.8,
        {"d": 1000, "p": 500, "n": 4000, "readout_n": "n", "test_n": 1000, "ridge": 0.1} | EXACT,
    ),
    (5.2, MANY),
]


def on_h200(fields: dict[str, Any]) -> Setting:
    return Setting("x1 + x1*x2", activation="tanh", **{"engine": "dense"} | fields)


@pytest.mark.parametrize(("seconds", "fields"), CLOCK + RANDOM)
def test_an_h200_within_a_factor_of_two(seconds: float, fields: dict[str, Any]) -> None:
    """The rates are from parts that were timed by themselves."""
    expected = sum(typical_seconds(on_h200(fields), accelerated=True))
    assert 0.5 < expected / seconds < 2.0


@pytest.mark.parametrize(("seconds", "fields"), CLOCK + RANDOM)
def test_parts_that_are_left_out_are_seen(
    seconds: float, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the start on the host, decompositions and compiling it would be far off."""
    monkeypatch.setattr(typical, "H200", replace(H200, rows=0.0, cubes=0.0, compiled=0.0))
    assert sum(typical_seconds(on_h200(fields), accelerated=True)) / seconds < 0.5


def test_products_of_lower_precision_are_faster() -> None:
    wide = on_h200(SQUARE | {"n": 2**22})
    slow, fast = (
        typical_seconds(wide.vary(precision=precision), accelerated=True)[0]
        for precision in ("float32", "tf32")
    )
    products = work(wide, accelerated=True).products * H200.products
    assert slow - fast == pytest.approx(products * (1 - 1 / 6.2))


# -- pilot runs -----------------------------------------------------------------------------------


class Clock:
    """A machine whose runs take known seconds, whatever this one needs."""

    def __init__(self, machine: Work, monkeypatch: pytest.MonkeyPatch) -> None:
        self.machine, self.now, self.settings = machine, 0.0, list[Setting]()
        monkeypatch.setattr(estimates, "simulate", self.simulate)
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(time, "process_time", lambda: self.now)

    def simulate(self, setting: Setting, *, memory: int) -> None:
        self.settings.append(setting)
        self.now += self.seconds(setting)

    def seconds(self, setting: Setting) -> float:
        done = work(setting).counts
        pairs = zip(done, self.machine.counts, strict=True)
        return setting.runs * sum(count * each for count, each in pairs)


OTHER = Work(
    normals=5 * 7e-9,
    rows=5 * 4e-8,
    products=5 * 6e-11,
    exact=5 * 6e-11,
    values=5 * 6e-9,
    cubes=5 * 2e-11,
    calls=5 * 2e-4,
    compiled=5 * 0.2,
)
"""A machine five times as slow as the typical one, some kinds of work twice or half of that."""

PROBED: tuple[dict[str, Any], ...] = (
    {"n": 5_000_000, "p": 30},
    {"n": 2_000_000, "p": 10, "readout_n": 20_000, "test_n": 5000},
    {"n": 200_000, "p": 8, "steps": 4, "batches": "reused"},
    {
        "n": 400_000,
        "p": 8,
        "readout_n": "n",
        "readout_batch": "last",
        "test_n": 1000,
        "ridge": "cv",
    },
    {"n": 4, "p": 4, "steps": 300_000, "record": "log"},
    {"n": 1000, "p": 4},
)


@pytest.mark.parametrize("engine", ["deferred", "dense"])
@pytest.mark.parametrize("fields", PROBED)
def test_pilot_runs_measure_another_machine(
    engine: str, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within 25 % of what the whole setting takes there; a typical machine is far off."""
    clock = Clock(OTHER, monkeypatch)
    setting = Setting("x1 + x2", **BARE | {"engine": engine, "runs": 3} | fields)
    expected = estimate(setting)
    assert expected.measured
    assert expected.seconds == pytest.approx(clock.seconds(setting), rel=0.25)
    assert estimate(setting, calibrate=False).seconds < 0.5 * clock.seconds(setting)
    # Pilot runs are short: on the typical machine a second each.
    assert clock.now < 3 * 5 * 3.0
    assert all(each.runs == 1 for each in clock.settings)


def test_a_typical_machine_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(CORE, monkeypatch)
    setting = Setting("x1", **BARE, runs=3)
    expected = estimate(setting, calibrate=False)
    assert (expected.measured, expected.device, clock.settings) == (False, "cpu", [])
    assert expected.seconds == pytest.approx(3 * clock.seconds(setting.vary(runs=1)))
    assert expected.flops == 3 * work(setting).flops


@pytest.mark.parametrize("error", [MemoryError(), InputError("no")])
def test_a_pilot_that_fails_leaves_the_typical_machine(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(estimates, "simulate", fail)
    setting = Setting("x1", **BARE)
    assert estimate(setting) == estimate(setting, calibrate=False)


def test_a_pilot_is_the_setting_with_fewer_samples() -> None:
    setting = Setting("x1", **BARE | {"n": 10**9, "steps": 3, "readout_n": 10**8, "test_n": 9})
    setting = setting.vary(runs=7)
    pilot = pilot_setting(setting, accelerated=False)
    assert pilot is not None
    assert (pilot.p, pilot.d, pilot.activation, pilot.runs) == (4, 1000, setting.activation, 1)
    assert 0.1 < sum(typical_seconds(pilot, accelerated=False)) < 1.0
    assert pilot_setting(setting.vary(p=900), accelerated=False, most_seconds=0.01) is None


def test_a_real_pilot_of_each_engine() -> None:
    """A short setting is its own pilot run, so that its estimate is what it took."""
    plain: Callable[..., Setting] = lambda **more: Setting("x1", **BARE | more)  # noqa: E731
    for engine in ("deferred", "dense"):
        begin = time.perf_counter()
        expected = estimate(plain(engine=engine, n=500, d=50))
        assert expected.measured
        assert 0.0 < expected.seconds < 10 * (time.perf_counter() - begin)


def test_who_is_on_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of a large dense run where there is one, of the deferred where it is asked for."""
    plain = Place.__init__

    def away(self: Place, kind: str = "auto") -> None:
        plain(self)
        self.on_cpu = False

    dense = on_h200(SQUARE | {"precision": "float32"})
    small = Setting("x1", **BARE, engine="dense")
    deferred = Setting("x1", d=1000, p=2, engine="deferred")
    assert not cost.on_accelerator(dense)
    monkeypatch.setattr(Place, "__init__", away)
    assert cost.on_accelerator(dense)
    assert not cost.on_accelerator(dense.vary(device="cpu"))
    # The processor has run it before functions are compiled for an accelerator.
    assert not cost.on_accelerator(small)
    assert cost.on_accelerator(small.vary(device="gpu"))
    assert cost.on_accelerator(small.vary(precision="tf32"))
    with monkeypatch.context() as patch:
        patch.setattr(typical, "H200", replace(H200, compiled=0.0, calls=0.0))
        assert cost.on_accelerator(small)
    for runs in (1, 1000):
        assert [typical.chosen_device(s.vary(runs=runs)) for s in (dense, small)] == ["auto", "cpu"]
    assert not cost.on_accelerator(deferred)
    assert cost.on_accelerator(deferred.vary(device="gpu"))
