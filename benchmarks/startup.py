"""Cold start of the command line, against a bare Python that imports NumPy.

Aims: ``giantstep --help`` within 0.6 s, ``giantstep analyze`` of r = 4, degree 8 within 1 s.
"""

from __future__ import annotations

import subprocess
import sys
import time

EIGHT = "(x1 + x2/2 - x3 + x4/3)^8/1000 + He4(x1)*He4(x2) + x1*x2*x3*x4 + x1"
CLI = [sys.executable, "-m", "giantstep.cli.main"]


def seconds(command: list[str], repeats: int = 7) -> float:
    """Median wall time of a command."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return sorted(times)[repeats // 2]


def main() -> None:
    """Print each command's time and its ratio to importing NumPy."""
    base = seconds([sys.executable, "-c", "import numpy"])
    rows = {
        "python, import numpy": base,
        "giantstep --help (aim 0.6 s)": seconds([*CLI, "--help"]),
        "giantstep analyze, r = 4, degree 8 (aim 1 s)": seconds([*CLI, "analyze", EIGHT]),
        "giantstep analyze tanh-cubic": seconds([*CLI, "analyze", "tanh-cubic"]),
    }
    for name, value in rows.items():
        print(f"startup  {name:48s} {value:6.3f} s  {value / base:5.1f} x numpy")


if __name__ == "__main__":
    main()
