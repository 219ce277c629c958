"""A sweep of 1,000 cells against what its processors could do at best, and fifty kills.

The cells (d = 10^4, n = 2d, p = 6, deferred engine) would take cells x single-cell time / cores;
the ratio is that of the whole sweep, from building the grid to reading the table.  ``--kills N``
sets the number of kills (50), ``--cells N`` that of the cells.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks._timing import best
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import cores, use_threads
from giantstep.store.folder import load
from giantstep.sweeps.sweep import sweep

CELL: dict[str, Any] = {"target": "x1 + x1*x2", "d": 10_000, "n": "2d", "p": 6}
SMALL = CELL | {"d": 100, "n": "100d", "readout_n": 1000, "test_n": 1000, "runs": 200}
CALL = """
import json, sys
from giantstep import sweep
base, axes, out = map(json.loads, sys.argv[1:])
sweep(base, axes, out=out, theory=False)
"""


def measure_ratio(cells: int) -> None:
    """Print the time of a sweep over that of its cells alone, shared out to all cores."""
    all_cores = cores()
    use_threads(1)
    single = best(lambda: simulate(Setting(**CELL)), repeats=10)
    use_threads(all_cores)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        found = sweep(CELL, {"seed": f"0..{cells - 1}:{cells}"}, out=folder, theory=False)
        taken = time.perf_counter() - start
    ideal = cells * single / all_cores
    print(
        f"sweep    {len(found.finished)} cells on {all_cores} cores: {taken:.1f} s, "
        f"{taken / ideal:.2f} times {cells} x {1e3 * single:.0f} ms / {all_cores}"
    )


def _files(folder: str) -> int:
    return len(list(Path(folder).glob("*.npz")))


def measure_kills(kills: int) -> None:
    """Kill a sweep at random moments, and compare its table with that of one left alone."""
    axes, moments = {"d": [100, 200, 300], "noise": "0..1:5"}, random.Random(0)
    partial, working = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, "-c", CALL, *map(json.dumps, (SMALL, axes, folder))]
        for _ in range(kills):
            running, held = subprocess.Popen(call), _files(folder)
            # From its first file on: what comes before writes nothing.
            while _files(folder) == held and running.poll() is None:
                time.sleep(0.002)
            time.sleep(moments.uniform(0.0, 0.05))
            working += running.poll() is None
            running.send_signal(signal.SIGKILL)
            running.wait()
            partial += len(load(folder).skipped)
        drafts = len(list(Path(folder).glob(".*.part")))
        survived = sweep(SMALL, axes, out=folder, theory=False).table
    same = survived == sweep(SMALL, axes, theory=False).table
    print(
        f"sweep    {kills} kills, {working} while it worked: {partial} partial files read, "
        f"{drafts} drafts left, the table is {'the same' if same else 'ANOTHER'}"
    )


def main() -> None:
    """Both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=50)
    options, _ = parser.parse_known_args()
    measure_ratio(options.cells)
    measure_kills(options.kills)


if __name__ == "__main__":
    main()
