"""Which settings have their runs drawn: before any mean is computed, and after a look at it."""

from __future__ import annotations

from typing import Any

import numpy as np

from giantstep.gaussian.points import Accuracy
from giantstep.prediction.limits import first_complaint
from giantstep.prediction.narrow.drawn_work import expected_seconds, needs_samples
from giantstep.prediction.narrow.limits import (
    FEW_INPUTS,
    FEW_NEURONS,
    MEANS,
    SAMPLES_OF_A_LENGTH,
    drawable,
    small_batches,
)
from giantstep.prediction.narrow.part_limits import (
    FEW_PAIRED,
    FITTED_PART,
    LEARNED_SPAN,
    PAIRED_SPAN,
    PARTS,
)
from giantstep.prediction.narrow.paths import path_of
from giantstep.problem.setting import Setting

Fields = dict[str, Any]
"""Fields of a ``Trajectory``; arrays have an axis of rows, one of steps, and those of the field."""


def needs_draws(setting: Setting) -> bool:
    """Whether runs are drawn without a look at their mean.

    So many inner products fluctuate, the linear part that labels are deflated by does, samples that
    are seen again have few inputs, the mean is beyond its limits, or a readout has few samples.
    """
    if path_of(setting).grouped or not drawable(setting):
        return False
    wide = not (FEW_NEURONS.holds(setting) or small_batches(setting)) or setting.deflate == 2
    of_means = first_complaint((FITTED_PART, FEW_INPUTS, *MEANS), setting)
    if wide or needs_samples(setting) or of_means is not None:
        return True
    few_samples = not SAMPLES_OF_A_LENGTH.holds(setting) and quick(setting, fits=False)
    return few_samples or draws_fits(setting)


def draws_fits(setting: Setting) -> bool:
    """Whether readouts of drawn runs are fitted on drawn samples: by need, or quick and better."""
    if setting.readout_n == 0:
        return False
    expanded = first_complaint(PARTS["readout errors"], setting) is None
    return needs_samples(setting) or (not expanded and quick(setting, fits=True))


def quick(setting: Setting, *, fits: bool, seconds: float = 3.0) -> bool:
    """Whether drawn runs take so little time that they fill in what a mean leaves open."""
    return expected_seconds(setting, fits=fits) <= seconds


def pairs_part(setting: Setting) -> bool:
    """Whether the noise of a step is what rows that start in pairs differ by, run by run.

    The span of the rows holds these differences, which fluctuate together within a pair: the
    deviations of single rows around a mean do not say so, drawn runs do.  It counts for the
    principal cosines with several target directions.
    """
    if path_of(setting).grouped or not setting.start.kind.paired or setting.target.r == 1:
        return False
    return FEW_PAIRED.holds(setting) and drawable(setting)


def spans_are_noise(setting: Setting, fields: Fields, accuracy: Accuracy) -> bool:
    """Whether the principal cosines of rows that differ from run to run are those of their noise.

    The start is known, and a single row for all runs has deviations that are computed precisely.
    """
    if len(fields["span"]) == 1 or setting.steps == 0:
        return False
    held = _least_held(setting, fields) - _held_by_points(setting, accuracy)
    return not LEARNED_SPAN.allows(setting.p / setting.d / max(held, np.finfo(float).tiny))


def pairs_add(setting: Setting, fields: Fields, *, unknown: float = 5.0) -> bool:
    """Whether the differences of paired rows add to a principal cosine of the one mean row.

    From the share ``unknown`` of the squared cosine on fluctuations make most of the number, which
    is then not known (``records.observables.UNKNOWN``), and no reason to draw runs.
    """
    if len(fields["span"]) != 1 or not pairs_part(setting):
        return False
    cosines = np.linalg.svd(fields["span"][:, 1:], compute_uv=False)[..., : setting.p]
    shares = setting.p / setting.d / np.maximum(cosines**2, np.finfo(float).tiny)
    return not all(PAIRED_SPAN.allows(share) for share in shares[shares < unknown])


def errors_of_points(setting: Setting, fields: Fields, accuracy: Accuracy) -> float:
    """Share of the squares of cosines that is the error of the points of many rows, the largest.

    Of a principal cosine all of it; of the overlap with a direction what exceeds the deviation of a
    run, for which it stands otherwise (docs/derivations/fluctuations.md, eq. (5)).
    """
    if len(fields["span"]) == 1 or setting.steps == 0:
        return 0.0
    shares = [_held_by_points(setting, accuracy) / _least_held(setting, fields)]
    if "overlap_deviation" in fields:
        error, deviation, overlap = (
            np.nanmean(fields[name][:, 1:] ** 2, axis=(0, 2))
            for name in ("overlap_uncertainty", "overlap_deviation", "overlap")
        )
        tiny = np.finfo(float).tiny
        shares.append(float(np.max((error - deviation) / np.maximum(overlap, tiny))))
    return max(shares)


def _least_held(setting: Setting, fields: Fields) -> float:
    """The least square of a principal cosine after a step, in the mean over rows."""
    held = np.linalg.svd(fields["span"][:, 1:], compute_uv=False)[..., : setting.p] ** 2
    return max(float(held.mean(axis=0).min()), np.finfo(float).tiny)


def _held_by_points(setting: Setting, accuracy: Accuracy) -> float:
    """(p/d)(n/N): what N points of a row, in place of n samples, add to a squared cosine, about.

    docs/derivations/fluctuations.md, eq. (5).
    """
    assert accuracy.log2_points is not None
    points = accuracy.scrambles * 2**accuracy.log2_points
    return setting.p / setting.d * setting.n / points
