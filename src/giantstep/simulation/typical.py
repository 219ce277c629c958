"""Seconds of a run on a typical core or accelerator, and on which of them the dense engine runs."""

from __future__ import annotations

from dataclasses import replace

from giantstep.problem.setting import Setting
from giantstep.simulation.cost import Work, work
from giantstep.simulation.simulate import choose_engine

CORE = Work(
    normals=8e-9,
    rows=2e-8,
    products=4e-11,
    exact=8e-11,
    values=2e-9,
    cubes=3e-11,
    calls=1e-4,
    compiled=0.3,
)
"""Seconds of each kind of work on one core of a server of 2023."""

H200 = Work(
    normals=1e-11,
    rows=2.4e-8,
    products=4e-14,
    exact=3.4e-14,
    values=3.2e-12,
    cubes=1e-13,
    calls=1e-3,
    compiled=1.9,
)
"""Seconds of each kind of work on one H200, products in float32, timed by themselves."""

FASTER = {"tf32": 6.2, "bf16": 9.5, "bf16x3": 3.6}
"""How many times as fast as in float32 an H200 multiplies in other precisions."""

CORES, RUNS = 8, 10
"""Cores that an accelerator is compared with, and runs that share what is compiled.

They are fixed: the samples of the dense engine on an accelerator are others, and a run depends
neither on how many runs there are nor on how many cores its process may use."""


def typical_seconds(setting: Setting, *, accelerated: bool) -> tuple[float, float]:
    """Seconds of one run on one typical core, or accelerator, and those of compiling for it."""
    done, rates = work(setting, accelerated=accelerated), H200 if accelerated else CORE
    if accelerated and choose_engine(setting) == "deferred":
        # It decomposes matrices on the host, and its functions are not compiled into one.
        rates = replace(H200, cubes=CORE.cubes, values=10.0 * H200.values)
    seconds = sum(count * rate for count, rate in zip(done.counts, rates.counts, strict=True))
    if accelerated:
        seconds -= done.products * rates.products * (1.0 - 1.0 / FASTER.get(setting.precision, 1.0))
    compiling = done.compiled * rates.compiled
    return seconds - compiling, compiling


def chosen_device(setting: Setting) -> str:
    """The device of the dense engine: cpu in place of auto where it is faster, compiling included.

    Compiling for an accelerator takes seconds a function, a small run on processors less than one.
    """
    from giantstep.simulation.engines.place import Place

    if setting.device != "auto" or setting.precision in FASTER:
        return setting.device
    place = Place()
    if place.on_cpu or place.count > 1:
        return setting.device
    dense = setting.vary(engine="dense", runs=RUNS)
    running, compiling = typical_seconds(dense, accelerated=False)
    faster = running / CORES + compiling < sum(typical_seconds(dense, accelerated=True))
    return "cpu" if faster else setting.device
