"""What runs take on an accelerator, without one: counts by hand, and rates found from times."""

from typing import Any

import pytest

from giantstep import Setting, estimate
from giantstep.simulation import accelerator, cost
from giantstep.simulation import estimate as estimates
from giantstep.simulation.accelerator import COMPILED, FITTED, PROBES, TYPICAL, unit_work
from giantstep.simulation.engines.place import Place
from giantstep.simulation.rates import Rates

WIDE: dict[str, Any] = {"d": 1024, "p": 1024, "n": 2**18, "steps": 1, "readout_n": 0, "test_n": 0}
WIDE |= {"engine": "dense", "start": "sphere"}


def test_a_wide_step_by_hand() -> None:
    """2^18 samples of 1024 + 1024 numbers are two chunks of 2^28; each adds a gradient."""
    done = unit_work(Setting("x1", **WIDE, precision="tf32"))
    assert done["products.tf32"] == 2 * 2**18 * 2**20
    assert "products" not in done
    assert done["exact"] == 3 * 2**30
    assert done["blocks"] == 2
    assert done["moved"] == 2 * 2**20
    assert done["sides"] == 0
    paired = unit_work(Setting("x1", **WIDE | {"start": "symmetric"}))
    assert paired["sides"] == 1024
    # More rows than dimensions: before and after the step.
    assert unit_work(Setting("x1", **WIDE | {"p": 2048}))["sides"] == 2 * 2048


SQUARE: dict[str, Any] = {"d": 16384, "p": 16384, "n": 65536, "precision": "tf32", "test_n": 0}
SQUARE |= {"readout_n": 0, "steps": 2, "start": "sphere", "engine": "dense"}
EXACT: dict[str, Any] = {"steps": 2, "precision": "float64"}
FITTED_READOUT: dict[str, Any] = {"readout_n": "n", "ridge": 0.1, "batches": "reused"}
MANY: dict[str, Any] = {"d": 1000, "p": 256, "n": 8000, "steps": 40, "start": "sphere"}
MANY |= {"readout_n": 0, "test_n": 0}
READOUT = SQUARE | {"steps": 0, "readout_n": 65536, "test_n": 16384, "ridge": 1e-3}

# Seconds on an H200, with the settings they are of: what benchmarks/gpu.py printed, and the first
# run of settings, most of which is compiling.  None of them is a probe.  All but the last two are
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


@pytest.mark.parametrize(("seconds", "fields"), CLOCK + RANDOM)
def test_an_h200_within_a_factor_of_two(seconds: float, fields: dict[str, Any]) -> None:
    """The rates are from parts that were timed by themselves and from the probes."""
    done = unit_work(Setting("x1 + x1*x2", activation="tanh", **{"engine": "dense"} | fields))
    assert 0.5 < TYPICAL["dense"].of(done, 1) / seconds < 2.0


@pytest.mark.parametrize(("seconds", "fields"), CLOCK + RANDOM)
def test_parts_that_are_left_out_are_seen(seconds: float, fields: dict[str, Any]) -> None:
    """Without the start on the host, decompositions and compiling it would be far off."""
    done = unit_work(Setting("x1 + x1*x2", activation="tanh", **{"engine": "dense"} | fields))
    left = ("rows", "sides", "cubes", "compiled", "tuned")
    plain = {name: v for name, v in done.items() if name not in left}
    assert TYPICAL["dense"].of(plain, 1) / seconds < 0.5


def test_deferred_blocks_are_large() -> None:
    fields: dict[str, Any] = {"d": 10**4, "p": 8, "steps": 1, "readout_n": 0, "test_n": 0}
    small, large = (
        unit_work(Setting("x1", n=n, engine="deferred", device="gpu", **fields))
        for n in (4096, 2**26)
    )
    assert (small["blocks"], small["compiled"]) == (1, 1)
    # 2^26 numbers of a block over 2 p + 8 are 24 blocks, the last one of another shape.
    assert large["blocks"] == pytest.approx(24, rel=1e-3)
    assert large["compiled"] == 2


