"""Many runs of one-sample steps advanced together, against the drawing of their random numbers.

Aim: d = 10^4, n = 1, p = 8, 10^5 steps, 20 runs within 20 times of the numbers it draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from giantstep.problem.setting import Setting
from giantstep.simulation.engines.deferred import DeferredEngine
from giantstep.simulation.engines.together import State, Together
from giantstep.simulation.meter import Meter
from giantstep.simulation.simulate import MEMORY, simulate

SETTING = Setting(
    "(erf(x1/sqrt(2)) + erf(x2/sqrt(2)) + erf(x3/sqrt(2)) + erf(x4/sqrt(2)))/4",
    activation="erf",
    d=10_000,
    n=1,
    p=8,
    steps=100_000,
    step_size=0.08,
    noise=0.0316,
    start="sphere",
    record="log",
    runs=20,
    readout_n=0,
    test_n=0,
)


def seconds(function: Callable[[Setting], Any]) -> float:
    """Processor time of a call: other work on the machine does not count."""
    start = time.process_time()
    function(SETTING)
    return time.process_time() - start


def draw(setting: Setting) -> None:
    """The random numbers of all steps of all runs, as the engine draws them."""
    rows = np.stack([_start(setting, run) for run in range(setting.runs)])
    readout = np.ones((setting.runs, setting.p))
    runs, meter = range(setting.runs), Meter(0, None)
    together = Together(setting, runs, State(rows, readout, readout), meter)
    samples = together.sets * setting.n
    columns = rows.shape[2] + setting.noisy
    for number in range(-(-setting.steps // together.sets)):
        together.normals(number, samples, columns)


def _start(setting: Setting, run: int) -> Any:
    engine = DeferredEngine(setting, MEMORY, Meter(0, None))
    engine.begin(run)
    return engine.last_rows


def draw_least(setting: Setting) -> None:
    """The fewest that would do: a normal a known coordinate and a label, one chi for the rest."""
    keys = [np.random.Generator(np.random.SFC64(run)) for run in range(setting.runs)]
    columns, samples = setting.known + setting.p + setting.noisy, 32
    numbers = np.empty((samples, columns))
    for _ in range(-(-setting.steps * setting.n // samples)):
        for key in keys:
            key.standard_normal(out=numbers)
            key.chisquare(setting.d - columns, size=samples)


def main() -> None:
    """Print the ratios; both sides are measured in turn, in one process."""
    simulate(SETTING.vary(steps=100))
    rounds = [[seconds(part) for part in (simulate, draw, draw_least)] for _ in range(3)]
    steps, own, least = np.min(rounds, axis=0)
    print(
        f"small_batches {SETTING.runs} runs of {SETTING.steps} steps: {steps:.1f} s, "
        f"{steps / own:.1f} x its random numbers, {steps / least:.1f} x the fewest"
    )


if __name__ == "__main__":
    main()
