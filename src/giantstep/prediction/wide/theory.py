"""The theory of wide networks, p from d to d^2: rows, spectra and errors of the readout."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float

from giantstep.errors import NotConvergedError, NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction.wide import rows
from giantstep.prediction.wide.losses import Losses
from giantstep.prediction.wide.outliers import feature_density, feature_outliers
from giantstep.prediction.wide.rows import readout_losses, rows_after
from giantstep.prediction.wide.second_bulk import bulk_profile
from giantstep.prediction.wide.step import noise_objection, normalised_size, refuse_if
from giantstep.prediction.wide.step import objection as step_objection
from giantstep.prediction.wide.two_steps import weight_outliers
from giantstep.problem.setting import Setting
from giantstep.records.spectrum import Spectrum, padded
from giantstep.records.trajectory import keeps_gram
from giantstep.spectra.bulk import Bulk
from giantstep.spectra.outliers import count_outliers
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.start import feature_bulk, weight_bulk

T = TypeVar("T")

GRID = 120
"""Points at which a density is given."""

LEVEL = 0.01
"""Rate at which noise is taken for an outlier, at each end of a bulk."""

STEP_MARGIN = 0.1
"""Beyond the edge of W after a step, relative: what the variance profile leaves out.

Heavy-tailed labels move the edge by that much, and a quadratic part of the target adds directions
2 c_2 f_2 (a o W w*) w*^T of size n^(alpha - 1/2) that stand just outside.
"""

LAST_EXPONENT = 0.5
"""Step sizes from n^(1/2) on are no perturbation: the expansion in spikes ends there."""

LEFT_OUT = {0: 4.0, 1: 4.0, 2: 60.0}
"""What the leading order leaves out after so many steps, relative, times d: a standard deviation.

