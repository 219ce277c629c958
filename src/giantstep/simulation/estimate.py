"""What a setting would take: floating-point operations, bytes and seconds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from giantstep.language.brief import brief
from giantstep.problem.setting import Setting
from giantstep.simulation import machine
from giantstep.simulation.cost import on_accelerator, peak_bytes, work
from giantstep.simulation.rates import Rates
from giantstep.simulation.simulate import MEMORY, choose_engine
from giantstep.simulation.threads import cores


@dataclass(frozen=True)
class Estimate:
    """What all runs of a setting take with an engine; ``bytes`` are those of arrays at the peak.

    ``device`` is cpu or gpu; ``measured`` says whether the seconds are from the speed of this
    machine, or of a typical one.

    seconds = operations of the engine / rate of this machine for them, memory traffic counted;
    ``flops`` is their number.
    """

    engine: str
    flops: float
    bytes: int
    seconds: float
    measured: bool
    device: str = "cpu"

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
    peak, accelerated = peak_bytes(chosen, memory), on_accelerator(chosen)
    speed: Any = _speed(accelerated)
    known: Rates | None = (
        speed.rates(engine, again=again) if calibrate else speed.known_rates(engine)
    )
    typical: Rates = speed.TYPICAL[engine]
    done: dict[str, float] = speed.unit_work(chosen)
    share = 1 if accelerated else cores() if threads is None else threads
    return Estimate(
        engine,
        work(chosen).flops * setting.runs,
        peak,
        (typical if known is None else known).of(done, share) * setting.runs,
        measured=known is not None,
        device="gpu" if accelerated else "cpu",
    )


def is_measured(setting: Setting, memory: int = MEMORY) -> bool:
    """Whether the speed of what would run a setting is known."""
    engine = choose_engine(setting, memory)
    speed: Any = _speed(on_accelerator(setting.vary(engine=engine)))
    return speed.known_rates(engine) is not None


def _speed(accelerated: bool) -> Any:
    """The module with the rates of the processor or of the accelerator."""
    if not accelerated:
        return machine
    from giantstep.simulation import accelerator

    return accelerator
