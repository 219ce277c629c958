"""The theory of narrow networks, p fixed as d grows: fresh batches exactly, others in the limit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction.limits import first_complaint
from giantstep.prediction.narrow import drawn_runs, finite_runs, long_fluctuations
from giantstep.prediction.narrow.fluctuations import (
    Deviations,
    affordable_rows,
    deviations,
    start_columns,
)
from giantstep.prediction.narrow.fresh import unsteadiness
from giantstep.prediction.narrow.limits import (
    DRAWN_RUNS,
    FEW_ENTRIES,
    FEW_NEURONS,
    LONG_FLUCTUATIONS,
    NEAR_MEAN,
    NEAR_SHIFTED_MEAN,
    READOUT,
    SAMPLES_OF_A_LENGTH,
    TELLING_RUNS,
    small_batches,
    told_by_runs,
)
from giantstep.prediction.narrow.long_runs import (
    FEW_STEPS,
    closed_forms,
    is_long,
)
from giantstep.prediction.narrow.rows import exact_rows, fitted_errors, recursion, sampled_row
from giantstep.prediction.narrow.start import (
    Start,
    start_of_run,
    typical_start,
)
from giantstep.prediction.narrow.work import FEWEST_LOG2_POINTS, affordable
from giantstep.prediction.narrow.work import log2_points as points_of
from giantstep.prediction.recording import recorded
from giantstep.problem.network import start_rows
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS, known_span
from giantstep.records.trajectory import span_factor

SHIFT_UNCERTAINTY = 0.25
"""Of the shift: derivatives are held between some states, and the next order is a fifth of it."""

SMALL = 0.05
"""Share of a row's length up to which what the random start does to its overlaps is small: what
is left out of the mean is of the order of its square, 1/400."""

MOST_PAIRED = 32
"""Neurons up to which runs of a paired start are drawn: a second or two."""

FITTED_SHARE = 0.005
"""Directions that rows and target span, over the samples, up to which the linear part that labels
are deflated by has no noise along them; the recursion of the means leaves that noise out."""

LEFT_OUT_OF_FIT = 2.0
"""What is left out of squared lengths, over that share: 1.9, 2.0 and 1.4 at a share of 0.05 and
n = 100 to 220, 0.6 and 0.9 at shares of 0.05 and 0.016 and n = 2000 and 4000."""

PROBES = 8
"""Starts drawn to see what the random start does."""

PROBES_SHARE = 0.25
"""Share of the work that the probes take: all are on the same points, so that errors cancel."""

PROBES_RESOLVING = 2
"""Points of a probe over p n/d, at least: with 0.6 their noise alone moved overlaps by more than
SMALL (p = 50, n = 16 d)."""

FINITE_RUNS, FEWEST_RUNS = 64, 4
"""Runs that tell standard deviations where there is no recursion for them, to 9 %, and where every
run has a row of its own, to 41 % each: their errors average out."""


def predict(
    setting: Setting, readouts: Float[np.ndarray, "rows p"], accuracy: Accuracy
) -> dict[str, Any]:
    """Fields of the record: a row for each readout, or for each run where its start decides."""
    try:
        with np.errstate(all="ignore"):
            return _predict(setting, readouts, accuracy)
    except np.linalg.LinAlgError:
        raise NoTheoryError("no prediction: the recursion leaves the finite numbers") from None


def _predict(
    setting: Setting, readouts: Float[np.ndarray, "rows p"], accuracy: Accuracy
) -> dict[str, Any]:
    complaint = first_complaint(READOUT, setting) if setting.readout_n else None
    if needs_draws(setting):
        return _drawn(setting, complaint, draft=not accuracy.deviations)
    starts = [typical_start(setting, entries) for entries in readouts]
    random = not STARTS[setting.start].framed or setting.inputs.known_directions > 0
    many = not FEW_NEURONS.holds(setting)
    small = not (setting.seen_again or SAMPLES_OF_A_LENGTH.holds(setting))
    if (many or small) and is_long(setting) and not _knows_fluctuations(setting):
        NEAR_MEAN.refuse(_deviation_of_first_steps(setting, starts[0]), setting)
    own = setting.bias > 0 or (
        random and (many or start_share(setting, starts[0], accuracy.log2_points) > SMALL)
    )
    if own and _pairs_part(setting):
        return _drawn(setting, complaint, draft=not accuracy.deviations)
    if own:
        starts = [start_of_run(setting, run) for run in range(setting.runs)]
    accuracy = affordable(setting, accuracy, len(starts))
    exact = exact_rows(setting, starts)
    found = exact or [
        sampled_row(setting, start, row, accuracy) for row, start in enumerate(starts)
    ]
    fitted = setting.readout_n > 0 and complaint is None
    if fitted:
        for row, start in enumerate(starts):
            pairs = len(starts) == 1
            found[row].update(fitted_errors(setting, start, row, accuracy, own=own, pairs=pairs))
    arrays: dict[str, Any] = {"readout": np.stack([start.readout for start in starts])}
    for name in found[0]:
        values = np.stack([row[name][0] for row in found])
        if not np.all(np.isfinite(values)):
            raise NoTheoryError(f"no prediction: {name.replace('_', ' ')} is not finite")
        spread = np.stack([row[name][1] for row in found])
        if name.endswith("_error"):  # a mean square is not negative: what is below 0 is uncertain
            spread, values = np.maximum(spread, -values), np.maximum(values, 0.0)
        arrays |= {name: values, f"{name}_uncertainty": spread}
    # A change between two rules is a bound, not an estimate from a sample.
    freedom = None if exact is not None and not fitted else accuracy.scrambles - 1
    notes = () if complaint is None else (f"no prediction of readout errors: {complaint}",)
    if (few_samples := SAMPLES_OF_A_LENGTH.complaint(setting)) is not None:
        for name in ("gradient_cosine", "gradient_cosine_uncertainty"):
            arrays[name] = np.full_like(arrays[name], np.nan)
        notes = (*notes, f"no prediction of gradient cosines: {few_samples}")
    if is_long(setting):
        arrays = _with_fluctuations(setting, starts[0], arrays, own=own)
    arrays |= _of_gram(arrays, setting.target.r) | {"uncertainty_freedom": freedom, "notes": notes}
    arrays["own_runs"] = own or len(starts) > 1
    arrays["relative_uncertainty"] = max(
        unsteadiness(setting, starts[0]), LEFT_OUT_OF_FIT * fitted_share(setting)
    )
    if is_long(setting):
        return arrays
    around = _deviations(setting, starts, arrays, own=own) if accuracy.deviations else {}
    if not setting.seen_again and (around or many):
        known = (
            Deviations(*(around[f"{name}_deviation"][0] for name in ("overlap", "norms", "gram")))
            if around
            else _around(setting, starts[0], arrays, row=0, rows=setting.runs, own=True)
        )
        if not NEAR_MEAN.allows(largest_deviation(arrays["gram"][0], known)):
            if first_complaint(DRAWN_RUNS, setting) is None:
                return _drawn(setting, complaint, draft=not accuracy.deviations)
            if many or small:
                NEAR_MEAN.refuse(largest_deviation(arrays["gram"][0], known), setting)
    arrays |= around
    overlaps = [name for name in arrays if name.startswith("overlap")]
    cut = {name: arrays[name][..., : setting.target.r] for name in overlaps}
    return recorded(setting, arrays | cut)


def needs_draws(setting: Setting) -> bool:
    """Whether so much fluctuates that runs are drawn instead of their mean.

    The inner products of many neurons, or the linear part that labels are deflated by.
    """
    if setting.seen_again or is_long(setting):
        return False
    if fitted_share(setting) > FITTED_SHARE and first_complaint(DRAWN_RUNS, setting) is None:
        return True
    return not (FEW_NEURONS.holds(setting) or small_batches(setting))


def _pairs_part(setting: Setting) -> bool:
    """Whether the noise of a step is what rows that start in pairs differ by, run by run.

    The span of the rows holds these differences, which fluctuate together within a pair: the
    deviations of single rows around a mean do not say so, drawn runs do.  It counts for the
    principal cosines with several target directions.
    """
    few = setting.p <= MOST_PAIRED and not setting.seen_again and not is_long(setting)
    several = setting.target.r > 1
    paired = STARTS[setting.start].paired
    return few and several and paired and first_complaint(DRAWN_RUNS, setting) is None


def fitted_share(setting: Setting) -> float:
    """Directions that rows and target span over the samples that labels are deflated with."""
    return (setting.p + setting.known) / setting.n if setting.deflate == 1 else 0.0


def _drawn(setting: Setting, complaint: str | None, *, draft: bool) -> dict[str, Any]:
    """Fields of the record from runs that are drawn, ``complaint`` against errors of a readout."""
    fitted = setting.readout_n > 0 and complaint is None
    fields = drawn_runs.predict(setting, fitted=fitted, draft=draft)
    for name, values in fields.items():
        if not np.all(np.isfinite(values)):
            raise NoTheoryError(f"no prediction: {name.replace('_', ' ')} is not finite")
    notes = () if complaint is None else (f"no prediction of readout errors: {complaint}",)
    return recorded(setting, fields) | {"notes": notes, "own_runs": True}


def start_share(setting: Setting, typical: Start, log2_points: int | None = None) -> float:
    """How far a random start moves an overlap, in lengths of its row: the largest of any step.

    Root mean square over neurons and a few starts, direction by direction.  Where a prediction of
    few points is asked for it takes as few, as long as their noise does not pass for the start's.
    """
    r, d, others = setting.target.r, setting.d, setting.inputs.known_directions
    spaces = [known_span(np.random.default_rng(probe), r, d, others) for probe in range(PROBES)]
    starts = [Start(start_rows(setting, space), typical.readout) for space in spaces]
    most = points_of(setting, PROBES + 1, PROBES_SHARE)
    least = math.ceil(math.log2(PROBES_RESOLVING * setting.p * setting.n / d))
    points = most if log2_points is None else min(most, max(log2_points, least))
    paths = recursion(setting, 0, points)([typical, *starts])
    lengths = np.sqrt(np.diagonal(paths[0].gram, axis1=1, axis2=2))[..., None]
    overlaps = [path.overlap[..., :r] for path in paths]
    moved = np.stack([(overlap - overlaps[0]) / lengths for overlap in overlaps[1:]])
    return float(np.max(np.sqrt(np.mean(moved**2, axis=(0, 2)))))


def _deviations(
    setting: Setting, starts: list[Start], arrays: dict[str, Any], *, own: bool
) -> dict[str, np.ndarray]:
    """Standard deviations of one run around its row, from the batch and, unless ``own``, the start.

    NaN in the rows after those that are affordable; nothing where none is estimated, or one
    leaves the finite numbers.
    """
    rows = []
    runs = max(FINITE_RUNS // len(starts), FEWEST_RUNS)
    if told_by_runs(setting):
        if first_complaint(TELLING_RUNS, setting) is None:
            for row, start in enumerate(starts):
                rows.append(finite_runs.deviations(setting, start, given=own, runs=runs, seed=row))
    elif FEW_ENTRIES.holds(setting):
        known = starts[: affordable_rows(setting)]
        for row, start in enumerate(known):
            rows.append(_around(setting, start, arrays, row=row, rows=len(known), own=own))
    found = {
        f"{name}_deviation": np.stack([getattr(row, name) for row in rows])
        for name in ("overlap", "norms", "gram")
        if rows
    }
    if not all(np.all(np.isfinite(values)) for values in found.values()):
        return {}
    rest = len(starts) - len(rows)
    return {
        name: np.pad(v, [(0, rest)] + [(0, 0)] * (v.ndim - 1), constant_values=np.nan)
        for name, v in found.items()
    }


def _around(
    setting: Setting, start: Start, arrays: dict[str, Any], *, row: int, rows: int, own: bool
) -> Deviations:
    """Deviations around one of so many rows on fresh batches."""
    columns = start_columns(setting)
    return deviations(
        setting,
        arrays["overlap"][row],
        arrays["gram"][row],
        begin=start,
        start=columns[:0] if own else columns,
        rows=rows,
        seed=row,
    )


def _knows_fluctuations(setting: Setting) -> bool:
    """Whether what a long run strays by is computed along all of it."""
    few = first_complaint(LONG_FLUCTUATIONS, setting) is None
    return closed_forms(setting) is not None and few


def _with_fluctuations(
    setting: Setting, start: Start, arrays: dict[str, Any], *, own: bool
) -> dict[str, Any]:
    """Fields of a long run with closed forms, as means over runs and with their deviations.

    What fluctuations shift the mean by is added to the one row there is; of many rows, each with a
    start of its own, it is an uncertainty, the root mean square over neurons around the first.
    """
    committee = closed_forms(setting)
    if committee is None or not _knows_fluctuations(setting):
        return arrays
    columns = start_columns(setting)
    around = long_fluctuations.long_fluctuations(
        setting, start, committee, start=columns[:0] if own else columns
    )
    NEAR_SHIFTED_MEAN.refuse(largest_deviation(around.gram, around.along), setting)
    rows = len(arrays["overlap"])
    for name in ("overlap", "gram", "network_error"):
        found = getattr(around.shift, name)
        known = f"{name}_uncertainty"
        if rows == 1:
            arrays[name] = arrays[name] + found
            arrays[known] = np.hypot(arrays[known], SHIFT_UNCERTAINTY * found)
        else:
            each = found.reshape(len(found), -1)
            size = np.sqrt(np.mean(each**2, axis=1)).reshape(-1, *[1] * (found.ndim - 1))
            arrays[known] = np.hypot(arrays[known], size)
    if rows == 1:
        names = ("overlap", "norms", "gram")
        arrays |= {f"{name}_deviation": getattr(around.deviations, name)[None] for name in names}
    return arrays


def _deviation_of_first_steps(setting: Setting, start: Start) -> float:
    """How far the first steps of a long run stray: it is then far from its mean, or diverges."""
    sizes = setting.step_size[:FEW_STEPS]
    early = setting.vary(steps=FEW_STEPS, step_size=sizes, record="all", readout_n=0, test_n=0)
    [path] = recursion(early, 0, FEWEST_LOG2_POINTS[1])([start])
    arrays = {"overlap": path.overlap[None], "gram": path.gram[None]}
    around = _around(early, start, arrays, row=0, rows=1, own=True)
    return largest_deviation(path.gram, around)


def largest_deviation(gram: Float[np.ndarray, "t p p"], around: Deviations) -> float:
    """How far a run is from its mean, in lengths of its rows: the largest share after any step.

    Root mean square over the entries of the Gram matrix, and of the overlaps unless there is one
    step, after which their mean is exact.  What runs differ by at the start is not counted.
    """
    squares = np.mean(np.diagonal(gram, axis1=1, axis2=2), axis=1)
    parts = [(around.gram, squares), (around.overlap, np.sqrt(squares))]
    if len(gram) == 2:
        del parts[1]
    shares = []
    for deviation, unit in parts:
        variances = np.maximum(deviation**2 - deviation[0] ** 2, 0.0)
        shares.append(np.sqrt(np.mean(variances, axis=(1, 2))) / unit)
    return float(np.max(shares))


def _of_gram(arrays: dict[str, Any], r: int) -> dict[str, Any]:
    """What follows from overlaps and Gram matrices: lengths, and the span of the rows."""
    gram, overlap = arrays["gram"], arrays["overlap"][..., :r]
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
