"""The theory of narrow networks, p fixed as d grows: fresh batches exactly, reused in the limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.gaussian.points import Accuracy, normal_points
from giantstep.prediction.narrow import readout, reused
from giantstep.prediction.narrow.draws import drawn_errors
from giantstep.prediction.narrow.fresh import Evolution, state_evolution
from giantstep.prediction.narrow.points import exact_quadrature, sobol_quadrature
from giantstep.prediction.narrow.start import Start, typical_start
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import span_factor

LARGEST_SHARE = 0.05
"""Beyond this share of d the p(p+1)/2 fluctuating inner products are no longer small."""

LOG2_POINTS_A_ROW = 12
"""Points a scramble where every run has a prediction of its own."""

EXACT_ORDERS = (12, 18)
"""Orders of the exact rules: the second one is taken, the first tells its error."""

EXACT = 1e-6
"""Relative change between the two above which the rows are too steep for them: Sobol serves."""

Estimate = tuple[np.ndarray, np.ndarray]
"""An observable and its uncertainty."""


def objection(setting: Setting) -> str | None:
    """Why the theory does not cover a setting, None if it does."""
    if setting.p > LARGEST_SHARE * setting.d:
        return f"p must be small against d, got p = {setting.p} and d = {setting.d}"
    if setting.readout_batch == "last":
        return "readout_batch must be fresh, got 'last'"
    return None


def predict(
    setting: Setting, readouts: Float[np.ndarray, "rows p"], accuracy: Accuracy
) -> dict[str, Any]:
    """Fields of the record, a row for each readout."""
    if len(readouts) > 1:
        # The many rows share the work: their uncertainties average out.
        accuracy = Accuracy(2, min(accuracy.log2_points, LOG2_POINTS_A_ROW))
    rows: dict[str, list[Estimate]] = {}
    exact = True
    complaint = readout.objection(setting) if setting.readout_n else None
    fitted = setting.readout_n > 0 and complaint is None
    try:
        with np.errstate(all="ignore"):
            for row, entries in enumerate(readouts):
                start = typical_start(setting, entries)
                found = _exact(setting, start)
                exact = exact and found is not None
                found = found or _sampled(setting, start, row, accuracy)
                if fitted:
                    found |= _fitted(setting, entries, row, accuracy)
                for name, estimate in found.items():
                    rows.setdefault(name, []).append(estimate)
    except np.linalg.LinAlgError:
        raise NoTheoryError("no prediction: the recursion leaves the finite numbers") from None
    arrays: dict[str, Any] = {}
    for name, estimates in rows.items():
        values = np.stack([value for value, _ in estimates])
        if not np.all(np.isfinite(values)):
            raise NoTheoryError(f"no prediction: {name.replace('_', ' ')} is not finite")
        spread = np.stack([uncertainty for _, uncertainty in estimates])
        if name.endswith("_error"):  # a mean square is not negative: what is below 0 is uncertain
            spread, values = np.maximum(spread, -values), np.maximum(values, 0.0)
        arrays |= {name: values, f"{name}_uncertainty": spread}
    # A change between two rules is a bound, not an estimate from a sample.
    freedom = None if exact and not fitted else accuracy.scrambles - 1
    notes = () if complaint is None else (f"no prediction of readout errors: {complaint}",)
    return arrays | _of_gram(arrays) | {"uncertainty_freedom": freedom, "notes": notes}


def _of_gram(arrays: dict[str, Any]) -> dict[str, Any]:
    """What follows from overlaps and Gram matrices: lengths, and the span of the rows."""
    gram, overlap = arrays["gram"], arrays["overlap"]
    norms = np.sqrt(np.diagonal(gram, axis1=-2, axis2=-1))
    squares = np.diagonal(arrays["gram_uncertainty"], axis1=-2, axis2=-1)
    span = [
        [span_factor(m, q) for m, q in zip(*run, strict=True)]
        for run in zip(overlap, gram, strict=True)
    ]
    return {
        "norms": norms,
        "norms_uncertainty": squares / (2.0 * np.maximum(norms, np.finfo(float).tiny)),
        "span": np.array(span),
    }


def _exact(setting: Setting, start: Start) -> dict[str, Estimate] | None:
    """Each observable by quadrature without sampling, None where that does not settle."""
    rules = [exact_quadrature(setting, order) for order in EXACT_ORDERS]
    if setting.batches == "reused" or None in rules:
        return None
    coarse, fine = (_observed(state_evolution(setting, start, rule)) for rule in rules if rule)
    changes = {name: np.abs(fine[name] - coarse[name]) for name in fine}
    settled = all(
        np.all(change <= EXACT * (1 + np.abs(fine[name]))) for name, change in changes.items()
    )
    return {name: (fine[name], changes[name]) for name in fine} if settled else None


def _sampled(setting: Setting, start: Start, row: int, accuracy: Accuracy) -> dict[str, Estimate]:
    """Each observable as the mean over independent scrambles, with its standard error."""
    scrambles, log2_points = accuracy.scrambles, accuracy.log2_points
    found = []
    for seed in range(row * scrambles, (row + 1) * scrambles):
        if setting.batches == "reused":
            points = normal_points(reused.dimensions(setting), seed, log2_points)
            evolution = reused.reused_evolution(setting, start, points)
        else:
            rule = sobol_quadrature(setting.target.r + setting.p, seed, log2_points)
            evolution = state_evolution(setting, start, rule)
        found.append(_observed(evolution))
    stacked = {name: np.stack([values[name] for values in found]) for name in found[0]}
    return {
        name: (values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(scrambles))
        for name, values in stacked.items()
    }


def _fitted(
    setting: Setting, entries: Float[np.ndarray, " p"], row: int, accuracy: Accuracy
) -> dict[str, Estimate]:
    """Errors of the ridge readout: the mean over pairs of drawn runs, one a scramble.

    Their uncertainty is the standard error of that mean and what order 1/readout_n leaves out.
    """
    scrambles, log2_points = accuracy.scrambles, accuracy.log2_points
    found = []
    for seed in range(row * scrambles, (row + 1) * scrambles):
        if setting.batches == "reused":
            points = normal_points(reused.dimensions(setting), seed, log2_points)
            found.append(drawn_errors(setting, entries, points, seed))
        else:
            rule = sobol_quadrature(setting.target.r + setting.p, seed, log2_points)
            found.append(drawn_errors(setting, entries, rule, seed))
    train, test, left_out = np.mean(found, axis=0).T
    spread = np.std(found, axis=0, ddof=1).T / np.sqrt(scrambles)
    return {
        "train_error": (train, np.hypot(spread[0], left_out)),
        "test_error": (test, np.hypot(spread[1], left_out)),
    }


def _observed(evolution: Evolution) -> dict[str, np.ndarray]:
    """The arrays of a Trajectory that an evolution fills."""
    return {
        "overlap": evolution.overlap,
        "gram": evolution.gram,
        "gradient_cosine": evolution.gradient_cosine,
        "network_error": evolution.network_error,
    }
