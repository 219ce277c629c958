"""The theory of narrow networks, p fixed as d grows: fresh batches exactly, others in the limit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction.narrow import drawn_runs, long_deviations, readout
from giantstep.prediction.narrow.covariance import start_columns
from giantstep.prediction.narrow.coverage import SAMPLES_OF_A_LENGTH
from giantstep.prediction.narrow.deviations import Deviations, deviations_by_covariance, method_of
from giantstep.prediction.narrow.fresh import unsteadiness
from giantstep.prediction.narrow.long_runs import (
    FEW_STEPS,
    closed_forms,
    is_long,
)
from giantstep.prediction.narrow.paths import means_on_points
from giantstep.prediction.narrow.rows import exact_rows, readout_rows, sampled_row
from giantstep.prediction.narrow.state import (
    LARGEST_SHARE,
    State,
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

LARGEST_DEVIATION = 0.1
"""Of the Gram matrix of a run, as a share of the rows' squared length, where n or d/p is small: the
square, 1/100, is what the mean of the next step is shifted by (at .16 squared lengths are off by
2 %, at .42 by 5 %: erf, p = 4, d = 1000, n = 1)."""

LARGEST_SHIFTED = 0.2
"""The same where the shift is computed, and its own square, 1/25 of it, is left out."""

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
    complaint = readout.objection(setting) if setting.readout_n else None
    if needs_draws(setting):
        return _drawn(setting, complaint, draft=not accuracy.deviations)
    starts = [typical_start(setting, entries) for entries in readouts]
    random = not STARTS[setting.start].framed or setting.inputs.known_directions > 0
    many = setting.p > LARGEST_SHARE * setting.d
    small = not setting.seen_again and setting.n < SAMPLES_OF_A_LENGTH
    if (many or small) and is_long(setting) and not _knows_fluctuations(setting):
        _check_first_steps(setting, starts[0])
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
    if setting.readout_n and is_long(setting):
        complaint = f"steps must be at most {FEW_STEPS}, got {setting.steps}"
    fitted = setting.readout_n > 0 and complaint is None
    if fitted:
        for row, start in enumerate(starts):
            pairs = len(starts) == 1
            found[row].update(readout_rows(setting, start, row, accuracy, given=own, pairs=pairs))
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
    if setting.n < SAMPLES_OF_A_LENGTH:
        for name in ("gradient_cosine", "gradient_cosine_uncertainty"):
            arrays[name] = np.full_like(arrays[name], np.nan)
        least = f"n must be at least {SAMPLES_OF_A_LENGTH}, got {setting.n}"
        notes = (*notes, f"no prediction of gradient cosines: {least}")
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
            else deviations_by_covariance(
                setting,
                starts[0],
                (arrays["overlap"][0], arrays["gram"][0]),
                True,
                0,
                setting.runs,
            )
        )
        largest = known.largest(arrays["gram"][0])
        if not largest <= LARGEST_DEVIATION:
            if drawn_runs.objection(setting) is None:
                return _drawn(setting, complaint, draft=not accuracy.deviations)
            if many or small:
                _check_closure(setting, largest, LARGEST_DEVIATION)
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
    if fitted_share(setting) > FITTED_SHARE and drawn_runs.objection(setting) is None:
        return True
    one_pass = setting.n <= LARGEST_SHARE * setting.d
    few = setting.p <= LARGEST_SHARE * setting.d
    return not (few or one_pass)


def _pairs_part(setting: Setting) -> bool:
    """Whether the noise of a step is what rows that start in pairs differ by, run by run.

    The span of the rows holds these differences, which fluctuate together within a pair: the
    deviations of single rows around a mean do not say so, drawn runs do.  It counts for the
    principal cosines with several target directions.
    """
    few = setting.p <= MOST_PAIRED and not setting.seen_again and not is_long(setting)
    several = setting.target.r > 1
    return (
        few and several and STARTS[setting.start].paired and drawn_runs.objection(setting) is None
    )


def fitted_share(setting: Setting) -> float:
    """Directions that rows and target span over the samples that labels are deflated with."""
    return (setting.p + setting.known) / setting.n if setting.deflate == 1 else 0.0


def _drawn(setting: Setting, complaint: str | None, *, draft: bool) -> dict[str, Any]:
    """Fields of the record from runs that are drawn, ``complaint`` against errors of a readout."""
    fitted = setting.readout_n > 0 and complaint is None
    fields: dict[str, Any] = drawn_runs.predict(setting, fitted=fitted, draft=draft)
    for name, values in fields.items():
        if not np.all(np.isfinite(values)):
            raise NoTheoryError(f"no prediction: {name.replace('_', ' ')} is not finite")
    notes = () if complaint is None else (f"no prediction of readout errors: {complaint}",)
    r = setting.target.r
    fields |= _of_gram(fields, r) | {"overlap": fields["overlap"][..., :r]}
    fields["overlap_deviation"] = np.zeros_like(fields["overlap"])
    return recorded(setting, fields) | {"notes": notes, "own_runs": True}


def start_share(setting: Setting, typical: State, log2_points: int | None = None) -> float:
    """How far a random start moves an overlap, in lengths of its row: the largest of any step.

    Root mean square over neurons and a few starts, direction by direction.  Where a prediction of
    few points is asked for it takes as few, as long as their noise does not pass for the start's.
    """
    r, d, others = setting.target.r, setting.d, setting.inputs.known_directions
    spaces = [known_span(np.random.default_rng(probe), r, d, others) for probe in range(PROBES)]
    starts = [State(start_rows(setting, space), typical.readout) for space in spaces]
    most = points_of(setting, PROBES + 1, PROBES_SHARE)
    least = math.ceil(math.log2(PROBES_RESOLVING * setting.p * setting.n / d))
    points = most if log2_points is None else min(most, max(log2_points, least))
    paths = means_on_points(setting, [typical, *starts], 0, points)
    lengths = np.sqrt(np.diagonal(paths[0].gram, axis1=1, axis2=2))[..., None]
    overlaps = [path.overlap[..., :r] for path in paths]
    moved = np.stack([(overlap - overlaps[0]) / lengths for overlap in overlaps[1:]])
    return float(np.max(np.sqrt(np.mean(moved**2, axis=(0, 2)))))


def _deviations(
    setting: Setting, starts: list[State], arrays: dict[str, Any], *, own: bool
) -> dict[str, np.ndarray]:
    """Standard deviations of one run around its row, from the batch and, unless ``own``, the start.

    NaN in the rows after those that are affordable; nothing where none is estimated, or one
    leaves the finite numbers.
    """
    method = method_of(setting)
    rows = method.rows(setting, len(starts))
    means = zip(arrays["overlap"], arrays["gram"], strict=True)
    estimates = [
        method.estimate(setting, start, mean, own, row, rows)
        for row, (start, mean) in enumerate(zip(starts[:rows], means, strict=False))
    ]
    if not estimates:
        return {}
    fields = {}
    for name in ("overlap", "norms", "gram"):
        values = np.stack([getattr(estimate, name) for estimate in estimates])
        if not np.all(np.isfinite(values)):
            return {}
        padding = [(0, len(starts) - rows)] + [(0, 0)] * (values.ndim - 1)
        fields[f"{name}_deviation"] = np.pad(values, padding, constant_values=np.nan)
    return fields


def _knows_fluctuations(setting: Setting) -> bool:
    """Whether what a long run strays by is computed along all of it."""
    return closed_forms(setting) is not None and long_deviations.covers(setting)


def _with_fluctuations(
    setting: Setting, start: State, arrays: dict[str, Any], *, own: bool
) -> dict[str, Any]:
    """Fields of a long run with closed forms, as means over runs and with their deviations.

    What fluctuations shift the mean by is added to the one row there is; of many rows, each with a
    start of its own, it is an uncertainty, the root mean square over neurons around the first.
    """
    committee = closed_forms(setting)
    if committee is None or not _knows_fluctuations(setting):
        return arrays
    columns = start_columns(setting)
    around = long_deviations.long_deviations(
        setting, start, committee, columns=columns[:0] if own else columns
    )
    _check_closure(setting, around.largest, LARGEST_SHIFTED)
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


def _check_first_steps(setting: Setting, start: State) -> None:
    """Refuse a long run whose first steps stray: it is then far from its mean, or diverges."""
    sizes = setting.step_size[:FEW_STEPS]
    early = setting.vary(steps=FEW_STEPS, step_size=sizes, record="all", readout_n=0, test_n=0)
    [path] = means_on_points(early, [start], 0, FEWEST_LOG2_POINTS[1])
    mean = (path.overlap, path.gram)
    around = deviations_by_covariance(early, start, mean, True, 0, 1)
    _check_closure(early, around.largest(path.gram), LARGEST_DEVIATION)


def _check_closure(setting: Setting, largest: float, most: float) -> None:
    """Refuse steps after which a run is far from its mean, which is then shifted itself."""
    if not largest <= most:
        raise NoTheoryError(
            f"no prediction: runs differ too much for one prediction, by {largest:.0%} of the "
            f"length of a row at n = {setting.n} and step_size = {max(setting.step_size):g}, at "
            f"most {most:.0%}; use more samples or a smaller step"
        )


def _of_gram(arrays: dict[str, Any], r: int) -> dict[str, Any]:
    """What follows from overlaps and Gram matrices: lengths, and the span of the rows."""
    gram, overlap = arrays["gram"], arrays["overlap"][..., :r]
    norms = np.sqrt(np.diagonal(gram, axis1=-2, axis2=-1))
    span = [
        [span_factor(m, q) for m, q in zip(*run, strict=True)]
        for run in zip(overlap, gram, strict=True)
    ]
    fields = {"norms": norms, "span": np.array(span)}
    if "gram_uncertainty" in arrays:
        squares = np.diagonal(arrays["gram_uncertainty"], axis1=-2, axis2=-1)
        fields["norms_uncertainty"] = squares / (2.0 * np.maximum(norms, np.finfo(float).tiny))
    return fields
