"""The deferred engine against drawing its own random numbers, against dense NumPy, at d = 10^9.

Aims: d = 10^6, n = 2*10^6, p = 6, T = 2 in under twice the time NumPy's fastest generator takes to
draw its n (p + r) T normals on the same cores; at d = 2000, n = 20000, p = 6 at least 200 times
faster than dense NumPy.
"""

from __future__ import annotations

import os
import resource
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks._plain import plain_numpy
from benchmarks._timing import best
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

TARGET = "x1 + x2 + x1^2 - x2^2"
STEPS_ONLY: dict[str, Any] = {"p": 6, "steps": 2, "readout_n": 0, "test_n": 0}


def drawing(numbers: int) -> None:
    """Draw that many normals with the fastest generator, on all cores, and drop them."""
    cores = os.cpu_count() or 1

    def share(seed: int) -> None:
        rng = np.random.Generator(np.random.SFC64(seed))
        out = np.empty(2**15, np.float32)
        for _ in range(numbers // cores // len(out)):
            rng.standard_normal(dtype=np.float32, out=out)

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(share, range(cores)))


def main() -> None:
    """Print the three comparisons."""
    large = Setting(TARGET, d=10**6, n="2d", **STEPS_ONLY)
    numbers = large.n * (large.p + 2) * large.steps
    own, draw = best(lambda: simulate(large), 7), best(lambda: drawing(numbers), 7)
    print(
        f"deferred d = 10^6, n = 2*10^6, p = 6, T = 2: {own:.3f} s, drawing its normals "
        f"{draw:.3f} s, ratio {own / draw:.2f} (aim below 2)"
    )
    small = Setting(TARGET, d=2000, n=20_000, **STEPS_ONLY)
    own, dense = best(lambda: simulate(small), 9), best(lambda: plain_numpy(2000, 20_000, 6, 2), 3)
    print(
        f"deferred d = 2000, n = 20000, p = 6, T = 2: {own * 1e3:.1f} ms, dense NumPy "
        f"{dense * 1e3:.0f} ms, ratio {dense / own:.0f} (aim above 200)"
    )
    huge = Setting(TARGET, d=10**9, n=10**6, **STEPS_ONLY)
    seconds = best(lambda: simulate(huge), 2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(
        f"deferred d = 10^9, n = 10^6, p = 6, T = 2: {seconds:.3f} s, process peak {peak:.0f} MiB"
    )


if __name__ == "__main__":
    main()