Measured, not derived (benchmarks/finite_size.py): over 18 settings of one step at d = 100, 200, 400
the root mean square deviation of features' outliers is 3.1, 3.0, 4.1 over d, that of lengths,
errors and outliers of W below 3.9 over d; two steps are off by 2 % at d = 3000 and 15 % at d = 400.
Errors at p, readout_n ~ d^2 and d = 20 .. 30: 2.1 (train) and 0.6 (test) over d.
"""

objection = rows.objection


def predict(setting: Setting, readouts: Float[np.ndarray, "rows p"], _: Accuracy) -> dict[str, Any]:
    """Fields of the record, a row for each readout.  Nothing is sampled: any accuracy is met."""
    parts = [
        setting.vary(steps=step, step_size=setting.step_size[:step] or 1.0)
        for step in range(setting.steps + 1)
    ]
    notes = where_theory_ends(setting)
    fields = _rows(setting, parts, readouts)
    count = len(readouts)
    if setting.readout_n:
        losses = [_tried(readout_losses, part, "readout errors", notes) for part in parts]
        fields |= _errors(losses, count)
    if setting.spectra:
        found = [_tried(_weights, part, "weights", notes) for part in parts]
        fields["weights"] = _spectrum(found, count)
        if setting.readout_n:
            found = [_tried(_features, part, "features", notes) for part in parts]
            fields["features"] = _spectrum(found, count)
    left_out = LEFT_OUT[setting.steps] / setting.d
    return fields | {
        "notes": tuple(notes),
        "relative_uncertainty": left_out,
        "own_runs": len(readouts) > 1,
    }


def where_theory_ends(setting: Setting) -> list[str]:
    """A note where the step size is beyond what a perturbation of the features covers."""
    if setting.steps == 0:
        return []
    first = setting.vary(steps=1, step_size=setting.step_size[0])
    size = normalised_size(first)
    exponent = math.log(size) / math.log(setting.n) if size > 0 else -math.inf
    if exponent < LAST_EXPONENT:
        return []
    return [
        f"the step size is n^{exponent:.2f} at unit |a| and output scale: the theory of spikes "
        "ends at n^0.50, and what follows is its continuation"
    ]


def _tried(
    function: Callable[[Setting], T], part: Setting, name: str, notes: list[str]
) -> T | None:
    """What the theory gives, or None and a note that says why it does not apply."""
    try:
        return function(part)
    except (NoTheoryError, NotConvergedError) as error:
        notes.append(f"no prediction of {name} after step {part.steps}: {error}")
        return None


def _rows(
    setting: Setting, parts: list[Setting], readouts: Float[np.ndarray, "rows p"]
) -> dict[str, Any]:
    """Overlaps and lengths of the rows after each step, given each readout."""
    runs = [[rows_after(part, readout) for part in parts] for readout in readouts]
    fields: dict[str, Any] = {
        "overlap": np.array([[step.overlap for step in run] for run in runs]),
        "norms": np.array([[step.norms for step in run] for run in runs]),
    }
    if keeps_gram(setting):
        fields["gram"] = np.array([[step.gram for step in run] for run in runs])
    if all(step.span is not None for run in runs for step in run):
        fields["span"] = np.array([[step.span for step in run] for run in runs])
    if all(step.noise is not None for run in runs for step in run):
        noise = np.array([[step.noise for step in run] for run in runs])
        # A random row of length s has overlaps N(0, s^2/d) with any direction.
        deviation = np.sqrt(noise / setting.d)[..., None]
        fields["overlap_deviation"] = np.repeat(deviation, setting.target.r, axis=3)
    return fields


def _errors(losses: list[Losses | None], count: int) -> dict[str, Any]:
    """Train and test error of the readout after each step, NaN where none is predicted."""
    if not any(losses):
        return {}
    return {
        f"{name}_error": np.tile(
            [math.nan if loss is None else getattr(loss, name) for loss in losses], (count, 1)
        )
        for name in ("train", "test")
    }


@dataclass(frozen=True)
class _Step:
    """Bulk and outliers of one matrix after one step."""

    edge: float
    threshold: float
    outliers: Float[np.ndarray, " k"]
    grid: Float[np.ndarray, " q"]
    density: Float[np.ndarray, " q"]
    overlap: Float[np.ndarray, "k r"] | None = None
    left: Float[np.ndarray, "k degrees"] | None = None
    right: Float[np.ndarray, "k degrees"] | None = None


def _weights(setting: Setting) -> _Step:
    """W: at the start a Marchenko-Pastur law, then outliers of the update over a profile."""
    p, d = setting.p, setting.d
    start = weight_bulk(p, d, setting.start)
    if setting.steps == 0:
        return _over(start, np.zeros(0), np.zeros((0, setting.target.r)))
    found = weight_outliers(setting)[-1]
    bulk = ProfileBulk(*bulk_profile(setting).factors(p, d))
    # The edge of independent rows is below that of the profile: what lies between is bulk.
    beyond = found.singular_values > bulk.edges[-1][1]
    return _over(bulk, found.singular_values[beyond], found.overlap[beyond], STEP_MARGIN)


def _over(
    bulk: Bulk | ProfileBulk,
    outliers: Float[np.ndarray, " k"],
    overlap: Float[np.ndarray, "k r"],
    margin: float = 0.0,
) -> _Step:
    edges = bulk.edges
    edge = edges[-1][1]
    grid = np.linspace(max(edges[0][0], 1e-3 * edge), edge, GRID)
    threshold = count_outliers(np.array([edge]), bulk, LEVEL).threshold + margin * edge
    return _Step(edge, threshold, outliers, grid, bulk.density(grid), overlap)


def _features(setting: Setting) -> _Step:
    """sigma(X W^T)/sqrt(readout_n) by the closed system."""
    refuse_if(spectrum_objection(setting) or step_objection(setting) or noise_objection(setting))
    found = feature_outliers(setting)
    grid = np.linspace(0.01 * found.edge, found.edge, GRID)
    # Noise passes the edge by as much as it does before the step.
    start = feature_bulk(setting.activation, setting.readout_n, setting.d, setting.p, setting.start)
    edge = start.edges[-1][1]
    margin = count_outliers(np.array([edge]), start, LEVEL).threshold / edge
    return _Step(
        edge=found.edge,
        threshold=margin * found.edge,
        outliers=found.values,
        grid=grid,
        density=feature_density(setting, grid),
        left=found.left,
        right=found.right,
    )


def spectrum_objection(setting: Setting) -> str | None:
    """Why the spectrum of the features is not predicted, None if it is.

    Beyond linear width each degree has a bulk of its own, and what stands outside all is no edge.
    """
    for name in ("p", "readout_n"):
        ratio = getattr(setting, name) / setting.d
        if ratio > rows.SHARE[1]:
            return f"{name} must be at most {rows.SHARE[1]:g} d for a spectrum, got {ratio:.3g} d"
    return None


def _spectrum(steps: list[_Step | None], count: int) -> Spectrum | None:
    """The steps of one matrix as a record, the same for each of ``count`` runs."""
    if not any(steps):
        return None

    def over_steps(name: str) -> Float[np.ndarray, "t ..."] | None:
        return padded([None if step is None else getattr(step, name) for step in steps])

    fields = {
        name: None if (found := over_steps(name)) is None else np.repeat(found[None], count, axis=0)
        for name in ("edge", "threshold", "outliers", "overlap", "left", "right")
    }
    return Spectrum(**fields, grid=over_steps("grid"), density=over_steps("density"))
