"""Seconds of predictions of random settings, beside those of simulating the same settings.

``python -m benchmarks prediction_times --seed 7 --narrow 40 --wide 40 --small 40 --many 20`` draws
settings of six kinds (benchmarks/_hunted.py) and predicts each on one core, in a process that has
predicted before.  For each kind it prints the median, the 95 % quantile and the worst of the
processor's seconds, the share below SECONDS, the median ratio to the simulation, and the peak
memory of the process.  Settings that theory refuses are counted and left out.  ``--slowest 3``
prints the slowest settings of a kind, and ``--simulate 0`` leaves simulations out.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks._hunted import KINDS, draw
from benchmarks.hunt import SECONDS, words
from giantstep.errors import DivergenceError, NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import share_processors

WARM = (
    Setting("x1 + tanh(x2)", d=1000, p=4, steps=2, readout_n=200, test_n=100, runs=2),
    Setting("x1", d=200, p=150, steps=1, spectra=3, readout_n=400, test_n=100, runs=2),
)
"""Predicted and simulated first: whatever is loaded or compiled once is then there."""


def processor_seconds(function: Callable[[Setting], Any], setting: Setting) -> float:
    """Of one call on all threads of this process, or NaN where it is refused."""
    begin = time.process_time()
    try:
        function(setting)
    except (NoTheoryError, NotConvergedError, DivergenceError):
        return math.nan
    return time.process_time() - begin


def peak() -> float:
    """Megabytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def measure(kind: str, seed: int, count: int, simulated: bool, slowest: int) -> str:
    """The lines of a kind; predictions come first, so that the peak of memory is theirs."""
    share_processors()
    for setting in WARM:
        predict(setting)
    loaded = peak()
    settings = [draw(seed, index, kind) for index in range(count)]
    times = np.array([processor_seconds(predict, setting) for setting in settings])
    used, served = peak(), np.flatnonzero(~np.isnan(times))
    name = f"prediction_times {kind}"
    if not len(served):
        return f"{name}: all {count} settings refused"
    half, most, worst = np.quantile(times[served], (0.5, 0.95, 1.0))
    text = (
        f"{name}: {len(served)} of {count} predicted, median {half:.2f} s, 95 % {most:.2f} s, "
        f"worst {worst:.2f} s, {np.mean(times[served] < SECONDS):.0%} below {SECONDS:g} s"
    )
    if simulated:
        simulate(WARM[0])
        runs = np.array([processor_seconds(simulate, settings[index]) for index in served])
        text += f", over the simulation's: median {np.nanmedian(times[served] / runs):.2f}"
    lines = [f"{text}; peak memory {used:.0f} MB, {loaded:.0f} MB before"]
    lines += [
        f"{name} {index}: {times[index]:.2f} s Setting({words(settings[index])})"
        for index in served[np.argsort(-times[served])][:slowest]
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the lines of each kind, measured in a process of its own."""
    parser = argparse.ArgumentParser()
    counts = dict.fromkeys(KINDS, 20) | {"many": 6, "words": 0, "inputs": 0}
    for name, default in ({"seed": 1} | counts | {"simulate": 1, "slowest": 0}).items():
        parser.add_argument(f"--{name}", type=int, default=default)
    given, _ = parser.parse_known_args()
    for kind in KINDS:
        if count := getattr(given, kind):
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                arguments = (kind, given.seed, count, bool(given.simulate), given.slowest)
                print(pool.submit(measure, *arguments).result(), flush=True)


if __name__ == "__main__":
    main()
