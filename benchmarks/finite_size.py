"""What the leading order of linear width leaves out: relative deviations times d, over settings.

Activations, step sizes and shapes at three dimensions; for every observable the root mean square
of (simulated - predicted)/predicted with the sampling noise of the runs taken out, times d.  The
standard deviation of ``left_out`` in ``prediction/wide/theory.py`` comes from here.  ``--full``
takes the runs at which sampling noise is below the deviations themselves (an hour on two cores).
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np

from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.differences import statistics
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    "target": "x1 + He2(x1)/1.4",
    "steps": 1,
    "output_scale": "1",
    "start": "sphere",
    "readout_start": "gaussian",
    "ridge": 0.1,
    "test_n": 2000,
    "spectra": 6,
}
ACTIVATIONS = ("tanh", "relu(z) - 0.3989422804014327", "tanh(z + 0.5)")
EXPONENTS = (0.15, 0.3, 0.4)
SHAPES = (("2d", "d"), ("4d", "d/2"))
SIZES = {100: 400, 200: 300, 400: 160}


def main() -> None:
    """Print one line an observable and dimension."""
    share = 1 if "--full" in sys.argv else 10
    for d, runs in SIZES.items():
        squares: dict[str, list[float]] = {}
        for activation, alpha, (n, p) in itertools.product(ACTIVATIONS, EXPONENTS, SHAPES):
            varied: dict[str, Any] = {
                "activation": activation,
                "step_size": f"n^{alpha}",
                "n": n,
                "p": p,
            }
            setting = Setting(**BASE, **varied, d=d, runs=runs // share, seed=77)
            for part in statistics(predict(setting), simulate(setting)):
                known = np.isfinite(part.predicted) & (part.predicted != 0)
                relative = (part.differences / part.predicted)[:, known]
                noise = relative.var(axis=0, ddof=1) / len(relative)
                squares.setdefault(part.name, []).extend(relative.mean(axis=0) ** 2 - noise)
        for name, values in squares.items():
            found = math.sqrt(max(float(np.mean(values)), 0.0)) * d
            print(f"finite size d = {d:3d} {name:18s} {found:5.1f} / d  ({len(values)} values)")


if __name__ == "__main__":
    main()
