"""Runs drawn from the law of their steps against as many simulated ones, in seconds of a core.

Both grow with n until points stand for the samples of a drawn run: more neurons than inputs, and
few neurons, at many samples and at few.  Aim: no ratio above 2.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from giantstep.prediction.narrow import drawn_runs
from giantstep.prediction.narrow.drawn_runs import Drawing
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

SIZES: dict[str, dict[str, Any]] = {
    "300 neurons, 40,000 samples": {"d": 150, "n": 40_000, "p": 300},
    "40 neurons, 40,000 samples": {"d": 150, "n": 40_000, "p": 40},
    "40 neurons, 1,000 samples": {"d": 150, "n": 1000, "p": 40},
}


def seconds(function: Callable[[], Any]) -> float:
    """Processor time of a call, whatever else runs on the machine."""
    begin = time.process_time()
    function()
    return time.process_time() - begin


def main() -> None:
    """Print the seconds of 24 runs of both, and their ratio, for each size."""
    for name, sizes in SIZES.items():
        setting = Setting("x1 + x1*x2", **sizes, steps=2, runs=24, start="sphere")
        setting = setting.vary(readout_n=0, test_n=0)
        simulate(setting.vary(runs=1))  # compiles
        drawn = seconds(partial(drawn_runs.predict, setting, drawing=Drawing(), draws=24))
        simulated = seconds(partial(simulate, setting))
        print(
            f"drawn_runs {name}: {drawn:.2f} s for {setting.runs} drawn runs, {simulated:.2f} s "
            f"for as many simulated ones, ratio {drawn / simulated:.2f} (aim 2)"
        )


if __name__ == "__main__":
    main()
