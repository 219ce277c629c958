"""Set a prediction beside a simulation: differences in standard errors, one verdict.

Every statistic is compared by Student's t over the runs, and the p-values p_j are combined by their
weighted harmonic mean, 1 / sum_j w_j/p_j: at small levels it keeps the level whatever the
dependence of the statistics, where Bonferroni's correction falls below it (Wilson, PNAS 2019).  The
few numbers that tables show have half of the weight, the many finer ones the other half.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.problem.setting import Setting
from giantstep.records.differences import (
    Difference,
    canonical_order,
    shown_numbers,
    statistics,
)
from giantstep.records.drawing import Drawn
from giantstep.records.observables import UNKNOWN, Subspaces
from giantstep.records.plain import plain
from giantstep.records.trajectory import Trajectory

FREE = ("precision", "spectra", "frame")
"""Fields in which the two settings may differ: they do not change a run."""

SAME_LAW = (*FREE, "runs", "seed", "engine", "device")
"""Those that may differ where the prediction is for all runs: they do not change their law."""


@dataclass(frozen=True)
class Comparison(Drawn):
    """(simulated mean - predicted) / standard error, by observable; the first axis is the step.

    Neurons are in canonical order, and entries without a prediction are NaN.  Theory and simulation
    agree unless ``p_value`` is below ``level``; ``least`` is the smallest p-value of an entry.
    ``resolution`` is, by observable, the error of theory that these runs would notice, as a share
    of the observable's own size.  ``shown`` names the observables that tables have side by side.

    t = (mean over runs - predicted) / sqrt(s^2/runs + uncertainty^2), Student's; p-values p_j of
    all entries are combined to 1 / sum_j w_j/p_j, half of the weights w_j for the entries that are
    shown.  Runs are independent.

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
    shown: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if not self.count:
            return f"Comparison(nothing to compare, {self.runs} runs)"
        word = "agrees" if self.agrees else f"disagrees in {self.farthest}"
        return (
            f"Comparison({word}: p-value {self.p_value:.2g}, largest deviation of "
            f"{self.count} comparisons {self.sigmas:.1f} sigma, {self.runs} runs)"
        )

    @property
    def sigmas(self) -> float:
        """The largest of all deviations, as that of a normal variable.

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
        return max(map(_largest, self.deviations.values()), default=0.0)

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
                    "resolution": plain(self.resolution[name]),
                    "shown": name in self.shown,
                }
                for name, value in self.deviations.items()
            },
        }


def _largest(deviations: Float[np.ndarray, "..."]) -> float:
    return float(np.nanmax(np.abs(deviations), initial=0.0))


def compare(
    predicted: Trajectory,
    simulated: Trajectory,
    level: float = 1e-3,
    *,
    ignoring: Collection[str] = (),
    subspaces: Subspaces | None = None,
) -> Comparison:
    """Deviations of simulated means from the prediction, in joint standard errors.

    A prediction of one row is for all runs; one of several rows is for each run in turn, and the
    deviation is that of the mean difference.  Records of different settings are refused, but for
    the fields named in ``ignoring``.  ``subspaces`` are those whose median cosines are shown, by
    their names: unless told each target direction and the span of all.  A theory that leaves out
    more than it knows at such sizes (UNKNOWN) is not compared.

    t = (mean over runs - predicted) / sqrt(s^2/runs + uncertainty^2), entry by entry; see
    ``Comparison``, which has an example and the verdict at false-alarm rate ``level``.
    """
    _check_records(predicted, simulated, level, ignoring)
    compared = predicted.relative_uncertainty <= UNKNOWN
    parts = statistics(predicted, simulated, subspaces) if compared else ()
    tests = [student_test(part, predicted) for part in parts]
    counts = {flag: sum(t.count for t in tests if t.shown == flag) for flag in (True, False)}
    groups = sum(count > 0 for count in counts.values())
    inverse, entropy, least = 0.0, 0.0, 1.0
    resolution = {test.name: np.inf for test in tests}
    for test in tests:
        if test.count:
            weight = 1.0 / (groups * counts[test.shown])
            # So that the sum of all inverses is finite.
            chances = np.maximum(test.chances, np.finfo(float).tiny / weight)
            inverse += weight * float(np.nansum(1.0 / chances))
            entropy -= test.count * weight * math.log(weight)
            least = min(least, float(np.nanmin(chances)))
            resolution[test.name] = test.resolution(level * weight)
    return Comparison(
        deviations={test.name: test.deviations for test in tests},
        resolution=resolution,
        p_value=harmonic_p_value(1.0 / inverse, entropy) if inverse else 1.0,
        least=least,
        runs=simulated.runs,
        level=level,
        shown=tuple(test.name for test in tests if test.shown),
    )


def compare_number(predicted: Trajectory, simulated: Trajectory, name: str) -> float | None:
    """P-value of one number that tables show after the last step; None where it is not compared."""
    for part in shown_numbers(predicted, simulated):
        if part.name == name:
            chance = float(student_test(part, predicted).chances[-1])
            return chance if math.isfinite(chance) else None
    return None


@dataclass(frozen=True)
class StudentTest:
    """Student's t of every entry of one observable; NaN where there are no two runs to compare."""

    name: str
    shown: bool
    deviations: Float[np.ndarray, "..."]
    chances: Float[np.ndarray, "..."]
    freedom: Float[np.ndarray, "..."]
    joint: Float[np.ndarray, "..."]
    predicted: Float[np.ndarray, "..."]

    @property
    def count(self) -> int:
        return int(np.sum(np.isfinite(self.deviations)))

    def resolution(self, level: float) -> float:
        """The deviation that would have a p-value of the level, over the observable's size."""
        from scipy.special import stdtrit

        there = np.isfinite(self.deviations)
        seen = stdtrit(self.freedom[there], 1.0 - 0.5 * level) * self.joint[there]
        size = np.sqrt(np.sum(self.predicted[there] ** 2))
        return float(np.sqrt(np.sum(seen**2)) / size) if size > 0 else np.inf


