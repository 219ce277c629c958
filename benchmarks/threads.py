"""Our threads beside other load: steps with BLAS as it comes against BLAS with one thread.

Aim: within 1.3 times, for p from 8 to 256, while two other processes are busy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WIDTHS = (8, 32, 64, 128, 256)

BUSY = "while True: pass"

MEASURE = """
import sys
from benchmarks._timing import best
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate
for p in map(int, sys.argv[1:]):
    # About as many products for every p.
    fields = dict(d=25_000 * 32 // p, n="4d", p=p, steps=2, readout_n=0, test_n=0)
    setting = Setting("x1 + x2 + x1^2 - x2^2", **fields)
    print(best(lambda: simulate(setting), 3))
"""


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Other processes that compute for as long as we do."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def measure(**environment: str) -> list[float]:
    """Seconds for each width in a process of its own."""
    free = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    found = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, WIDTHS)],
        check=True,
        env=free | environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [float(line) for line in found.stdout.split()]


def main() -> None:
    """Print the ratio for each width."""
    with load(2):
        # In turns: the load of the rest of the machine changes, too.
        rounds = [(measure(), measure(OPENBLAS_NUM_THREADS="1")) for _ in range(3)]
    default, single = (
        list(map(min, zip(*times, strict=True))) for times in zip(*rounds, strict=True)
    )
    for p, own, reference in zip(WIDTHS, default, single, strict=True):
        print(
            f"threads  p = {p}, beside two busy processes: {own:.2f} s, one BLAS thread "
            f"{reference:.2f} s, ratio {own / reference:.2f} (aim below 1.3)"
        )


if __name__ == "__main__":
    main()
