"""What a setting would take: floating-point operations, bytes and seconds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from giantstep.language.brief import brief
from giantstep.problem.setting import Setting
from giantstep.simulation.cost import peak_bytes, work
from giantstep.simulation.machine import TYPICAL, Rates, known_rates, rates, unit_work
from giantstep.simulation.simulate import MEMORY, choose_engine
from giantstep.simulation.threads import cores


@dataclass(frozen=True)
class Estimate:
    """What all runs of a setting take with an engine; ``bytes`` are those of arrays at the peak.

    ``measured`` says whether the seconds are from the speed of this machine, or of a typical one.

    seconds = operations of the engine / rate of this machine for them, memory traffic counted;
    ``flops`` is their number.
    """

    engine: str
    flops: float
    bytes: int
    seconds: float
    measured: bool

    __repr__ = brief

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def estimate(
    setting: Setting,
    *,
    memory: int = MEMORY,
    threads: int | None = None,
    calibrate: bool = True,
    again: bool = False,
) -> Estimate:
    """Predict what the runs of a setting take on this machine.

    ``threads`` is 1 for a process of a sweep, else all there are.  The machine is measured once
    and remembered, ``again`` measures it anew; without ``calibrate`` a machine that was not
    measured is taken for a typical one.

    Operations are counted from the sizes (n p known-directions for each step of the deferred
    engine, n d p of the dense one), rates are measured on this machine.

    >>> from giantstep import Setting, estimate
    >>> estimate(Setting("x1", d=1000), calibrate=False).engine
    'deferred'
    """
    engine = choose_engine(setting, memory)
    chosen = setting if setting.engine == engine else setting.vary(engine=engine)
    peak = peak_bytes(chosen, memory)
    known: Rates | None = rates(engine, again=again) if calibrate else known_rates(engine)
    speed = TYPICAL[engine] if known is None else known
    seconds = speed.of(unit_work(chosen), cores() if threads is None else threads)
    return Estimate(
        engine,
        work(chosen).flops * setting.runs,
        peak,
        seconds * setting.runs,
        known is not None,
    )
