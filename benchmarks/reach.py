"""What sizes an hour reaches with each engine: ``python -m benchmarks reach > docs/reach.md``.

The largest d whose run the cost model puts within an hour and within memory, found by bisection.
Nothing is timed: the rates are those of a typical core and of the accelerator that was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.simulation.engines import deferred
from giantstep.simulation.engines.chunks import CHUNK_NUMBERS, plan
from giantstep.simulation.typical import typical_seconds

HOUR, GIB = 3600.0, 2.0**30

LAPTOP_SPEEDUP = 6.0
"""Eight cores, as fast as six: they share memory and clock."""

LINK = 50e9
"""Bytes a second between two hosts, 400 Gbit/s."""

COMMON: dict[str, Any] = {"activation": "relu", "readout_n": 0, "test_n": 0, "start": "sphere"}
SMALLEST = 64


@dataclass(frozen=True)
class Machine:
    """A name, how many devices of what memory, and the seconds of a run there."""

    name: str
    memory: float
    seconds: Callable[[Setting], float]
    devices: int = 1
    on_cpu: bool = False
    precision: str = "float32"

    def fits(self, setting: Setting) -> bool:
        """Whether the arrays of a run fit the memory."""
        memory = int(self.memory * self.devices)
        if setting.engine == "deferred":
            return deferred.objection(setting, memory) is None
        place: Any = SimpleNamespace(count=self.devices, on_cpu=self.on_cpu)
        try:
            plan(setting, memory, place)
        except InputError:
            return False
        return True


def laptop_seconds(setting: Setting) -> float:
    """Of a run on all cores."""
    return sum(typical_seconds(setting, accelerated=False)) / LAPTOP_SPEEDUP


def gpu_seconds(setting: Setting, devices: int = 1) -> float:
    """Of a run on so many accelerators, which share the samples and add up their gradients."""
    running, compiling = typical_seconds(setting, accelerated=True)
    # The start, the Gram matrices and what is recorded are those of a run with hardly any sample.
    few, _ = typical_seconds(setting.vary(n=1), accelerated=True)
    # Every chunk ends with a sum over the devices: each sends and receives the gradient once.
    numbers = setting.steps * setting.n * (setting.d + setting.p)
    chunks = numbers / CHUNK_NUMBERS["gpu"] / devices
    reduction = chunks * 2 * 8 * setting.p * setting.d / LINK if devices > 1 else 0.0
    return (running - few) / devices + few + compiling + reduction


MACHINES = (
    Machine("laptop, 8 cores", 8 * GIB, laptop_seconds, on_cpu=True),
    Machine("one H200", 52 * GIB, gpu_seconds, precision="tf32"),
    Machine("64 H200", 52 * GIB, lambda s: gpu_seconds(s, 64), devices=64, precision="tf32"),
)

QUESTIONS: dict[str, dict[str, Any]] = {
    "one step, $p=8$, $n=d^2$": {"p": 8, "n": "d^2", "steps": 1},
    "one step, $p=8$, $n=d^3$": {"p": 8, "n": "d^3", "steps": 1},
    "two steps, $p=d/2$, $n=4d$": {"p": "d/2", "n": "4d", "steps": 2},
    "one step, $p=d/2$, $n=d^2$": {"p": "d/2", "n": "d^2", "steps": 1},
}


def setting_of(fields: dict[str, Any], engine: str, where: Machine, d: int) -> Setting:
    on_gpu = not where.on_cpu and engine == "deferred"
    device = "gpu" if on_gpu else "auto"
    precision = where.precision if engine == "dense" else "float32"
    return Setting(
        "x1 + x1*x2", d=d, engine=engine, device=device, precision=precision, **COMMON, **fields
    )


def reached(fields: dict[str, Any], engine: str, where: Machine) -> tuple[int, str] | None:
    """The largest d, to two digits, and what ends it; None where the engine cannot run any."""

    def ended(d: int) -> str | None:
        try:
            setting = setting_of(fields, engine, where, d)
            if not where.fits(setting):
                return "memory"
            return "time" if where.seconds(setting) > HOUR else None
        except InputError:
            return "refused"

    if ended(SMALLEST) is not None:
        return None
    low, high = math.log(SMALLEST), math.log(1e12)
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (middle, high) if ended(round(math.exp(middle))) is None else (low, middle)
    digits = 10 ** (int(low / math.log(10)) - 1)
    return int(math.exp(low) / digits) * digits, ended(round(math.exp(high))) or "time"


def count(number: float) -> str:
    """A size as it is read: 12,000 or 3.4e8."""
    return (
        f"{number:,.0f}" if number < 1e6 else f"{number:.2g}".replace("e+0", "e").replace("e+", "e")
    )


def main() -> None:
    """Print the page."""
    print(HEAD)
    for name, fields in QUESTIONS.items():
        print(f"\n## {name[0].upper()}{name[1:]}\n")
        print("| machine | engine | largest $d$ | $n$ | $p$ | ended by |")
        print("|---|---|---|---|---|---|")
        for where in MACHINES:
            for engine in ("deferred", "dense"):
                if engine == "deferred" and where.devices > 1:
                    continue
                found = reached(fields, engine, where)
                if found is None:
                    print(f"| {where.name} | {engine} | - | - | - | refused |")
                    continue
                setting = setting_of(fields, engine, where, found[0])
                sizes = " | ".join(count(v) for v in (setting.d, setting.n, setting.p))
                print(f"| {where.name} | {engine} | {sizes} | {found[1]} |")
    print(TAIL)


HEAD = r"""# What an hour reaches

How large can $d$ be in one run that ends within an hour and fits the memory? The tables have the
largest $d$, to two digits. They are computed by the cost model of `giantstep estimate`, not
measured (`python -m benchmarks reach > docs/reach.md`). Where the model was compared with the
clock, most times were right within a factor of 2 (`python -m benchmarks estimate`, and with
`--device gpu`). Then $d$ is uncertain by a factor of $2^{1/k}$ where the time grows like $d^k$.

- **Laptop**: a processor of 2023 with eight cores, float32, 8 GiB for arrays (`--memory "8 GiB"`).
  The cores share memory and clock, so that together they count as six times one core.
- **One H200**: rates measured on one, 52 GiB for arrays (half of what JAX takes of 139 GiB); the
  dense engine in tf32, the deferred one in float32.
- **64 H200**: samples are divided among the GPUs, and each GPU holds all weights. Work on
  samples is divided by 64; the
  start, Gram matrices and what is recorded are not. Each chunk of samples ends with a sum of the
  gradients over the devices, 16 bytes for each weight over links of 400 Gbit/s. Not run on more
  than one GPU; eight virtual devices and two processes give the same sums. The deferred engine
  uses one device: a sweep spreads its runs, one process for each GPU.

The deferred engine draws no vector of dimension $d$, so that $d$ itself costs nothing and $n$ and
$p$ set the time. It needs $p+r\le d$. No readout is fitted here. `giantstep estimate` says what one
takes."""

TAIL = """
## Memory

| engine | arrays, in bytes |
|---|---|
| deferred, fresh batches | about $190p^2$, whatever $n$ and $d$ |
| deferred, reused batches | $8n(r+5p+2pT)$ for $T$ steps: samples are held on the host |
| dense | $24pd+48p^2$ on every device, and a chunk of samples that is cut to fit |

More is refused before anything runs, with the number of bytes it would take."""


if __name__ == "__main__":
    main()
