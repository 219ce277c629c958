"""The theory of narrow networks, p fixed as d grows: fresh batches exactly, others in the limit.

A prediction chooses a path (paths.py) and its starts, then follows the mean states (rows.py), the
errors of the readout, and the deviations of a run (deviations.py, long_deviations.py).  Where a run
is far from any mean, runs are drawn instead (drawn_runs.py).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction.limits import first_complaint
from giantstep.prediction.narrow import drawn_runs, drawn_work
from giantstep.prediction.narrow.block_runs import BlockRun
from giantstep.prediction.narrow.covariance import start_columns
from giantstep.prediction.narrow.dense_runs import DenseRun
from giantstep.prediction.narrow.deviations import (
    Deviations,
    deviations_by_covariance,
    method_of,
)
from giantstep.prediction.narrow.drawn_runs import DrawnRun
from giantstep.prediction.narrow.draws_needed import (
    Fields,
    draws_fits,
    errors_of_points,
    needs_draws,
    pairs_add,
    pairs_part,
    quick,
    spans_are_noise,
)
from giantstep.prediction.narrow.fresh import unsteadiness
from giantstep.prediction.narrow.limits import FEW_NEURONS, SAMPLES_OF_A_LENGTH, drawable
from giantstep.prediction.narrow.long_deviations import long_deviations
from giantstep.prediction.narrow.long_runs import FEW_STEPS, closed_forms
from giantstep.prediction.narrow.part_limits import (
    NEAR_MEAN,
    NEAR_SHIFTED_MEAN,
    PARTS,
    POINTS_OF_ROWS,
    SMALL_START,
    fitted_share,
)
from giantstep.prediction.narrow.paths import means_on_points, path_of
from giantstep.prediction.narrow.rows import Row, exact_rows, readout_row, sampled_row
from giantstep.prediction.narrow.state import State, start_of_run, typical_start
from giantstep.prediction.narrow.work import affordable, log2_points
from giantstep.prediction.recording import recorded
from giantstep.problem.network import start_rows
from giantstep.problem.setting import Setting
from giantstep.problem.starts import known_span
from giantstep.records.trajectory import span_factor


def predict(setting: Setting, readouts: Float[np.ndarray, "rows p"], accuracy: Accuracy) -> Fields:
    """Fields of the record: a row for each readout, or for each run where its start decides."""
    try:
        with np.errstate(all="ignore"):
            draws = setting.inputs.in_blocks or needs_draws(setting)
            fields = None if draws else _around_means(setting, readouts, accuracy)
            return _drawn(setting, accuracy) if fields is None else fields
    except np.linalg.LinAlgError:
        raise NoTheoryError(
            "no prediction: numbers of the theory become infinite or too large. Use a smaller step"
        ) from None


def _around_means(
    setting: Setting, readouts: Float[np.ndarray, "rows p"], accuracy: Accuracy
) -> Fields | None:
    """Fields from mean states and the deviations around them; None where runs are to be drawn."""
    starts = [typical_start(setting, readout) for readout in readouts]
    if path_of(setting).grouped and _near_means_matter(setting) and not _closed(setting):
        NEAR_MEAN.refuse(_deviation_of_first_steps(setting, starts[0]), setting)
    given = _start_decides(setting, starts[0], accuracy)
    if given and pairs_part(setting):
        return None
    if given:
        starts = [start_of_run(setting, run) for run in range(setting.runs)]
    accuracy = affordable(setting, accuracy, len(starts))
    try:
        fields = _means(setting, starts, accuracy, given=given)
    except NoTheoryError:  # numbers of a mean are not finite, those of a run may be
        if path_of(setting).grouped or not drawable(setting):
            raise
        return None
    if path_of(setting).grouped:
        if _closed(setting):
            fields |= _long_deviations(setting, starts[0], fields, given=given)
        return _completed(setting, fields)
    estimates = _estimates(setting, starts, fields, given=given) if accuracy.deviations else []
    if _far_from_mean(setting, starts[0], fields, estimates):
        return None
    deviations = _deviations(estimates, len(starts))
    completed = _completed(setting, fields | deviations)
    if not accuracy.deviations:
        return completed
    share = errors_of_points(setting, completed, accuracy)
    blurred = not POINTS_OF_ROWS.allows(share)
    noise = spans_are_noise(setting, completed, accuracy) or pairs_add(setting, completed)
    noise = noise and quick(setting, fits=False, seconds=10.0)
    if (blurred or noise) and drawable(setting):
        return None
    # Deviations around a mean that is blurred would say what the points hold of a direction.
    return {k: v for k, v in completed.items() if not (blurred and k in deviations)}


# -- which runs are drawn -------------------------------------------------------------------------


def _far_from_mean(
    setting: Setting, start: State, fields: Fields, estimates: list[Deviations]
) -> bool:
    """Whether runs are so far from their mean that they are drawn; refused where they cannot be."""
    many = not FEW_NEURONS.holds(setting)
    if path_of(setting).grouped or not (estimates or many):
        return False
    mean = (fields["overlap"][0], fields["gram"][0])
    first = (
        estimates[0]
        if estimates
        else deviations_by_covariance(setting, start, mean, given=True, rows=setting.runs)
    )
    if NEAR_MEAN.allows(first.largest):
        return False
    if drawable(setting):
        return True
    if _near_means_matter(setting):
        NEAR_MEAN.refuse(first.largest, setting)
    return False


def _near_means_matter(setting: Setting) -> bool:
    """Whether neurons are many or samples few, so that runs far from the mean shift the mean."""
    few_samples = not (setting.seen_again or SAMPLES_OF_A_LENGTH.holds(setting))
    return few_samples or not FEW_NEURONS.holds(setting)


def _drawn(setting: Setting, accuracy: Accuracy) -> Fields:
    """Fields of the record from drawn runs, as few as may be where means alone are wanted."""
    draws = accuracy.draws or (None if accuracy.deviations else drawn_work.ROWS[0])
    by_fits = draws_fits(setting)
    complaint = None if by_fits else first_complaint(PARTS["readout errors"], setting)
    errors = setting.readout_n > 0 and complaint is None
    drawing = drawn_runs.Drawing(errors=errors, by_fits=by_fits)
    blocks = DenseRun if drawn_work.dense_blocks(setting) else BlockRun
    kind = blocks if setting.inputs.in_blocks else DrawnRun
    drawn = drawn_runs.predict(setting, drawing=drawing, kind=kind, draws=draws)
    fields: Fields = dict(drawn)
    _refuse_infinite(fields)
    fields["overlap_deviation"] = np.zeros_like(fields["overlap"])
    count = len(fields["overlap"])
    note = (
        f"theory draws {count} random runs, each step from the known distribution of "
        "the gradient, and shows their mean"
    )
    return _completed(setting, fields) | {"notes": (note, *_notes(complaint)), "own_runs": True}


# -- starts ---------------------------------------------------------------------------------------


def _start_decides(setting: Setting, typical: State, accuracy: Accuracy) -> bool:
    """Whether every run is predicted from its own start, which is not close to the typical one."""
    if setting.bias > 0:
        return True
    if setting.start.kind.framed and not setting.inputs.known_directions:
        return False
    if not FEW_NEURONS.holds(setting):
        return True
    return not SMALL_START.allows(start_share(setting, typical, accuracy.log2_points))


def start_share(
    setting: Setting,
    typical: State,
    asked_log2_points: int | None = None,
    *,
    probes: int = 8,
    share_of_work: float = 0.25,
    resolving: float = 2.0,
) -> float:
    """How far a random start moves an overlap, in lengths of its row: the largest of any step.

    Root mean square over neurons and a few starts, the ``probes``, direction by direction; all are
    on the same points, so that errors cancel.  Where a prediction of few points is asked for it
    takes as few, but ``resolving`` times p n/d at least: with 0.6 times their noise alone moved
    overlaps by more than the start may (p = 50, n = 16 d).
    """
    r, d, others = setting.target.r, setting.d, setting.inputs.known_directions
    spaces = [known_span(np.random.default_rng(probe), r, d, others) for probe in range(probes)]
    starts = [replace(typical, rows=start_rows(setting, space)) for space in spaces]
    points = log2_points(setting, probes + 1, share_of_work)
    if asked_log2_points is not None:
        least = math.ceil(math.log2(resolving * setting.p * setting.n / d))
        points = min(points, max(asked_log2_points, least))
    mean, *evolutions = means_on_points(setting, [typical, *starts], 0, points)
    lengths = np.sqrt(np.diagonal(mean.gram, axis1=1, axis2=2))[..., None]
    moved = np.stack([(other.overlap - mean.overlap)[..., :r] / lengths for other in evolutions])
    return float(np.max(np.sqrt(np.mean(moved**2, axis=(0, 2)))))


# -- means ----------------------------------------------------------------------------------------


def _means(setting: Setting, starts: list[State], accuracy: Accuracy, *, given: bool) -> Fields:
    """Observables of each row with their uncertainties; ``given`` -> each run has its start."""
    complaint = first_complaint(PARTS["readout errors"], setting)
    fitted = setting.readout_n > 0 and complaint is None
    exact = exact_rows(setting, starts)
    rows = exact or [sampled_row(setting, start, k, accuracy) for k, start in enumerate(starts)]
    if fitted:
        pairs = len(starts) == 1 and accuracy.draws is None
        for k, start in enumerate(starts):
            rows[k] |= readout_row(setting, start, k, accuracy, given=given, pairs=pairs)
    fields = _stacked(rows)
    notes = _notes(complaint)
    if (few_samples := SAMPLES_OF_A_LENGTH.complaint(setting)) is not None:
        for name in ("gradient_cosine", "gradient_cosine_uncertainty"):
            fields[name] = np.full_like(fields[name], np.nan)
        notes = (*notes, f"no prediction of gradient cosines: {few_samples}")
    # Of squared lengths the noise of a fit leaves out 1.9, 2.0 and 1.4 times its share at a share
    # of 0.05 and n = 100 to 220, 0.6 and 0.9 at shares of 0.05 and 0.016 and n = 2000 and 4000.
    left_out = 2.0 * fitted_share(setting)
    return fields | {
        "readout": np.stack([start.readout for start in starts]),
        # A change between two rules is a bound, not an estimate from a sample.
        "uncertainty_freedom": None if exact and not fitted else accuracy.scrambles - 1,
        "relative_uncertainty": max(unsteadiness(setting, starts[0]), left_out),
        "own_runs": given or len(starts) > 1,
        "notes": notes,
    }


def _stacked(rows: list[Row]) -> Fields:
    """Observables of all rows as fields of the record."""
    fields: Fields = {}
    for name in rows[0]:
        values, spread = (np.stack([row[name][part] for row in rows]) for part in range(2))
        _refuse_infinite({name: values})
        if name.endswith("_error"):  # a mean square is not negative: what is below 0 is uncertain
            spread, values = np.maximum(spread, -values), np.maximum(values, 0.0)
        fields |= {name: values, f"{name}_uncertainty": spread}
    return fields


def _refuse_infinite(fields: Fields) -> None:
    for name, values in fields.items():
        if not np.all(np.isfinite(values)):
            raise NoTheoryError(
                f"no prediction: {name.replace('_', ' ')} becomes infinite. Use a smaller step"
            )


def _notes(complaint: str | None) -> tuple[str, ...]:
    return () if complaint is None else (f"no prediction of readout errors: {complaint}",)


def _completed(setting: Setting, fields: Fields) -> Fields:
    """The fields with those that follow from overlaps and Gram matrices, at the recorded steps."""
    overlaps = [name for name in fields if name.startswith("overlap")]
    fields |= {name: fields[name][..., : setting.target.r] for name in overlaps}
    norms = np.sqrt(np.diagonal(fields["gram"], axis1=-2, axis2=-1))
    runs = zip(fields["overlap"], fields["gram"], strict=True)
    span = [[span_factor(m, q) for m, q in zip(*run, strict=True)] for run in runs]
    fields |= {"norms": norms, "span": np.array(span)}
    if "gram_uncertainty" in fields:
        squares = np.diagonal(fields["gram_uncertainty"], axis1=-2, axis2=-1)
        fields["norms_uncertainty"] = squares / (2.0 * np.maximum(norms, np.finfo(float).tiny))
    # Groups of steps are recorded as they are taken.
    return fields if path_of(setting).grouped else recorded(setting, fields)


# -- deviations of single steps -------------------------------------------------------------------


def _estimates(
    setting: Setting, starts: list[State], fields: Fields, *, given: bool
) -> list[Deviations]:
    """Deviations around the first rows, from the batch and, unless it is ``given``, the start.

    None where none is affordable, or one leaves the finite numbers.
    """
    if first_complaint(PARTS["deviations"], setting) is not None:
        return []
    method = method_of(setting)
    rows = method.rows(setting, len(starts))
    means = list(zip(fields["overlap"], fields["gram"], strict=True))
    estimates = [
        method.estimate(setting, starts[row], means[row], given=given, row=row, rows=rows)
        for row in range(rows)
    ]
    finite = all(np.all(np.isfinite(v)) for each in estimates for v in _arrays(each).values())
    return estimates if finite else []


def _arrays(estimate: Deviations) -> dict[str, np.ndarray]:
    return {name: getattr(estimate, name) for name in ("overlap", "norms", "gram")}


def _deviations(estimates: list[Deviations], rows: int) -> Fields:
    """Deviations of so many rows, NaN after those that are estimated."""
    fields: Fields = {}
    for name in _arrays(estimates[0]) if estimates else ():
        values = np.stack([_arrays(estimate)[name] for estimate in estimates])
        padding = [(0, rows - len(estimates))] + [(0, 0)] * (values.ndim - 1)
        fields[f"{name}_deviation"] = np.pad(values, padding, constant_values=np.nan)
    return fields


# -- deviations of groups of steps ----------------------------------------------------------------


def _closed(setting: Setting) -> bool:
    """Whether the deviations of a long run are computed along all of it."""
    affordable_entries = first_complaint(PARTS["deviations"], setting) is None
    return closed_forms(setting) is not None and affordable_entries


def _deviation_of_first_steps(setting: Setting, start: State) -> float:
    """How far runs are from their mean in the first steps, after which they may diverge."""
    sizes = setting.step_size[:FEW_STEPS]
    early = setting.vary(steps=FEW_STEPS, step_size=sizes, record="all", readout_n=0, test_n=0)
    [path] = means_on_points(early, [start], 0, 10)
    mean = (path.overlap, path.gram)
    return deviations_by_covariance(early, start, mean, given=True).largest


def _long_deviations(
    setting: Setting,
    start: State,
    fields: Fields,
    *,
    given: bool,
    shift_uncertainty: float = 0.25,
) -> Fields:
    """Means over runs with what fluctuations shift them by, and deviations around them.

    The shift D is added to the one row there is; of many rows, each with its own start, it is an
    uncertainty, the root mean square over neurons around the first.  Derivatives are held between
    some states and the next order is a fifth of the shift, which makes its uncertainty.
    """
    committee = closed_forms(setting)
    assert committee is not None
    columns = start_columns(setting)
    around = long_deviations(setting, start, committee, columns=columns[:0] if given else columns)
    NEAR_SHIFTED_MEAN.refuse(around.largest, setting)
    assert around.shift is not None
    shifted: Fields = {}
    one_row = len(fields["overlap"]) == 1
    for name, shift in vars(around.shift).items():
        axes = tuple(range(1, shift.ndim))
        size = np.sqrt(np.mean(shift**2, axis=axes, keepdims=True))
        added = shift_uncertainty * shift if one_row else size
        if one_row:
            shifted[name] = fields[name] + shift
        uncertainty = f"{name}_uncertainty"
        shifted[uncertainty] = np.hypot(fields[uncertainty], added)
    return shifted | (_deviations([around], 1) if one_row else {})
