"""Set a prediction beside a simulation: differences in standard errors, one verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.prediction.narrow.points import SCRAMBLES
from giantstep.records.trajectory import Trajectory

COMPARED = ("overlap", "gram", "gradient_cosine", "network_error", "train_error", "test_error")


@dataclass(frozen=True)
class Comparison:
    """(simulated mean - predicted) / standard error, by observable; the first axis is the step.

    Neurons are in canonical order.  ``p_value`` is that of the least likely deviation, times the
    number of comparisons (Bonferroni); theory and simulation agree unless it is below ``level``.
    """

    deviations: dict[str, Float[np.ndarray, "..."]]
    p_value: float
    runs: int
    level: float

    @property
    def count(self) -> int:
        """Number of comparisons."""
        return sum(value.size for value in self.deviations.values())

    @property
    def largest(self) -> float:
        """The largest deviation, in standard errors."""
        return max(float(np.max(np.abs(v))) for v in self.deviations.values() if v.size)

    @property
    def agrees(self) -> bool:
        return self.p_value >= self.level

    def as_dict(self) -> dict[str, Any]:
        """The verdict with its numbers, and the deviations as lists."""
        return {
            "agrees": self.agrees,
            "p_value": self.p_value,
            "level": self.level,
            "largest": self.largest,
            "comparisons": self.count,
            "runs": self.runs,
            "deviations": {name: value.tolist() for name, value in self.deviations.items()},
        }


def canonical_order(trajectory: Trajectory) -> np.ndarray:
    """Neurons of each run sorted by their readout; pairs of the symmetric start stay aligned."""
    if trajectory.readout is None:
        raise InputError("the trajectory does not say the readout of its neurons")
    readout = trajectory.readout
    if trajectory.setting.start != "symmetric":
        return np.argsort(readout, axis=1, kind="stable")
    half = readout.shape[1] // 2
    first = np.arange(half)[None]
    swapped = readout[:, :half] > 0
    negative = np.where(swapped, first + half, first)
    positive = np.where(swapped, first, first + half)
    return np.concatenate([negative, positive], axis=1)


def ordered(
    trajectory: Trajectory, name: str, like: str | None = None
) -> Float[np.ndarray, "runs ..."]:
    """An observable (or its error, shaped ``like`` it) with its neurons in canonical order."""
    values = trajectory.arrays()[name]
    order = canonical_order(trajectory)
    name = like or name
    if name in ("overlap", "gradient_cosine"):
        return np.take_along_axis(values, order[:, None, :, None], axis=2)
    if name == "gram":
        rows = np.take_along_axis(values, order[:, None, :, None], axis=2)
        return np.take_along_axis(rows, order[:, None, None, :], axis=3)
    return values


def summed(
    name: str, values: Float[np.ndarray, "*runs t p k"], theory: Float[np.ndarray, "runs t p k"]
) -> Float[np.ndarray, "*runs t k"]:
    """Sums over many neurons that tell a theory: along the predicted overlaps, mean square length.

    Overlaps are projected on the predicted ones, direction by direction, so that the noise of p
    neurons averages out; a Gram matrix counts through its diagonal.
    """
    if name == "overlap":
        size = np.sqrt(np.sum(theory**2, axis=-2))
        unit = np.divide(theory, size[..., None, :], where=size[..., None, :] > 0, out=0 * theory)
        return np.sum(values * unit[: len(values)] if values.ndim == 4 else values * unit[0], -2)
    if name == "gram":
        return np.diagonal(values, axis1=-2, axis2=-1).mean(axis=-1, keepdims=True)
    return values


def compare(predicted: Trajectory, simulated: Trajectory, level: float = 1e-3) -> Comparison:
    """Deviations of simulated means from the prediction, in joint standard errors.

    A prediction of one row is for all runs; one of several rows is for each run in turn, and the
    deviation is that of the mean difference.  At linear width the neurons are compared by sums
    over them: each overlap and the lengths.
    """
    if simulated.runs < 2:
        raise InputError(f"a comparison needs at least 2 runs, got {simulated.runs}")
    rows = slice(0, 1 if predicted.runs == 1 else simulated.runs)
    readouts = [
        np.take_along_axis(t.readout, canonical_order(t), axis=1)
        for t in (predicted, simulated)
        if t.readout is not None
    ]
    if predicted.runs not in (1, simulated.setting.runs) or (
        len(readouts) == 2 and not np.allclose(readouts[0][rows], readouts[1])
    ):
        raise InputError("the runs do not have the readout the prediction is for")
    from scipy.special import stdtr

    deviations, smallest = {}, 1.0
    for name in COMPARED:
        if name not in simulated.arrays() or name not in predicted.arrays():
            continue
        theory = ordered(predicted, name)[rows]
        values = ordered(simulated, name) - theory
        doubt = ordered(predicted, f"{name}_error", name)[0]
        if predicted.regime == "linear-width":
            theory, values, doubt = (summed(name, part, theory) for part in (theory, values, doubt))
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        if predicted.runs > 1:  # the rows' own errors are part of the spread
            doubt = np.zeros_like(doubt)
        # What does not fluctuate (the start) is compared to rounding of the samples.
        joint = np.maximum(np.hypot(error, doubt), 1e-6 * (1.0 + np.abs(theory[0])))
        deviations[name] = values.mean(axis=0) / joint
        # Student's t with Welch's degrees of freedom: runs, and scrambles of the quadrature.
        weight = error**4 / (len(values) - 1) + doubt**4 / (SCRAMBLES - 1)
        freedom = joint**4 / np.maximum(weight, joint**4 / (len(values) + SCRAMBLES - 2))
        chances = 2.0 * stdtr(freedom, -np.abs(deviations[name]))
        smallest = min(smallest, float(np.min(chances, initial=1.0)))
    count = sum(value.size for value in deviations.values())
    return Comparison(deviations, min(1.0, count * smallest), simulated.runs, level)
