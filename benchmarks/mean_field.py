"""Many neurons in few dimensions, small batches: the dense engine against a plain NumPy loop.

Aim: at d = 3, p = 5000, n = 1 a step within 20 times of a loop that records nothing, and p = 10^6
at d = 10 within the memory of a laptop.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

SIZES = ((3, 5000, 2000), (10, 1_000_000, 20))
"""Inputs, neurons, steps."""


def processor_seconds(function: Callable[[], Any]) -> float:
    """Processor time of a call: other work on the machine does not count."""
    start = time.process_time()
    function()
    return time.process_time() - start


def plain_loop(d: int, p: int, steps: int, size: float = 0.01) -> None:
    """One-sample steps of a relu network with output scale 1/p on tanh(x1) + x1 x2."""
    key = np.random.default_rng(0)
    rows = key.standard_normal((p, d), dtype=np.float32)
    readout = key.standard_normal(p, dtype=np.float32)
    for _ in range(steps):
        x = key.standard_normal(d, dtype=np.float32)
        inputs = rows @ x
        residual = np.tanh(x[0]) + x[0] * x[1] - readout @ np.maximum(inputs, 0.0) / p
        rows += np.float32(size * residual) * np.outer(readout * (inputs > 0), x)


def main() -> None:
    """Print the milliseconds of a step and their ratio, for each of the sizes."""
    for d, p, steps in SIZES:
        setting = Setting(
            "tanh(x1) + x1*x2",
            d=d,
            p=p,
            n=1,
            steps=steps,
            step_size=0.01 * p,
            output_scale="1/p",
            start="gaussian",
            readout_start="gaussian",
            record=f"every({steps})",
            readout_n=0,
            test_n=0,
        )
        simulate(setting.vary(steps=2, record="all"))
        ours = processor_seconds(lambda setting=setting: simulate(setting))  # type: ignore[misc]
        loop = processor_seconds(lambda d=d, p=p, steps=steps: plain_loop(d, p, steps))  # type: ignore[misc]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"mean_field d = {d}, p = {p}, n = 1: {1e3 * ours / steps:.3g} ms a step, plain NumPy "
            f"{1e3 * loop / steps:.3g} ms, ratio {ours / loop:.1f}, process peak {peak} MiB",
            flush=True,
        )


if __name__ == "__main__":
    main()
