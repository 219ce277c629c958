"""Observables from one start, with what is not known of them: by exact rules, or on points.

Exact rules are taken twice, the change between them is the uncertainty; low-discrepancy points in
several scrambles, whose scatter is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from giantstep.gaussian.points import LOG2_POINTS, Accuracy
from giantstep.prediction.narrow import reused
from giantstep.prediction.narrow.committee import committee_of
from giantstep.prediction.narrow.draws import Fluctuations, drawn_errors
from giantstep.prediction.narrow.fresh import Evolution, state_evolution
from giantstep.prediction.narrow.long_runs import (
    SAMPLED_TOLERANCE,
    TOLERANCES,
    closed_forms,
    is_long,
    long_evolution,
)
from giantstep.prediction.narrow.points import Quadrature, exact_quadrature, points_for
from giantstep.prediction.narrow.start import Start
from giantstep.problem.setting import Setting

LOG2_POINTS_A_DRAW = 13
"""Points of a drawn run at most, whose own fluctuations are larger than the error of its points."""

EXACT_ORDERS = (12, 18)
"""Orders of the exact rules: the second one is taken, the first tells its error."""

EXACT = 1e-6
"""Relative change between the two above which the rows are too steep for them: Sobol serves."""


Row = dict[str, tuple[np.ndarray, np.ndarray]]
"""Observables and their uncertainties from one start."""


def exact_rows(setting: Setting, starts: list[Start]) -> list[Row] | None:
    """Each observable without sampling, row by row, None where that does not settle."""
    if is_long(setting) and (committee := closed_forms(setting)) is not None:
        coarse, fine = (
            long_evolution(setting, starts, committee=committee, tolerance=tolerance)
            for tolerance in TOLERANCES
        )
        return [_changed(*pair) for pair in zip(coarse, fine, strict=True)]
    rules = [exact_quadrature(setting, order) for order in EXACT_ORDERS]
    # One of many rows is compared with one run, whose own deviation is larger than its error.
    if setting.seen_again or setting.bias > 0 or None in rules or len(starts) > 1:
        return None
    coarse, fine = (
        _evolutions(setting, starts, rule, tolerance)
        for rule, tolerance in zip(rules, TOLERANCES, strict=True)
        if rule
    )
    row = _changed(coarse[0], fine[0])
    settled = all(np.all(change <= EXACT * (1 + np.abs(values))) for values, change in row.values())
    return [row] if settled or is_long(setting) else None


def _changed(coarse: Evolution, fine: Evolution) -> Row:
    """The finer of two evolutions, with the change from the coarser one."""
    before, after = _observed(coarse), _observed(fine)
    return {name: (after[name], np.abs(after[name] - before[name])) for name in after}


def _evolutions(
    setting: Setting, starts: list[Start], quadrature: Quadrature, tolerance: float
) -> list[Evolution]:
    """The recursion on fresh batches from several starts, step by step or in groups of steps."""
    if not is_long(setting):
        return [state_evolution(setting, start, quadrature) for start in starts]
    return long_evolution(
        setting,
        starts,
        committee=committee_of(setting),
        quadrature=quadrature,
        tolerance=tolerance,
    )


def sampled_row(setting: Setting, start: Start, row: int, accuracy: Accuracy) -> Row:
    """Each observable as the mean over independent scrambles, with its standard error."""
    scrambles, k = accuracy.scrambles, accuracy.log2_points or LOG2_POINTS
    found = [
        _observed(recursion(setting, seed, k)([start])[0])
        for seed in range(row * scrambles, (row + 1) * scrambles)
    ]
    stacked = {name: np.stack([values[name] for values in found]) for name in found[0]}
    return {
        name: (values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(scrambles))
        for name, values in stacked.items()
    }


def recursion(
    setting: Setting, seed: int, log2_points: int
) -> Callable[[list[Start]], list[Evolution]]:
    """The recursion from any starts, on one scramble of low-discrepancy points."""
    source = _source(setting, seed, log2_points)
    if isinstance(source, reused.PathNormals):
        return lambda starts: [reused.reused_evolution(setting, start, source) for start in starts]
    return lambda starts: _evolutions(setting, starts, source, SAMPLED_TOLERANCE)


def _source(setting: Setting, seed: int, log2_points: int) -> Quadrature | reused.PathNormals:
    """One scramble: points for any rows, or normals of paths where samples are seen again."""
    if setting.seen_again:
        return reused.PathNormals.of(setting, seed, log2_points)
    return points_for(setting, seed, log2_points)


def fitted_errors(
    setting: Setting, start: Start, row: int, accuracy: Accuracy, *, own: bool, pairs: bool
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Errors of the ridge readout: the mean over drawn runs, ``pairs`` of opposite ones a scramble.

    Their uncertainty is the standard error of that mean and what order 1/readout_n leaves out.
    One of many rows has a run a scramble, every other one the opposite of that before.
    """
    scrambles, k = accuracy.scrambles, min(accuracy.log2_points or LOG2_POINTS, LOG2_POINTS_A_DRAW)
    found = []
    for scramble in range(scrambles):
        seed = row * scrambles + scramble
        signs = (1.0, -1.0) if pairs else ((-1.0) ** scramble,)
        fluctuations = [Fluctuations(seed if pairs else row, sign) for sign in signs]
        source = _source(setting, seed, k)
        drawn = [
            drawn_errors(setting, start, source, fluctuations=f, seed=seed, given=own)
            for f in fluctuations
        ]
        found.append(np.mean(drawn, axis=0))
    train, test, left_out = np.mean(found, axis=0).T
    spread = np.std(found, axis=0, ddof=1).T / np.sqrt(scrambles)
    return {
        "train_error": (train, np.hypot(spread[0], left_out)),
        "test_error": (test, np.hypot(spread[1], left_out)),
    }


def _observed(evolution: Evolution) -> dict[str, np.ndarray]:
    """The arrays of a Trajectory that an evolution fills, overlaps with all known directions."""
    return {
        "overlap": evolution.overlap,
        "gram": evolution.gram,
        "gradient_cosine": evolution.gradient_cosine,
        "network_error": evolution.network_error,
    }