def student_test(
    part: Difference,
    predicted: Trajectory,
    *,
    rounding: float = 1e-6,
    noticeable: float = 0.1,
) -> StudentTest:
    """Student's t of the differences of one observable, over the runs that have them.

    What does not fluctuate, as the start, is compared to within ``rounding`` of single precision.
    From the share ``noticeable`` of the variance on, the uncertainty of the theory limits the
    degrees of freedom of t.
    """
    from scipy.special import stdtr

    there = np.isfinite(part.differences)
    runs = np.where(np.isfinite(part.predicted), np.sum(there, axis=0), 0)
    several = np.maximum(runs, 2)
    mean = np.sum(np.where(there, part.differences, 0.0), axis=0) / several
    squares = np.sum(np.where(there, part.differences - mean, 0.0) ** 2, axis=0)
    error = np.maximum(np.sqrt(squares / (several - 1)), part.deviation) / np.sqrt(several)
    left_out = predicted.relative_uncertainty * np.abs(part.predicted)
    joint = np.hypot(np.hypot(error, part.uncertainty), left_out)
    joint = np.maximum(joint, rounding * (1.0 + np.abs(part.predicted)))
    limited = part.uncertainty**2 > noticeable * joint**2
    most = predicted.uncertainty_freedom or np.inf
    freedom = np.where(limited, np.minimum(several - 1, most), several - 1)
    deviations = np.where(runs > 1, mean / joint, np.nan)
    chances = 2.0 * stdtr(freedom, -np.abs(deviations))
    return StudentTest(part.name, part.shown, deviations, chances, freedom, joint, part.predicted)


def harmonic_p_value(mean: float, entropy: float) -> float:
    """P-value of the harmonic mean h = 1/sum w_j/p_j of p-values, to second order in h.

    1/h has the tail of Landau's law with location 0.874 - sum w_j log w_j, which is 0.874 + log m
    for m equal weights, so that P(h < x) is x (1 + x (entropy + 0.874)) for small x (Wilson, PNAS
    2019).
    """
    return min(1.0, mean * (1.0 + mean * (entropy + 0.874)))


def _check_records(
    predicted: Trajectory, simulated: Trajectory, level: float, ignoring: Collection[str]
) -> None:
    """Refuse what cannot be compared, in a sentence."""
    for name, record in (("predicted", predicted), ("simulated", simulated)):
        if not isinstance(record, Trajectory):
            raise InputError(f"{name} must be a Trajectory, got {shown(record)}")
    if predicted.theory is None or simulated.theory is not None:
        raise InputError(
            "compare takes a prediction and then a simulation, got records of "
            f"{predicted.engine!r} and {simulated.engine!r}"
        )
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}")
    unknown = sorted(set(ignoring) - set(Setting.fields))
    if unknown:
        raise InputError(f"ignoring must name fields of a setting, got {unknown[0]!r}")
    if simulated.runs < 2:
        raise InputError(f"a comparison needs at least 2 runs, got {simulated.runs}")
    free = FREE if predicted.own_runs else SAME_LAW
    _check_settings(predicted.setting, simulated.setting, {*free, *ignoring})
    _check_readouts(predicted, simulated)


def _check_settings(predicted: Setting, simulated: Setting, ignored: set[str]) -> None:
    for name in Setting.fields:
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
        if len(expected) not in (1, simulated.runs) or not _are_of(expected, readouts[1]):
            raise InputError("the runs do not have the readout the prediction is for")


def _are_of(expected: Float[np.ndarray, "rows k"], readouts: Float[np.ndarray, "runs p"]) -> bool:
    """Whether readouts are those of the runs, or of a sample of the neurons of each run."""
    if expected.shape[1] == readouts.shape[1]:
        return bool(np.allclose(expected, readouts))
    return all(np.isin(few, run).all() for few, run in zip(expected, readouts, strict=True))
