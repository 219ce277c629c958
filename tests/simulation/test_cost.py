"""What runs take, counted by hand, and rates that are found again from times they explain."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep import Setting, estimate
from giantstep.errors import InputError
from giantstep.simulation import machine
from giantstep.simulation.cost import Work, peak_bytes, work
from giantstep.simulation.engines.chunks import plan
from giantstep.simulation.engines.place import Place
from giantstep.simulation.machine import PROBES, TYPICAL, known_rates, unit_work
from giantstep.simulation.rates import Rates, cache_file

BARE: dict[str, Any] = {"d": 1000, "n": 4096, "p": 4, "steps": 1, "readout_n": 0, "test_n": 0}


def test_a_streamed_step_by_hand() -> None:
    """One direction and p = 4 rows: 5 normals a sample, W z, c z^T and c c^T."""
    found = work(Setting("x1", **BARE))
    assert found.normals == 4096 * 5
    assert found.products == 4096 * (4 * 5 + 4 * 5 + 4 * 4)
    assert found.values == 2 * 4096 * 4
    assert (found.steps, found.moments, found.blocks) == (1, 2, 1)


def test_a_dense_step_by_hand() -> None:
    found = work(Setting("x1", **BARE, engine="dense"))
    assert found.normals == 4096 * 1000
    assert found.products == 2 * 4096 * 4 * 1000
    # The start, and Gram matrices of the rows before and after and of the gradient.
    assert (found.rows, found.exact) == (4 * 1000, 3 * 4 * 4 * 1000)
    assert found.compiled == 1


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
    small = Setting("x1", **BARE | {"n": 4, "steps": 1000})
    assert work(small).small_steps == 1000
    assert work(small.vary(runs=10)).small_steps == 100


def test_memory_is_what_the_engine_plans() -> None:
    dense = Setting("x1", **BARE, engine="dense")
    assert peak_bytes(dense) >= plan(dense, 2**31, Place()).bytes
    held = Setting("x1", **BARE | {"n": 10**6, "batches": "reused"})
    assert peak_bytes(held) > 8 * 10**6 * 5
    with pytest.raises(InputError, match=r"memory must be at least .*, got 1 KiB"):
        peak_bytes(held.vary(engine="deferred"), 1024)


TRUE = Rates(
    {
        "normals": 7e-9,
        "rows": 1.5e-8,
        "products": 6e-11,
        "exact": 12e-11,
        "values": 1.5,
        "labels": 1.5,
        "cubes": 4e-10,
        "moved": 5e-9,
        "blocks": 1e-4,
        "steps": 5e-4,
        "moments": 8e-4,
        "passes": 0.0,
        "small_steps": 1e-4,
        "compiled": 0.2,
    }
)


@pytest.mark.parametrize("engine", ["deferred", "dense"])
def test_rates_are_found_from_times(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a machine with known rates, times of settings other than the probes within 25 %."""
    plain = {"_normal_time": lambda: 5e-9, "_product_time": lambda: 4e-11}
    for name, function in plain.items():
        monkeypatch.setattr(machine, name, function)
    # One factor is in common to what is timed by itself: 1.5 here, so 7.5e-9 and 6e-11.
    truth = Rates({**TRUE.seconds, "normals": 7.5e-9})
    monkeypatch.setattr(machine, "_processor_time", lambda s: truth.of(unit_work(s), 1) * s.runs)
    found = machine.measured_rates(engine)
    for fields in (
        {"n": 50_000, "p": 30},
        {"n": 20_000, "p": 10, "readout_n": 20_000, "test_n": 5000},
        {"n": 20_000, "p": 8, "steps": 4, "batches": "reused"},
    ):
        setting = Setting("x1 + x2", **BARE | {"engine": engine} | fields)
        done = unit_work(setting)
        assert found.of(done, 1) == pytest.approx(truth.of(done, 1), rel=0.25)
    # A machine of twice the speed is not taken for this one.
    slow = Rates({name: 2 * value for name, value in found.seconds.items()})
    assert slow.of(done, 1) != pytest.approx(truth.of(done, 1), rel=0.25)


def test_probes_show_every_kind_of_work() -> None:
    of_dense = {"rows", "compiled"}
    for engine, kinds in (
        ("deferred", set(TYPICAL["deferred"].seconds) - of_dense),
        ("dense", of_dense),
    ):
        common = {"target": "x1 + x1*x2", "engine": engine}
        settings = [Setting(**common | given) for given in PROBES[engine]]
        for kind in kinds:
            assert any(getattr(work(setting), kind) > 0 for setting in settings), (engine, kind)


def test_threads_share_what_they_can() -> None:
    rates = Rates({"normals": 1.0, "steps": 1.0}, speedup=4.0)
    assert rates.of({"normals": 8.0, "steps": 1.0}, 1) == 9.0
    assert rates.of({"normals": 8.0, "steps": 1.0}, 16) == 3.0


def test_the_machine_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls: list[Any] = []

    class Done:
        returncode = 0

        def check_returncode(self) -> None:
            """It ended well."""

        stdout = json.dumps({"seconds": dict(TRUE.seconds), "speedup": 2.0})

    def run(command: list[str], **options: Any) -> Done:
        calls.append(command[-1])
        return Done()

    monkeypatch.setattr(machine.subprocess, "run", run)
    assert known_rates("deferred") is None
    setting = Setting("x1", **BARE, runs=3)
    assert not estimate(setting, calibrate=False).measured
    found = estimate(setting, threads=1)
    assert found.measured
    assert found.seconds == pytest.approx(3 * TRUE.of(unit_work(setting), 1), rel=0.5)
    assert found.flops == 3 * work(setting).flops
    assert estimate(setting).seconds < found.seconds
    assert calls == ["deferred"]
    estimate(setting, again=True)
    assert calls == ["deferred", "deferred"]
    cache_file().write_text("{")
    assert known_rates("deferred") is None
    # A folder that takes no files: measured again, nothing is said.
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert estimate(setting).measured


def test_work_adds_up() -> None:
    assert Work(normals=1.0) + Work(steps=2.0) == Work(normals=1.0, steps=2.0)
    assert Work(normals=1.0, moved=3.0) * 2.0 == Work(normals=2.0, moved=6.0)
    assert np.isclose(Work(products=3.0).flops, 6.0)
