"""Set a prediction beside a simulation: differences in standard errors, one verdict.

Every statistic is compared by Student's t over the runs, and the p-values p_j are combined by their
harmonic mean, m / sum_j 1/p_j: at small levels it keeps the level whatever the dependence of the
statistics, where Bonferroni's correction falls below it (Wilson, PNAS 2019).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.records.differences import canonical_order, statistics
from giantstep.records.trajectory import Trajectory

FREE = ("precision", "spectra", "frame")
"""Fields in which the two settings may differ: they do not change a run."""

SAME_LAW = (*FREE, "runs", "seed", "engine", "device")
"""Those that may differ where the prediction is for all runs: they do not change their law."""

ROUNDING = 1e-6
"""What does not fluctuate (the start) is compared to rounding of the samples, single precision."""

NOTICEABLE = 0.1
"""Share of the variance from which on the uncertainty of the theory limits the freedom of t."""


@dataclass(frozen=True)
class Comparison:
    """(simulated mean - predicted) / standard error, by observable; the first axis is the step.

    Neurons are in canonical order, and entries without a prediction are NaN.  Theory and simulation
    agree unless ``p_value`` is below ``level``; ``least`` is the p-value of the least likely entry.
    ``resolution`` is, by observable, the deviation that these runs would have shown, as a share of
    the observable's own size: agreement means agreement to within that.

    t = (mean over runs - predicted) / sqrt(s^2/runs + uncertainty^2), Student's; p-values p_j of
    all m entries are combined to m / sum_j 1/p_j.  Runs are independent.

    >>> from giantstep import Setting, compare, predict, simulate
    >>> setting = Setting("x1", d=1000, p=2, steps=1, runs=4, readout_n=0, test_n=0)
    >>> compare(predict(setting), simulate(setting)).agrees
    True
    """

    deviations: dict[str, Float[np.ndarray, "..."]]
    resolution: dict[str, float]
    p_value: float
    least: float
    runs: int
    level: float

    def __repr__(self) -> str:
        word = "agrees" if self.agrees else f"disagrees in {self.farthest}"
        return (
            f"Comparison({word}: p-value {self.p_value:.2g}, least likely of {self.count} "
            f"comparisons {self.sigmas:.1f} sigma off, {self.runs} runs)"
        )

    @property
    def sigmas(self) -> float:
        """The least likely of all deviations, as that of a normal variable.

        With two runs a deviation of 50 standard errors is nothing special, and is 2.5 here.
        """
        from scipy.special import ndtri

        return float(-ndtri(0.5 * self.least))

    @property
    def count(self) -> int:
        """Number of comparisons."""
        return sum(int(np.sum(np.isfinite(value))) for value in self.deviations.values())

    @property
    def largest(self) -> float:
        """The largest deviation, in standard errors."""
        return max(_largest(value) for value in self.deviations.values())

    @property
    def farthest(self) -> str:
        """The observable with the largest deviation."""
        return max(self.deviations, key=lambda name: _largest(self.deviations[name]))

    @property
    def agrees(self) -> bool:
        return self.p_value >= self.level

    def as_dict(self) -> dict[str, Any]:
        """The verdict with its numbers, and by observable its largest deviation and resolution."""
        return {
            "agrees": self.agrees,
            "p_value": self.p_value,
            "level": self.level,
            "sigmas": self.sigmas,
            "comparisons": self.count,
            "runs": self.runs,
            "observables": {
                name: {
                    "comparisons": int(np.sum(np.isfinite(value))),
                    "largest": _largest(value),
                    "resolution": _finite(self.resolution[name]),
                }
                for name, value in self.deviations.items()
            },
        }


def _finite(value: float) -> float | None:
    """None in place of infinity, which JSON does not have: nothing is a share of zero."""
    return value if math.isfinite(value) else None


def _largest(deviations: Float[np.ndarray, "..."]) -> float:
    return float(np.nanmax(np.abs(deviations), initial=0.0))


def compare(
    predicted: Trajectory,
    simulated: Trajectory,
    level: float = 1e-3,
    *,
    ignoring: Collection[str] = (),
) -> Comparison:
    """Deviations of simulated means from the prediction, in joint standard errors.

    A prediction of one row is for all runs; one of several rows is for each run in turn, and the
    deviation is that of the mean difference.  Records of different settings are refused, but for
    the fields named in ``ignoring``.

    t = (mean over runs - predicted) / sqrt(s^2/runs + uncertainty^2), entry by entry; see
    ``Comparison``, which has an example and the verdict at false-alarm rate ``level``.
    """
    if predicted.theory is None or simulated.theory is not None:
        raise InputError(
            "compare takes a prediction and then a simulation, got records of "
            f"{predicted.engine!r} and {simulated.engine!r}"
        )
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}")
    unknown = sorted(set(ignoring) - set(Setting.model_fields))
    if unknown:
        raise InputError(f"ignoring must name fields of a setting, got {unknown[0]!r}")
    if simulated.runs < 2:
        raise InputError(f"a comparison needs at least 2 runs, got {simulated.runs}")
    free = FREE if predicted.own_runs else SAME_LAW
    _check_settings(predicted.setting, simulated.setting, {*free, *ignoring})
    _check_readouts(predicted, simulated)
    from scipy.special import stdtr, stdtrit

    compared = list(statistics(predicted, simulated))
    count = sum(int(np.sum(np.isfinite(part.predicted))) for part in compared)
    freedom_of_theory = predicted.uncertainty_freedom or np.inf
    deviations, resolution, inverse, least = {}, {}, 0.0, 1.0
    for part in compared:
        runs = len(part.differences)
        spread = np.maximum(part.differences.std(axis=0, ddof=1), part.deviation)
        error = spread / np.sqrt(runs)
        left_out = predicted.relative_uncertainty * np.abs(part.predicted)
        joint = np.hypot(np.hypot(error, part.uncertainty), left_out)
        joint = np.maximum(joint, ROUNDING * (1.0 + np.abs(part.predicted)))
        # t has the freedom of the runs; where the theory's own uncertainty counts, no more than it.
        limited = part.uncertainty**2 > NOTICEABLE * joint**2
        freedom = np.where(limited, np.minimum(runs - 1, freedom_of_theory), runs - 1)
        deviations[part.name] = part.differences.mean(axis=0) / joint
        chances = 2.0 * stdtr(freedom, -np.abs(deviations[part.name]))
        # So that the sum of all inverses is finite.
        chances = np.maximum(chances, count * np.finfo(float).tiny)
        inverse += float(np.nansum(1.0 / chances))
        least = min(least, float(np.nanmin(chances, initial=1.0)))
        seen = stdtrit(freedom, 1.0 - 0.5 * level / count) * joint
        size = np.sqrt(np.nansum(part.predicted**2))
        resolution[part.name] = float(np.sqrt(np.nansum(seen**2)) / size) if size > 0 else np.inf
    p_value = harmonic_p_value(count, inverse) if inverse else 1.0
    return Comparison(deviations, resolution, p_value, least, simulated.runs, level)


def harmonic_p_value(count: int, inverse: float) -> float:
    """P-value of the harmonic mean h = m/sum 1/p_j of m p-values, to second order in h.

    1/h has the tail of Landau's law with location log m + 0.874, so that P(h < x) is
    x (1 + x (log m + 0.874)) for small x (Wilson, PNAS 2019).
    """
    mean = count / inverse
    return min(1.0, mean * (1.0 + mean * (math.log(count) + 0.874)))


def _check_settings(predicted: Setting, simulated: Setting, ignored: set[str]) -> None:
    for name in Setting.model_fields:
        ours, theirs = getattr(predicted, name), getattr(simulated, name)
        if name not in ignored and ours != theirs:
            raise InputError(
                f"the records are of different settings: {name} is {_short(ours)} in the "
                f"prediction and {_short(theirs)} in the simulation"
            )


def _short(value: Any) -> str:
    return repr(getattr(value, "name", getattr(value, "text", value)))


def _check_readouts(predicted: Trajectory, simulated: Trajectory) -> None:
    """The prediction must be for the readout of every run, or for one that all runs share."""
    readouts = [
        np.take_along_axis(t.readout, canonical_order(t), axis=1)
        for t in (predicted, simulated)
        if t.readout is not None
    ]
    if len(readouts) == 2:
        expected = readouts[0][: simulated.runs] if predicted.own_runs else readouts[0]
        if len(expected) not in (1, simulated.runs) or not np.allclose(expected, readouts[1]):
            raise InputError("the runs do not have the readout the prediction is for")
