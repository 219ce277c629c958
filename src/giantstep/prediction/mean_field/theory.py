"""Fields of the record of many neurons in few dimensions, a row for each run from its own start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.gaussian.points import Accuracy
from giantstep.prediction.mean_field.flow import LOG2_POINTS, Flow
from giantstep.prediction.mean_field.limits import NOISE, READOUT
from giantstep.prediction.mean_field.particles import followed, sampled_neurons
from giantstep.prediction.narrow.long_runs import between
from giantstep.prediction.narrow.state import State, dense_start, whole_basis
from giantstep.problem.network import start_biases, start_readout
from giantstep.problem.setting import Setting
from giantstep.simulation.matrices import Rows, rows_span


def predict(
    setting: Setting, readouts: Float[np.ndarray, "rows p"], accuracy: Accuracy
) -> dict[str, Any]:
    """Overlaps, lengths and the network's own error after each step.

    Rows are those of all neurons of a run, or of a sample of them (``particles``).  The gradient of
    a small batch is mostly noise, and the mean of its cosine is left open.
    """
    runs = [_run(setting, run, accuracy) for run in range(setting.runs)]
    noise = max(float(fields.pop("noise")) for fields in runs)
    NOISE.refuse(noise, setting)
    fields: dict[str, Any] = {name: np.stack([run[name] for run in runs]) for name in runs[0]}
    if not setting.readout_n:
        del fields["network_error"]
    complaint = READOUT.complaint(setting)
    notes = [] if complaint is None else [f"no prediction of readout errors: {complaint}"]
    of_sample, count = 0.0, followed(setting)
    if count < setting.p:
        of_sample = count**-0.5
        notes.append(
            f"theory follows {count} random neurons of the {setting.p} of a run, and its rows are "
            f"those of these neurons. This makes its numbers uncertain by about {of_sample:.1%}"
        )
    uncertainty = math.hypot(noise, of_sample)
    return fields | {"own_runs": True, "relative_uncertainty": uncertainty, "notes": tuple(notes)}


def _run(setting: Setting, run: int, accuracy: Accuracy) -> dict[str, Any]:
    """The record of one run, and the noise of its batches over the squared length of a row."""
    start, recorded = _start(setting, run), np.array(setting.recorded)
    flow = Flow(setting, start, run, accuracy.log2_points or LOG2_POINTS)
    path, ends = np.empty((len(recorded), *start.rows.shape)), [0]
    path[0] = start.rows
    with np.errstate(all="ignore"):
        for group in flow.groups():
            inside = (recorded > group.begin) & (recorded <= group.end)
            path[inside] = group.at(recorded[inside]).reshape(-1, *start.rows.shape)
            ends.append(group.end)
            last = group.after
        if len(flow.fields) < len(ends):  # the last group is a single step
            flow(last, setting.steps - 1, len(flow.fields))
    if not np.all(np.isfinite(path)):
        raise NoTheoryError("no prediction: the rows become infinite. Use a smaller step")
    return _fields(setting, start, flow, path, np.array(ends))


def _fields(
    setting: Setting,
    start: State,
    flow: Flow,
    path: Float[np.ndarray, "t p d"],
    ends: np.ndarray,
) -> dict[str, Any]:
    r, recorded = setting.target.r, np.array(setting.recorded)
    overlap, norms = path[:, :, :r], np.linalg.norm(path, axis=2)
    fields = flow.fields[: len(ends)]
    sizes = np.array(setting.step_size) ** 2
    along = _summed(sizes, ends, np.stack([f.noise_along(setting) for f in fields]))
    added = _summed(sizes, ends, np.array([f.noise(setting).mean() for f in fields]))
    fewest = [Rows(rows, rows[:, :r]).fewest for rows in path]
    longest = np.max(norms, axis=1) ** 2
    spans = [
        rows_span(few.overlap, few.gram, float(square))
        for few, square in zip(fewest, longest, strict=True)
    ]
    return {
        "readout": start.readout,
        "overlap": overlap,
        "norms": norms,
        "span": np.stack(spans),
        "network_error": between(ends, np.array([f.error for f in fields]), recorded),
        "overlap_deviation": np.sqrt(np.maximum(along[recorded], 0.0)),
        "noise": added[-1] / np.mean(norms[-1] ** 2),
    }


def _summed(
    sizes: Float[np.ndarray, " s"], ends: np.ndarray, values: Float[np.ndarray, "g ..."]
) -> Float[np.ndarray, "t ..."]:
    """Squared step sizes times values that are known at the ends of groups, summed over steps."""
    steps = between(ends, values, np.arange(len(sizes)))
    terms = sizes.reshape(-1, *(1,) * (values.ndim - 1)) * steps
    return np.concatenate([np.zeros_like(terms[:1]), np.cumsum(terms, axis=0)])


def _start(setting: Setting, run: int) -> State:
    """The start of a run's neurons that are followed, in all d coordinates, the target's first."""
    drawn, neurons = start_biases(setting, run), sampled_neurons(setting, run)
    biases = drawn if setting.bias_at == "start" else np.zeros_like(drawn)
    rows, directions = dense_start(setting, run)
    rows = rows[neurons] @ whole_basis(directions).T
    return State(rows, start_readout(setting, run)[neurons], biases[neurons], drawn[neurons])
