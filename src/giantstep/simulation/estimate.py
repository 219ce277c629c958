"""What a setting would take: floating-point operations, bytes and seconds.

The operations of a run are counted (simulation/cost.py) and multiplied by the seconds each kind
takes on a typical machine.  Pilot runs of the same setting with fewer samples then say how many
times as slow or as fast this machine is.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from giantstep.errors import DivergenceError, InputError
from giantstep.language.brief import brief
from giantstep.problem.setting import Setting
from giantstep.simulation.cost import on_accelerator, peak_bytes, work
from giantstep.simulation.simulate import MEMORY, choose_engine, simulate
from giantstep.simulation.typical import typical_seconds


@dataclass(frozen=True)
class Estimate:
    """What all runs of a setting take with an engine; ``bytes`` are those of arrays at the peak.

    ``device`` is cpu or gpu; ``measured`` says whether the seconds are from pilot runs on this
    machine, or those of a typical one.  ``flops`` is the number of floating-point operations.
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


@dataclass(frozen=True)
class Speed:
    """How many times as long as on a typical machine a run takes, and compiling its functions."""

    running: float = 1.0
    compiling: float = 1.0


def estimate(
    setting: Setting,
    *,
    memory: int = MEMORY,
    threads: int | None = None,
    calibrate: bool = True,
    speed: Speed | None = None,
) -> Estimate:
    """Predict what the runs of a setting take on this machine.

    Pilot runs of about a second measure the machine, unless its ``speed`` is given; without
    ``calibrate`` the machine is taken for a typical one.  ``threads`` is 1 for a process of a
    sweep, else all there are.

    Operations are counted from the sizes (n p known-directions for each step of the deferred
    engine, n d p of the dense one).

    >>> from giantstep import Setting, estimate
    >>> estimate(Setting("x1", d=1000), calibrate=False).engine
    'deferred'
    """
    chosen = setting.vary(engine=choose_engine(setting, memory))
    peak, accelerated = peak_bytes(chosen, memory), on_accelerator(chosen)
    if calibrate and speed is None:
        speed = pilot_speed(chosen, memory=memory, threads=threads)
    running, compiling = typical_seconds(chosen, accelerated=accelerated)
    factor = speed or Speed()
    return Estimate(
        chosen.engine,
        work(chosen, accelerated=accelerated).flops * setting.runs,
        peak,
        (factor.running * running + factor.compiling * compiling) * setting.runs,
        measured=speed is not None,
        device="gpu" if accelerated else "cpu",
    )


def pilot_speed(
    setting: Setting, *, memory: int = MEMORY, threads: int | None = None
) -> Speed | None:
    """How fast this machine runs a setting, from three pilot runs; None where none can be made.

    The first run loads libraries and compiles every function; the other two compile those of
    their own numbers of samples, so that their difference is the time of the samples.  On one
    thread the time of the processor counts, which other work on the machine hardly changes.
    """
    accelerated = on_accelerator(setting)
    pilots = [
        pilot_setting(setting, accelerated=accelerated, seconds=0.0, least_samples=200),
        pilot_setting(setting, accelerated=accelerated, seconds=0.0, least_samples=190),
        pilot_setting(setting, accelerated=accelerated),
    ]
    clock = time.process_time if threads == 1 and not accelerated else time.perf_counter
    taken, typical = [], []
    try:
        for pilot in pilots:
            if pilot is None:
                return None
            # A pilot is small, and auto might take the processor for it.
            placed = pilot.vary(device="gpu") if accelerated else pilot
            begin = clock()
            simulate(placed, memory=memory)
            taken.append(clock() - begin)
            typical.append(typical_seconds(pilot, accelerated=accelerated))
    except (InputError, DivergenceError, MemoryError):
        return None
    (running, compiling), _, (longest, _) = typical
    if not compiling:
        return Speed(taken[2] / longest)
    # A machine is hardly ten times as fast as a typical one: less is chance.
    more = longest - running
    factor = max((taken[2] - taken[1]) / more, 0.1) if more > 0.0 else 1.0
    return Speed(factor, max(taken[0] - factor * running, 0.0) / compiling)


def pilot_setting(
    setting: Setting,
    *,
    accelerated: bool,
    seconds: float = 1.0,
    least_samples: int = 1000,
    most_seconds: float = 10.0,
) -> Setting | None:
    """One run of a setting with fewer samples and steps, to take about ``seconds`` when compiled.

    None where even ``least_samples`` would take more than ``most_seconds``.
    """
    share, small, before = 1.0, setting, None
    # A readout with fewer samples than neurons would be fitted in another way.
    least = max(least_samples, setting.p)
    while small != before:
        before = small
        fields: dict[str, Any] = {
            name: _reduced(getattr(setting, name), share, least)
            for name in ("n", "readout_n", "test_n")
        }
        fields["steps"] = _reduced(setting.steps, share, 2)
        # Steps of any size take equally long; small ones never diverge.
        small = setting.vary(**fields, runs=1, step_size=1e-3)
        running, _ = typical_seconds(small, accelerated=accelerated)
        if running <= seconds:
            return small
        share /= 4.0
    return small if running <= most_seconds else None


def _reduced(count: int, share: float, least: int) -> int:
    """A share of a count, but no fewer than ``least`` where there are so many."""
    return min(count, max(least, int(count * share)))
