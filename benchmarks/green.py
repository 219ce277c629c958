"""How often the fast tests pass beside other work: ``python -m benchmarks green --runs 20``.

Each run is ``make test-fast`` while one process a core does nothing but count.  A row says how long
it took, what pytest counted and which tests failed; ``--tests PATH`` takes a part of the tests.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from giantstep.simulation.threads import cores

ROOT = Path(__file__).parents[1]

COUNTING = "n = 0\nwhile True: n += 1"


@dataclass(frozen=True)
class Run:
    """One run of the tests: its seconds, the last line of pytest, and the tests that failed."""

    seconds: float
    green: bool
    summary: str
    failures: tuple[str, ...]


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that keep so many cores busy as long as the block lasts."""
    processes = [subprocess.Popen([sys.executable, "-c", COUNTING]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def tested(tests: str) -> Run:
    """The fast tests, once."""
    start = time.perf_counter()
    command = ["make", "--no-print-directory", "test-fast", f"TESTS={tests}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    counted = re.findall(r"^\d+ (?:passed|failed|error|skipped).*", done.stdout, re.MULTILINE)
    failures = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    summary = counted[-1] if counted else "no test was run"
    return Run(seconds, done.returncode == 0, summary, tuple(failures))


def main() -> None:
    """Print a row for each run, then how many were green."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tests", default="", help="files or folders, all where none is given")
    given = parser.parse_args()
    runs = []
    with busy(cores()):
        for number in range(1, given.runs + 1):
            runs.append(run := tested(given.tests))
            word = "green" if run.green else "red  "
            print(
                f"green    run {number:2}  {word} {run.seconds:6.0f} s  {run.summary}", flush=True
            )
            for name in run.failures:
                print(f"{'':18}{name}", flush=True)
    count = sum(run.green for run in runs)
    print(f"green    {count} of {len(runs)} runs beside a process on each of {cores()} cores")
