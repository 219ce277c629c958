"""Simulations of inputs in 20 blocks of variances against isotropic ones at d = 10^6.

Seconds of a core on fresh batches and on reused ones, and their ratio.  Aim: no ratio above 20.
"""

from __future__ import annotations

import time
from typing import Any

from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

BLOCKS = f"blocks({', '.join(f'0.05, {1.5**-k:.6g}' for k in range(20))})"
SIZES: dict[str, dict[str, Any]] = {
    "fresh, 200,000 samples": {"n": 200_000},
    "reused, 20,000 samples": {"n": 20_000, "batches": "reused"},
}


def seconds(setting: Setting, repeats: int = 3) -> float:
    """The least processor time of some simulations, whatever else runs on the machine."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        simulate(setting)
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    """Print the seconds of both laws, and their ratio, for each kind of batch."""
    for name, sizes in SIZES.items():
        setting = Setting("x1 + x1*x2", d=10**6, p=8, steps=3, runs=1, **sizes)
        isotropic = seconds(setting)
        blocks = seconds(setting.vary(inputs=BLOCKS))
        print(
            f"input_blocks {name}: {blocks:.2f} s in 20 blocks, {isotropic:.2f} s isotropic, "
            f"ratio {blocks / isotropic:.1f} (aim 20)"
        )


if __name__ == "__main__":
    main()
