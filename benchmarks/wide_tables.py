"""Make the stored table of the figure ``strengths`` again: the second step to p = 16,000.

`python -m benchmarks wide_tables` overwrites src/giantstep/papers/figures/tables; 3 minutes on an
H200, of which the widest runs are most.  ``--small`` makes narrow ones in the folder it names.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import giantstep
from giantstep.papers.claims.update_strengths import ORDERS, step_two_strengths
from giantstep.papers.figures.limits import EXPONENTS, network
from giantstep.prediction.wide.outlier_count import with_exponents

RUNS = {250: 16, 1000: 8, 4000: 4, 16_000: 2}
"""Runs of each width."""


def main() -> None:
    """Write the table."""
    small = sys.argv[sys.argv.index("--small") + 1] if "--small" in sys.argv else None
    folder = Path(small or Path(giantstep.__file__).parent / "papers" / "figures" / "tables")
    path = folder / "second_strengths.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["p", "alpha", "run", *(f"measured_{k}" for k in range(ORDERS))])
        for p, runs in {60: 2, 120: 2}.items() if small else RUNS.items():
            for alpha in EXPONENTS:
                setting = with_exponents(network(p), alpha, alpha)
                for run, values in enumerate(step_two_strengths(setting, runs)):
                    table.writerow([p, alpha, run, *(f"{value:.5g}" for value in values)])
    print(f"wide_tables: {path}")
