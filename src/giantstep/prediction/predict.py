"""Predict a setting from theory: the same record the simulator fills, with error estimates."""

from __future__ import annotations

import time
from typing import Any, Literal, cast

import numpy as np

from giantstep.errors import InputError, NotConvergedError
from giantstep.gaussian.points import LOG2_POINTS, normal_points
from giantstep.prediction.narrow import reused as dmft
from giantstep.prediction.narrow.fresh import Evolution, state_evolution
from giantstep.prediction.narrow.points import SCRAMBLES, exact_quadrature, sobol_quadrature
from giantstep.prediction.narrow.start import Start, typical_start
from giantstep.prediction.wide import rows as linear_width
from giantstep.prediction.wide.rows import readout_losses, rows_after
from giantstep.problem.network import start_readout
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory

Regime = Literal["narrow", "linear-width"]

# Beyond this share of d the p(p+1)/2 fluctuating inner products are no longer small.
NARROW = 0.05

LOG2_POINTS_A_ROW = 12
"""Points a scramble where every run has a prediction of its own."""

EXACT_ORDERS = (12, 18)
"""Orders of the exact rules: the second one is taken, the first tells its error."""

EXACT = 1e-6
"""Relative change between the two above which the rows are too steep for them: Sobol serves."""

DEFLATED_SAMPLES = 1000
"""Samples a dimension from which on the readout's deflation counts as exact."""


def narrow_objection(setting: Setting) -> str | None:
    """Why the narrow theory does not cover a setting, None if it does."""
    if setting.p > NARROW * setting.d:
        return f"p must be small against d, got p = {setting.p} and d = {setting.d}"
    if setting.readout_batch == "last":
        return "readout_batch must be fresh, got 'last'"
    return None


def choose_regime(setting: Setting, regime: str | None = None) -> Regime:
    """The theory for a setting: narrow where p is small against d, else linear width.

    ``regime`` overrides the choice.  Raises InputError where no theory covers the setting.
    """
    if regime is not None and regime not in REGIMES:
        raise InputError(f"regime must be one of {', '.join(REGIMES)}, got {regime!r}")
    if not setting.inputs.is_gaussian:
        raise InputError(
            f"no prediction: inputs must be gaussian for theory, got {setting.inputs.text!r}"
        )
    complaints = {
        name: objection(setting)
        for name, objection in REGIMES.items()
        if regime is None or name == regime
    }
    for name, complaint in complaints.items():
        if complaint is None:
            return cast(Regime, name)
    reasons = "; ".join(f"{name}: {complaint}" for name, complaint in complaints.items())
    raise InputError(f"no prediction: {reasons}")


def predict(
    setting: Setting,
    *,
    regime: str | None = None,
    scrambles: int = SCRAMBLES,
    log2_points: int = LOG2_POINTS,
) -> Trajectory:
    """Mean overlaps, Gram matrices and errors after each step; the record says which theory.

    The theory is that of narrow networks (p fixed as d grows) where p is small against d, that of
    linear width (n, d, p in proportion) where it is not; ``regime`` overrides the choice.

    Narrow networks start from the typical start (random overlaps of order d^-1/2 set to zero).
    Fresh batches: the exact recursion of the means; reused ones: the effective process at n/d.
    Expectations over at most three coordinates are exact (their error is the change from a coarser
    rule), over more coordinates randomised quasi-Monte Carlo: the errors are then the spread over
    independent scrambles, as standard errors of their mean.  Linear width: rows to leading order,
    the readout's errors after at most one step.  A readout that differs from run to run is
    predicted for each run with its own.
    """
    if scrambles < 2:
        raise InputError(f"scrambles must be at least 2 for an error estimate, got {scrambles}")
    chosen = choose_regime(setting, regime)
    begin = time.perf_counter()
    readouts = _readouts(setting)
    if chosen == "linear-width":
        try:
            arrays = _linear_width(setting, readouts)
        except NotConvergedError as error:
            raise InputError(f"no prediction: {error}") from None
    else:
        arrays = _narrow(setting, readouts, scrambles, log2_points)
    seconds = time.perf_counter() - begin
    return Trajectory(
        setting, "theory", seconds, readout=np.stack(readouts), regime=chosen, **arrays
    )