@pytest.mark.parametrize("engine", ["deferred", "dense"])
def test_rates_are_found_from_times(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an accelerator with known rates, times of settings other than the probes within 25 %."""
    names = {name for probe in PROBES[engine] for name in _work(engine, probe)}
    typical = {name: TYPICAL[engine].seconds.get(name, 0.0) for name in names}
    truth = Rates(typical)
    others = (*FITTED[engine], *COMPILED)
    timed = {k: v / 1.5 for k, v in typical.items() if k not in others}
    seen: list[Setting] = []

    def seconds(setting: Setting) -> float:
        """The first run compiles, another one does not."""
        again = setting in seen
        seen.append(setting)
        done = unit_work(setting)
        return truth.of({k: v for k, v in done.items() if not (again and k in COMPILED)}, 1)

    monkeypatch.setattr(accelerator, "_parts", lambda: timed)
    monkeypatch.setattr(accelerator, "_seconds_of_run", seconds)
    found = accelerator.measured_rates(engine)
    if engine == "dense":
        # What wakes the accelerator and the probes, each once more: nothing is compiled already.
        shapes = {(setting.d, setting.p) for setting in seen}
        assert len(shapes) == 1 + len(PROBES["dense"]) == len(seen) - len(PROBES["dense"])
    readout = {"readout_n": 2**17, "test_n": 1000}
    for fields in ({"n": 2**20, "p": 100}, {"n": 2**17, "p": 16} | readout):
        done = _work(engine, WIDE | fields)
        assert found.of(done, 1) == pytest.approx(truth.of(done, 1), rel=0.25)
        slow = Rates({name: 2 * each for name, each in found.seconds.items()})
        assert slow.of(done, 1) != pytest.approx(truth.of(done, 1), rel=0.25)


@pytest.mark.parametrize("engine", ["deferred", "dense"])
def test_measuring_ends_when_its_time_is_spent(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An accelerator that compiles for half a minute each time has two or three probes."""
    calls: list[Setting] = []

    def seconds(setting: Setting) -> float:
        again = setting in calls
        calls.append(setting)
        return 1.0 if again else 30.0

    parts = {name: each for name, each in TYPICAL[engine].seconds.items() if name not in COMPILED}
    monkeypatch.setattr(accelerator, "_parts", lambda: parts)
    monkeypatch.setattr(accelerator, "_seconds_of_run", seconds)
    found = accelerator.measured_rates(engine)
    assert len(calls) == 1 + 2 * 2
    assert found.seconds.keys() >= TYPICAL[engine].seconds.keys()
    assert found.seconds["compiled"] > TYPICAL[engine].seconds["compiled"]
    fitted = FITTED[engine][0]
    assert found.seconds[fitted] == TYPICAL[engine].seconds[fitted]


def _work(engine: str, given: dict[str, Any]) -> dict[str, float]:
    device = "gpu" if engine == "deferred" else "auto"
    fields = given | {"engine": engine, "device": device}
    return unit_work(Setting(**({"target": "x1 + x1*x2"} | fields)))


def test_estimates_are_those_of_the_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """With given rates: products of tf32 cost theirs, and threads of the host share nothing."""
    given = Rates({"products.tf32": 1e-12, "products.float32": 8e-12})
    monkeypatch.setattr(accelerator, "known_rates", lambda engine: given)
    monkeypatch.setattr(estimates, "on_accelerator", lambda setting: True)
    setting = Setting("x1", **WIDE, runs=3)
    found = estimate(setting.vary(precision="tf32"), threads=16)
    assert (found.device, found.measured) == ("gpu", True)
    assert found.seconds == pytest.approx(3 * 2 * 2**38 * 1e-12)
    assert estimate(setting).seconds == pytest.approx(8 * found.seconds)
    assert estimates.is_measured(setting)


def test_who_is_on_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dense engine where there is one, the deferred engine only where told so."""
    plain = Place.__init__

    def away(self: Place, kind: str = "auto") -> None:
        plain(self)
        self.on_cpu = False

    dense = Setting("x1", **WIDE)
    deferred = Setting("x1", d=1000, p=2, engine="deferred")
    assert not cost.on_accelerator(dense)
    monkeypatch.setattr(Place, "__init__", away)
    assert cost.on_accelerator(dense)
    assert not cost.on_accelerator(dense.vary(device="cpu"))
    assert not cost.on_accelerator(deferred)
    assert cost.on_accelerator(deferred.vary(device="gpu"))
