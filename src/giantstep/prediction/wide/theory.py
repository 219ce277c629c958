"""The theory of wide networks, p from d to d^2: rows, spectra and errors of the readout."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import NotConvergedError, NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction.wide.batch_limits import BATCH_TRAIN_NOISE
from giantstep.prediction.wide.drawn_batches import (
    count_of_batches,
    few_samples_decide,
    left_out_of_batches,
)
from giantstep.prediction.wide.laws import MATRICES, Matrix, spectra_of_runs
from giantstep.prediction.wide.losses import Losses
from giantstep.prediction.wide.network import Network, ReadoutStatistics
from giantstep.prediction.wide.network_error import network_error
from giantstep.prediction.wide.part_limits import DECIDED
from giantstep.prediction.wide.quantities import (
    fitted_on_batch,
    left_out,
    left_out_of_errors,
)
from giantstep.prediction.wide.rows import (
    Rows,
    readout_losses,
    rows_of_batches,
    rows_of_runs,
)
from giantstep.prediction.wide.runs import statistics_nodes
from giantstep.problem.setting import Setting
from giantstep.records.spectrum import Spectrum, padded


def predict(setting: Setting, readouts: Float[np.ndarray, "rows p"], _: Accuracy) -> dict[str, Any]:
    """Fields of the record, a row for each readout.  Nothing is sampled: any accuracy is met."""
    parts = [
        setting.vary(steps=step, step_size=setting.step_size[:step] or 1.0)
        for step in range(setting.steps + 1)
    ]
    notes: list[str] = []
    not_known = left_out(setting)
    if few_samples_decide(setting):
        not_known = math.hypot(not_known, left_out_of_batches(setting))
        fields = _rows_of_batches(setting, parts, readouts)
        notes.append(
            f"theory draws {len(fields['readout'])} random batches, of which a few samples with "
            "large residuals decide the step, and shows the mean of lengths and overlaps"
        )
    else:
        runs = zip(*(rows_of_runs(part, readouts) for part in parts), strict=True)
        fields = _rows(list(runs))
    undecided: list[float] = []
    if setting.readout_n:
        errors = partial(_losses, notes=notes, undecided=undecided)
        losses = [
            _tried(errors, part, readouts, name="readout errors", notes=notes) for part in parts
        ]
        networks = [
            _tried(_network_errors, part, readouts, name="network's own error", notes=notes)
            for part in parts
        ]
        errors_of_runs = _errors(losses, ("train", "test"), len(readouts))
        errors_of_runs |= _errors(networks, ("network",), len(readouts))
        shape = (len(fields["overlap"]), len(parts))
        fields |= {name: np.resize(each, shape) for name, each in errors_of_runs.items()}
    if setting.spectra:
        for matrix in MATRICES[: 2 if setting.readout_n else 1]:
            law = partial(_law, matrix)
            laws = [_tried(law, part, readouts, name=matrix.name, notes=notes) for part in parts]
            fields[matrix.name] = _spectrum(laws)
    return fields | {
        "notes": tuple(notes),
        "relative_uncertainty": not_known,
        "readout_relative_uncertainty": math.hypot(
            math.sqrt(max(left_out_of_errors(setting) ** 2 - left_out(setting) ** 2, 0.0)),
            max(undecided, default=0.0),
        ),
        "own_runs": len(fields["overlap"]) > 1,
    }


Arrays = dict[str, Float[np.ndarray, "..."]]


def _tried(
    function: Callable[[Setting, Float[np.ndarray, "rows p"]], Arrays],
    part: Setting,
    readouts: Float[np.ndarray, "rows p"],
    *,
    name: str,
    notes: list[str],
) -> Arrays | None:
    """What the theory gives, or None and a note that says why it does not apply."""
    try:
        return function(part, readouts)
    except (NoTheoryError, NotConvergedError) as error:
        reason = str(error).removeprefix("no prediction: ")
        notes.append(f"no prediction of {name} after step {part.steps}: {reason}")
        return None


def _rows_of_batches(
    setting: Setting, parts: list[Setting], readouts: Float[np.ndarray, "rows p"]
) -> dict[str, Any]:
    """Overlaps and lengths of the rows on drawn batches, the same number for each run."""
    several = np.resize(readouts, (count_of_batches(setting), setting.p))
    start, step = rows_of_runs(parts[0], readouts), rows_of_batches(parts[1], several)
    starts = [replace(start[row % len(start)], gram=None) for row in range(len(several))]
    return _rows(list(zip(starts, step, strict=True))) | {"readout": several}


def _rows(runs: list[tuple[Rows, ...]]) -> dict[str, Any]:
    """Overlaps and lengths of the rows after each step of some runs."""
    fields: dict[str, Any] = {
        "overlap": np.array([[step.overlap for step in run] for run in runs]),
        "norms": np.array([[step.norms for step in run] for run in runs]),
    }
    if all(step.gram is not None for run in runs for step in run):
        fields["gram"] = np.array([[step.gram for step in run] for run in runs])
    if all(step.span is not None for run in runs for step in run):
        fields["span"] = np.array([[step.span for step in run] for run in runs])
    if all(step.deviation is not None for run in runs for step in run):
        fields["overlap_deviation"] = np.array([[step.deviation for step in run] for run in runs])
        shared = [[step.shared for step in run] for run in runs]
        fields["overlap_shared_deviation"] = np.array(shared)
    return fields


def _losses(
    setting: Setting,
    readouts: Float[np.ndarray, "rows p"],
    *,
    notes: list[str],
    undecided: list[float],
) -> Arrays:
    """Train and test error of the readout for each run; a note where train errors are left open.

    On the last batch ``undecided`` gets the relative difference of train errors at penalties that
    leave-one-out does not tell apart: runs choose among them.
    """
    nodes = statistics_nodes(setting, readouts, signed=True)
    computed: list[Losses] = []
    for statistics in nodes.statistics:
        near = computed[-1].ridge if computed else None
        computed.append(readout_losses(setting, statistics, near))
    carried = {
        name: nodes.carried_sizes([getattr(loss, name) for loss in computed])
        for name in ("train", "test")
    }
    loose = max(loss.loose for loss in computed)
    complaint = DECIDED.complaint_at(loose, setting) or BATCH_TRAIN_NOISE.complaint(setting)
    if complaint is not None:
        carried["train"] = np.full(len(readouts), math.nan)
        notes.append(f"no prediction of train errors after step {setting.steps}: {complaint}")
    elif fitted_on_batch(setting):
        undecided.append(loose)
    return carried


def _network_errors(setting: Setting, readouts: Float[np.ndarray, "rows p"]) -> Arrays:
    """Mean squared error of the network with its own readout, for each run."""
    if setting.steps == 0:
        runs = [ReadoutStatistics.of(setting, readout) for readout in readouts]
        return {"network": np.array([network_error(Network(setting, run)) for run in runs])}
    # The output of the network is in its error, whatever residual its steps took.
    nodes = statistics_nodes(setting.vary(residual="full"), readouts, signed=True)
    errors = [network_error(Network(setting, statistics)) for statistics in nodes.statistics]
    return {"network": nodes.carried_sizes(errors)}


def _errors(losses: list[Arrays | None], names: tuple[str, ...], count: int) -> Arrays:
    """Errors of these names after each step, NaN where none is predicted."""
    if not any(losses):
        return {}
    none = np.full(count, math.nan)
    return {
        f"{name}_error": np.column_stack([none if loss is None else loss[name] for loss in losses])
        for name in names
    }


def _law(matrix: Matrix, setting: Setting, readouts: Float[np.ndarray, "rows p"]) -> Arrays:
    """Edge and outliers of one matrix for each run, and the density of the median one."""
    return spectra_of_runs(matrix, setting, statistics_nodes(setting, readouts, signed=False))


def _spectrum(laws: list[Arrays | None]) -> Spectrum | None:
    """The steps of one matrix as a record."""
    predicted = next((law for law in laws if law is not None), None)
    if predicted is None:
        return None
    steps = {
        name: padded([None if law is None else law[name] for law in laws]) for name in predicted
    }
    # Runs first, but for the density, which is one for all.
    return Spectrum(
        **{
            name: part if name in ("grid", "density") or part is None else np.moveaxis(part, 0, 1)
            for name, part in steps.items()
        }
    )