def _narrow(
    setting: Setting, readouts: list[np.ndarray], scrambles: int, log2_points: int
) -> dict[str, Any]:
    if len(readouts) > 1:
        # The many rows share the work: their errors average out.
        scrambles, log2_points = 2, min(log2_points, LOG2_POINTS_A_ROW)
    rows: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    try:
        with np.errstate(all="ignore"):
            for row, readout in enumerate(readouts):
                start = typical_start(setting, readout)
                for name, found in _row(setting, start, row, scrambles, log2_points).items():
                    rows.setdefault(name, []).append(found)
    except np.linalg.LinAlgError:
        raise InputError("no prediction: the recursion leaves the finite numbers") from None
    arrays: dict[str, Any] = {}
    for name, listed in rows.items():
        values = np.stack([value for value, _ in listed])
        if not np.all(np.isfinite(values)):
            raise InputError(f"no prediction: {name.replace('_', ' ')} is not finite")
        arrays |= {name: values, f"{name}_error": np.stack([error for _, error in listed])}
    return arrays


def _linear_width(setting: Setting, readouts: list[np.ndarray]) -> dict[str, Any]:
    parts = [
        setting.vary(steps=step, step_size=setting.step_size[:step] or 1.0)
        for step in range(setting.steps + 1)
    ]
    rows = [[rows_after(part, readout) for part in parts] for readout in readouts]
    arrays: dict[str, Any] = {
        name: np.stack([np.stack([getattr(row, name) for row in run]) for run in rows])
        for name in ("overlap", "gram")
    }
    if setting.steps < 2 and setting.readout_n:
        losses = [readout_losses(part) for part in parts]
        for name in ("train", "test"):
            values = np.array([getattr(loss, name) for loss in losses])
            arrays[f"{name}_error"] = np.tile(values, (len(readouts), 1))
    # What is left out is of relative order 1/d, and not estimated.
    return arrays | {f"{name}_error": np.zeros_like(value) for name, value in arrays.items()}


def _readouts(setting: Setting) -> list[np.ndarray]:
    """The readout all runs share up to the order of neurons, or that of every run."""
    balanced = setting.start == "symmetric" and setting.readout_start == "signs"
    if balanced or setting.readout_start == "alternating":
        return [typical_start(setting).readout]
    return [start_readout(setting, run) for run in range(setting.runs)]


def _row(
    setting: Setting, start: Start, row: int, scrambles: int, log2_points: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each observable with its error, for one readout."""
    if setting.batches == "fresh":
        rules = [exact_quadrature(setting, order) for order in EXACT_ORDERS]
        exact = [_observed(setting, state_evolution(setting, start, r)) for r in rules if r]
        if exact:
            coarse, fine = exact
            changes = {name: np.abs(fine[name] - coarse[name]) for name in fine}
            if all(
                np.all(change <= EXACT * (1 + np.abs(fine[n]))) for n, change in changes.items()
            ):
                return {name: (fine[name], changes[name]) for name in fine}
    found = []
    for seed in range(row * scrambles, (row + 1) * scrambles):
        if setting.batches == "reused":
            points = normal_points(dmft.dimensions(setting), seed, log2_points)
            evolution = dmft.reused_evolution(setting, start, points)
        else:
            rule = sobol_quadrature(setting.target.r + setting.p, seed, log2_points)
            evolution = state_evolution(setting, start, rule)
        found.append(_observed(setting, evolution))
    stacked = {name: np.stack([values[name] for values in found]) for name in found[0]}
    return {
        name: (values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(scrambles))
        for name, values in stacked.items()
    }


def _observed(setting: Setting, evolution: Evolution) -> dict[str, np.ndarray]:
    """The arrays of a Trajectory that an evolution fills."""
    found = {
        "overlap": evolution.overlap,
        "gram": evolution.gram,
        "gradient_cosine": evolution.gradient_cosine,
        "network_error": evolution.network_error,
    }
    # A linear part fitted on too few samples is noise of size d/readout_n, outside the limit.
    if setting.deflate < 1 or setting.readout_n >= DEFLATED_SAMPLES * setting.d:
        found |= {"test_error": evolution.readout_error, "train_error": evolution.readout_error}
    return found


REGIMES = {"narrow": narrow_objection, "linear-width": linear_width.objection}
"""The theories, each with the function that says why it does not cover a setting."""
