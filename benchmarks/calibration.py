"""How often ``compare`` calls theory and simulation apart when they are not: its false alarms.

A pool of runs of one setting is cut into groups of 2, 3, 5, 20 and 200; every group is compared
with the prediction, and the share of groups below each level is printed beside its standard error
(that of the level).  Narrow networks on fresh and reused batches, random readouts, linear width.
``--full`` takes larger pools.  ``--settings 200`` compares instead so many random settings of
narrow networks on fresh batches at d >= 500, where theory is exact, 12 runs each, and prints the
share that disagrees with its binomial interval.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import sys
from typing import Any

import numpy as np
from scipy.stats import binomtest

from benchmarks._hunted import draw
from giantstep.errors import DivergenceError, NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.trajectory import SPECTRA, Trajectory
from giantstep.simulation.simulate import simulate

GROUPS = (2, 3, 5, 20, 200)
LEVELS = (0.1, 0.01, 0.001)

MOST_NUMBERS = 3e6
"""Samples times neurons of a random setting: a second."""

NARROW: dict[str, Any] = {"d": 4000, "p": 4, "readout_n": 4000, "test_n": 500, "ridge": 1e-3}
CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "fresh": (2000, NARROW | {"target": "staircase", "n": "2d"}),
    "tanh": (2000, NARROW | {"target": "tanh-cubic", "activation": "tanh", "n": "4d"}),
    "reused": (1000, NARROW | {"target": "staircase", "n": "2d", "batches": "reused"}),
    "random readout": (
        200,
        NARROW
        | {"target": "x1 + He2(x1)", "n": "2d", "p": 2, "start": "sphere"}
        | {"readout_start": "gaussian", "output_scale": "1/sqrt(p)"},
    ),
    "linear width": (
        400,
        {"target": "x1 + He2(x1)/1.4", "activation": "tanh", "d": 300, "n": "2d", "p": "d"}
        | {"steps": 1, "step_size": "n^0.3", "output_scale": "1", "start": "sphere"}
        | {"readout_start": "gaussian", "ridge": 0.1, "test_n": 2000, "spectra": 8},
    ),
}


def taken(trajectory: Trajectory, runs: slice) -> Trajectory:
    """Some of the runs of a record as a record of their own."""
    count = len(range(*runs.indices(trajectory.runs)))
    changes: dict[str, Any] = {"setting": trajectory.setting.vary(runs=count)}
    for name, value in trajectory.observables().items():
        if "." not in name:
            changes[name] = value[runs]
    for matrix in SPECTRA:
        spectrum = getattr(trajectory, matrix)
        if spectrum is not None:
            parts = {
                k: v[runs] for k, v in spectrum.arrays().items() if k not in ("grid", "density")
            }
            changes[matrix] = dataclasses.replace(spectrum, **parts)
    return dataclasses.replace(trajectory, **changes)


def p_values(predicted: Trajectory, pool: Trajectory, size: int) -> np.ndarray:
    """Of the comparison of every group of ``size`` runs."""
    found = []
    for first in range(0, pool.runs - size + 1, size):
        runs = slice(first, first + size)
        theory = taken(predicted, runs) if predicted.runs > 1 else predicted
        found.append(compare(theory, taken(pool, runs)).p_value)
    return np.array(found)


def random_settings(count: int) -> None:
    """Print the share of random settings, drawn as by the hunt, that fall below each level."""
    found: list[float] = []
    for index in itertools.count():
        if len(found) == count:
            break
        drawn = draw(7, index, "narrow")
        setting = drawn.vary(runs=12, batches="fresh", deflate=-1, spectra=0)
        if setting.n * setting.p > MOST_NUMBERS:
            continue
        try:
            predicted = predict(setting)
            if predicted.theory == "narrow":
                found.append(compare(predicted, simulate(setting)).p_value)
        except (NoTheoryError, NotConvergedError, DivergenceError):
            continue
    values = np.array(found)
    for level in LEVELS:
        below = int(np.sum(values < level))
        low, high = binomtest(below, count).proportion_ci(0.95)
        print(
            f"calibration {count} random settings: {below} below {level:g}, a share of "
            f"{below / count:.4f}, 95 % interval {low:.4f} to {high:.4f}"
        )


def main() -> None:
    """Print one line a case and group size."""
    if "--settings" in sys.argv:
        random_settings(int(sys.argv[sys.argv.index("--settings") + 1]))
        return
    scale = 4 if "--full" in sys.argv else 1
    for name, (runs, fields) in CASES.items():
        setting = Setting(**fields, runs=scale * runs, seed=11)
        predicted, pool = predict(setting), simulate(setting)
        for size in GROUPS:
            values = p_values(predicted, pool, size)
            shares = "  ".join(
                f"{np.mean(values < level):.4f} at {level:g} (+-"
                f"{math.sqrt(level * (1 - level) / len(values)):.4f})"
                for level in LEVELS
            )
            print(f"calibration {name:15s} {size:3d} runs, {len(values):5d} groups: {shares}")


if __name__ == "__main__":
    main()
