"""Observables from one start, with their uncertainties: by exact rules, or on points.

Exact rules are taken twice, and the change between them is the uncertainty; low-discrepancy points
are taken in several scrambles, and the standard error of their mean is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantstep.gaussian.points import LOG2_POINTS, Accuracy
from giantstep.prediction.narrow.evolution import Evolution
from giantstep.prediction.narrow.noise import Fluctuations
from giantstep.prediction.narrow.paths import means_on_points, path_of
from giantstep.prediction.narrow.points import exact_quadrature
from giantstep.prediction.narrow.readout import errors_after_steps
from giantstep.prediction.narrow.state import State
from giantstep.problem.network import start_rows
from giantstep.problem.setting import Setting

Row = dict[str, tuple[np.ndarray, np.ndarray]]
"""Observables and their uncertainties from one start."""


def exact_rows(
    setting: Setting,
    starts: list[State],
    *,
    orders: tuple[int, int] = (12, 18),
    tolerances: tuple[float, float] = (1e-4, 1e-5),
    settled: float = 1e-6,
) -> list[Row] | None:
    """Each observable without sampling, row by row, None where that does not settle.

    ``orders`` of the rules, and ``tolerances`` of groups of steps in lengths of the rows: the
    second is taken, the change from the first tells its error.  Above the relative change
    ``settled`` single steps have rows too steep for a rule.
    """
    path = path_of(setting)
    if path.closed(setting):
        coarse, fine = (path.means(setting, starts, None, tolerance) for tolerance in tolerances)
        return [_changed(*pair) for pair in zip(coarse, fine, strict=True)]
    rules = [exact_quadrature(setting, order) for order in orders]
    # One of many rows is compared with one run, whose own deviation is larger than its error.
    if not path.by_rule or setting.bias > 0 or None in rules or len(starts) > 1:
        return None
    pairs = zip(rules, tolerances, strict=True)
    coarse, fine = (path.means(setting, starts, rule, tolerance) for rule, tolerance in pairs)
    row = _changed(coarse[0], fine[0])
    close = all(np.all(change <= settled * (1 + np.abs(value))) for value, change in row.values())
    return [row] if close or path.grouped else None


def _changed(coarse: Evolution, fine: Evolution) -> Row:
    """The finer of two evolutions, with the change from the coarser one."""
    before = vars(coarse)
    return {name: (value, np.abs(value - before[name])) for name, value in vars(fine).items()}


def sampled_row(setting: Setting, start: State, row: int, accuracy: Accuracy) -> Row:
    """Each observable as the mean over independent scrambles, with its standard error."""
    scrambles, points = accuracy.scrambles, accuracy.log2_points or LOG2_POINTS
    evolutions = [
        vars(means_on_points(setting, [start], seed, points)[0])
        for seed in range(row * scrambles, (row + 1) * scrambles)
    ]
    stacked = {name: np.stack([each[name] for each in evolutions]) for name in evolutions[0]}
    return {
        name: (values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(scrambles))
        for name, values in stacked.items()
    }


def readout_row(
    setting: Setting,
    start: State,
    row: int,
    accuracy: Accuracy,
    *,
    given: bool,
    pairs: bool,
    most_log2_points: int = 13,
) -> Row:
    """Errors of the ridge readout: the mean over drawn runs, ``pairs`` of opposite ones a scramble.

    The mean over runs is the value at the mean rows and half the trace of its second derivative
    times the covariance of the rows; in a pair of opposite runs terms of first order cancel
    (docs/derivations/readout.md).  The uncertainty is the standard error of that mean and what
    order 1/readout_n leaves out.  One of many rows has a run a scramble, every other one the
    opposite of that before.  ``given`` -> whether the rows of the start are those of every run.  A
    drawn run has at most 2^most_log2_points points: its own fluctuations are larger than the error
    of these.

    docs/derivations/readout.md, eq. (3).
    """
    path, scrambles = path_of(setting), accuracy.scrambles
    assert path.drawn is not None
    log2_points = min(accuracy.log2_points or LOG2_POINTS, most_log2_points)
    errors = []
    for scramble in range(scrambles):
        seed = row * scrambles + scramble
        source = path.source(setting, seed, log2_points)
        of_runs = []
        for sign in (1.0, -1.0) if pairs else ((-1.0) ** scramble,):
            noise = Fluctuations(seed if pairs else row, sign)
            begin = start
            if not given:
                begin = replace(start, rows=start_rows(setting, noise.span(setting)))
            snapshots = path.drawn(setting, begin, source, noise)
            of_runs.append(errors_after_steps(setting, snapshots, seed))
        errors.append(np.mean(of_runs, axis=0))
    train, test, left_out = np.mean(errors, axis=0).T
    spread = np.std(errors, axis=0, ddof=1).T / np.sqrt(scrambles)
    return {
        "train_error": (train, np.hypot(spread[0], left_out)),
        "test_error": (test, np.hypot(spread[1], left_out)),
    }
