"""Set a prediction beside a simulation: differences in standard errors, one verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.observables import Trajectory

COMPARED = ("overlap", "gram", "gradient_cosine", "network_error", "test_error")


@dataclass(frozen=True)
class Comparison:
    """(simulated mean - predicted) / standard error, by observable; the first axis is the step.

    Neurons are in canonical order.  ``threshold`` is the normal quantile at ``level``, corrected
    for the number of comparisons.
    """

    deviations: dict[str, Float[np.ndarray, "..."]]
    runs: int
    level: float

    @property
    def count(self) -> int:
        return sum(int(np.isfinite(value).sum()) for value in self.deviations.values())

    @property
    def threshold(self) -> float:
        from scipy.special import ndtri

        return float(-ndtri(self.level / (2 * max(self.count, 1))))

    @property
    def largest(self) -> float:
        """The largest deviation, in standard errors."""
        return max(float(np.nanmax(np.abs(v))) for v in self.deviations.values() if v.size)

    @property
    def agrees(self) -> bool:
        """Whether every deviation is within the threshold."""
        return self.largest <= self.threshold


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


def ordered(trajectory: Trajectory, name: str) -> Float[np.ndarray, "runs ..."]:
    """An observable with its neurons in canonical order."""
    values = trajectory.arrays()[name]
    order = canonical_order(trajectory)
    if name in ("overlap", "gradient_cosine"):
        return np.take_along_axis(values, order[:, None, :, None], axis=2)
    if name == "gram":
        rows = np.take_along_axis(values, order[:, None, :, None], axis=2)
        return np.take_along_axis(rows, order[:, None, None, :], axis=3)
    return values


def compare(predicted: Trajectory, simulated: Trajectory, level: float = 1e-3) -> Comparison:
    """Deviations of simulated means from the prediction, in joint standard errors."""
    if simulated.runs < 2:
        raise InputError(f"a comparison needs at least 2 runs, got {simulated.runs}")
    readouts = [
        np.take_along_axis(t.readout, canonical_order(t), axis=1)
        for t in (predicted, simulated)
        if t.readout is not None
    ]
    if len(readouts) == 2 and not np.allclose(readouts[0], readouts[1]):
        raise InputError("the runs do not have the readout the prediction is for")
    deviations = {}
    for name in COMPARED:
        if name not in simulated.arrays() or name not in predicted.arrays():
            continue
        theory, values = ordered(predicted, name)[0], ordered(simulated, name)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        doubt = predicted.arrays().get(f"{name}_error")
        if doubt is not None:
            error = np.hypot(error, doubt[0])
        # What does not fluctuate (the start) is compared to rounding of the samples.
        error = np.maximum(error, 1e-6 * (1.0 + np.abs(theory)))
        deviations[name] = (values.mean(axis=0) - theory) / error
    return Comparison(deviations, simulated.runs, level)
