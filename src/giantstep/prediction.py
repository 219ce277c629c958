"""Predict a setting from theory: the same record the simulator fills, with error estimates."""

from __future__ import annotations

import time

import numpy as np

from giantstep.errors import InputError
from giantstep.observables import Trajectory
from giantstep.setting import Setting
from giantstep.theory import dmft, state_evolution
from giantstep.theory.narrow import typical_start
from giantstep.theory.points import LOG2_POINTS, SCRAMBLES, normal_points

# Beyond this share of d the p(p+1)/2 fluctuating inner products are no longer small.
NARROW = 0.05

DEFLATED_SAMPLES = 1000
"""Samples a dimension from which on the readout's deflation counts as exact."""


def objection(setting: Setting) -> str | None:
    """Why the narrow theory does not cover a setting, None if it does."""
    if not setting.inputs.is_gaussian:
        return f"the theory is for gaussian inputs, got {setting.inputs.text!r}"
    if setting.p > NARROW * setting.d:
        return f"the theory is for p small against d, got p = {setting.p} and d = {setting.d}"
    if setting.readout_start in ("gaussian", "uniform"):
        return f"the readout differs from run to run, got readout_start = {setting.readout_start!r}"
    if setting.readout_start == "signs" and setting.start != "symmetric":
        return "random signs are balanced only in the symmetric start, got start = " + repr(
            setting.start
        )
    if setting.readout_batch == "last":
        return "the readout's error is predicted on fresh data, got readout_batch = 'last'"
    return None


def predict(
    setting: Setting, *, scrambles: int = SCRAMBLES, log2_points: int = LOG2_POINTS
) -> Trajectory:
    """Mean overlaps, Gram matrices, cosines and errors after each step, p fixed as d grows.

    Starts from the typical start (random overlaps of order d^-1/2 set to zero).  Fresh batches: the
    exact recursion of the means; reused ones: the effective process at n/d.  The errors are the
    spread over independent scrambles of the quadrature, as standard errors of their mean.
    """
    complaint = objection(setting)
    if complaint is not None:
        raise InputError(f"no prediction: {complaint}")
    if scrambles < 2:
        raise InputError(f"scrambles must be at least 2 for an error estimate, got {scrambles}")
    begin = time.perf_counter()
    start = typical_start(setting)
    reused = setting.batches == "reused"
    dimension = (dmft if reused else state_evolution).dimensions(setting)
    evolve = dmft.reused_evolution if reused else state_evolution.state_evolution
    try:
        with np.errstate(all="ignore"):
            found = [
                evolve(setting, start, normal_points(dimension, seed, log2_points))
                for seed in range(scrambles)
            ]
    except np.linalg.LinAlgError:
        raise InputError("no prediction: the recursion leaves the finite numbers") from None
    fields = {
        "overlap": "overlap",
        "gram": "gram",
        "gradient_cosine": "gradient_cosine",
        "network_error": "network_error",
    }
    # A linear part fitted on too few samples is noise of size d/readout_n, outside the limit.
    if setting.deflate < 1 or setting.readout_n >= DEFLATED_SAMPLES * setting.d:
        fields |= {"test_error": "readout_error", "train_error": "readout_error"}
    arrays = {}
    for name, source in fields.items():
        values = np.stack([getattr(evolution, source) for evolution in found])
        if not np.all(np.isfinite(values)):
            raise InputError(f"no prediction: {name.replace('_', ' ')} is not finite")
        arrays[name] = values.mean(axis=0)[None]
        arrays[f"{name}_error"] = (values.std(axis=0, ddof=1) / np.sqrt(scrambles))[None]
    return Trajectory(
        setting, "theory", time.perf_counter() - begin, readout=start.readout[None], **arrays
    )
