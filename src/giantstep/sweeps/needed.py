"""How many samples a setting needs: the n at which theory says that an error falls to a level.

The prediction of a setting, as a function of the samples n of a step, is computed on a grid of n in
equal ratios and inverted.  A level is reached where the error is at most the level, or where the
cosine is at least the level.  The answer is the smallest n from which on the level stays reached,
as far as n is tried; stretches of smaller n that reach it too are listed beside the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from giantstep.analysis.analyze import Analysis, analyze_setting
from giantstep.errors import InputError, NotConvergedError, NoTheoryError
from giantstep.experiment import floors_of
from giantstep.prediction.predict import predict
from giantstep.problem.batches import set_size
from giantstep.problem.setting import Setting
from giantstep.records.drawing import Drawn
from giantstep.records.observables import directions
from giantstep.records.plain import fields_of, plain
from giantstep.records.summary import expected_values
from giantstep.records.trajectory import Trajectory

LARGEST_N = 2**53
"""The largest size that a setting takes."""


@dataclass(frozen=True)
class PredictedPoint:
    """What theory says at a number of samples; ``theory`` names the theory that serves there."""

    n: int
    value: float
    uncertainty: float
    theory: str


@dataclass(frozen=True)
class NeededAnswer:
    """The samples of a step at which a level is reached; None where no tried n reaches it.

    ``low`` and ``high`` are the n at which the prediction plus or minus its uncertainty reaches the
    level, None where that is beyond the n that were tried.  ``from_start``: the smallest n that
    theory covers reaches the level already, so that ``n`` is an upper bound.  ``until`` is the last
    n before the level is lost again, None where it is kept; ``earlier`` are stretches of smaller n
    that reach the level too.
    """

    level: float
    n: int | None
    low: int | None = None
    high: int | None = None
    from_start: bool = False
    until: int | None = None
    earlier: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class SamplesNeeded(Drawn):
    """The samples that a setting needs for levels of an error or a cosine, and the curve over n.

    ``quantity`` is ``test_error``, ``alignment`` (the median over neurons of the length of their
    part in the span of the target, relative to theirs) or ``cosine_k`` (the same for direction k).
    ``answers`` has an entry for each level, ``curve`` every n that was predicted, ``refusals`` each
    n for which theory has no number, with its reason.  ``floor`` is the lower bound of the error of
    readouts of this activation after the last step as n grows (arXiv 2305.18270), None where it is
    not known.
    """

    setting: Setting
    quantity: str
    answers: tuple[NeededAnswer, ...]
    curve: tuple[PredictedPoint, ...]
    refusals: tuple[tuple[int, str], ...]
    floor: float | None

    def __repr__(self) -> str:
        found = ", ".join(f"{answer.level:g} at n = {answer.n}" for answer in self.answers)
        return f"SamplesNeeded({self.setting.target.name!r}, {self.quantity}: {found})"

    @property
    def n(self) -> int | None:
        """The samples of a step for the first level."""
        return self.answers[0].n

    @property
    def falls(self) -> bool:
        """Whether the quantity is an error, which has to fall to its level."""
        return self.quantity.endswith("error")

    @property
    def best(self) -> PredictedPoint:
        """The lowest error of the curve, or its largest cosine."""
        return min(self.curve, key=lambda point: point.value * (1 if self.falls else -1))

    def samples_in_all(self, n: int) -> tuple[int, int]:
        """Samples of all steps together, and those that the readout is fitted on beside them."""
        setting = self.setting.vary(n=n)
        sets = math.ceil(setting.steps / min(setting.batches.steps_per_set, max(setting.steps, 1)))
        fresh = 0 if setting.readout_on_last else setting.readout_n
        return sets * set_size(setting.batches, setting.n), fresh

    def as_dict(self) -> dict[str, Any]:
        """Plain values; the n of the setting is not used and left out."""
        given = {name: value for name, value in self.setting.as_dict().items() if name != "n"}
        refusals = [{"n": n, "reason": reason} for n, reason in self.refusals]
        numbers = fields_of(self, "setting", "refusals", "answers")
        return {"setting": given, "answers": plain(self.answers)} | numbers | {"refusals": refusals}


def samples_needed(
    setting: Setting,
    *,
    error: float | Sequence[float] | None = None,
    cosine: float | Sequence[float] | None = None,
    direction: int | None = None,
    smallest: str | int = "d/8",
    largest: str | int | None = None,
    points: int = 13,
    runs: int = 16,
    progress: Callable[[str], None] | None = None,
) -> SamplesNeeded:
    """Samples of a step at which the predicted test error, or the cosine, reaches a level.

    ``error`` is a mean squared error of the readout after the last step, label noise counted;
    ``cosine`` that of the neurons with the span of the target, or with its ``direction`` k = 1, 2,
    ..  One of the two is given, as a number or several.  The n of the setting is not used; its
    other fields are, and a readout_n that is given does not change with n.

    The prediction is computed at ``points`` values of n in equal ratios from ``smallest`` to
    ``largest`` (256 d^l, l the largest leap of the target up to 3), then between those where a
    level is reached.  What the prediction says is the mean over at least ``runs`` runs where
    theory draws them.  NoTheoryError where theory covers none of them.

    n(e) = min {n : E(n') <= e for all n' >= n}, E the test error that ``predict`` says (arXiv
    2305.18270; docs/howto/needed.md).

    >>> from giantstep import Setting, samples_needed
    >>> setting = Setting("x1", d=1000, p=2, activation="erf", noise=0.1)
    >>> needed = samples_needed(setting, error=0.5, smallest="d/2", largest="32d", points=4)
    >>> needed.answers[0].low <= needed.n <= needed.answers[0].high
    True
    """
    quantity, levels = _asked(setting, error, cosine, direction)
    analysis = None if setting.target.column else analyze_setting(setting)
    ends = _ends(setting, analysis, smallest, largest)
    curve = _Curve(setting.vary(runs=max(setting.runs, runs)), quantity, progress)
    for n in np.unique(np.geomspace(*ends, points).round().astype(int)).tolist():
        curve.at(n)
    if not curve.known:
        raise NoTheoryError(next(iter(curve.refusals.values())))
    answers = tuple(_answer(curve, level) for level in levels)
    return SamplesNeeded(
        setting=setting,
        quantity=quantity,
        answers=answers,
        curve=tuple(curve.points),
        refusals=tuple(sorted(curve.refusals.items())),
        floor=_floor(setting.vary(n=ends[1]), analysis) if curve.falls else None,
    )


def _asked(
    setting: Setting,
    error: float | Sequence[float] | None,
    cosine: float | Sequence[float] | None,
    direction: int | None,
) -> tuple[str, list[float]]:
    """The quantity and its levels, checked."""
    if (error is None) == (cosine is None):
        raise InputError("give a level of the error or of the cosine, one of the two")
    given, name = (cosine, "cosine") if error is None else (error, "error")
    levels = [float(level) for level in np.atleast_1d(np.asarray(given, dtype=float))]
    most = 1.0 if error is None else math.inf
    for level in levels:
        if not 0.0 < level < most:
            bounds = "positive" if error is not None else "between 0 and 1"
            raise InputError(f"{name} must be {bounds}, got {level:g}")
    if not levels:
        raise InputError(f"{name} must have at least one level, got none")
    if setting.steps == 0:
        raise InputError("steps must be at least 1, got 0")
    if error is not None:
        if direction is not None:
            raise InputError(f"direction belongs to a cosine, got {direction} with an error")
        if not setting.readout_n:
            raise InputError("readout_n must be at least 1 for an error, got 0")
        return "test_error", levels
    if direction is None:
        return "alignment", levels
    if not 1 <= direction <= setting.target.r:
        raise InputError(f"direction must be in 1..{setting.target.r}, got {direction}")
    return f"cosine_{direction}", levels


def _ends(
    setting: Setting, analysis: Analysis | None, smallest: str | int, largest: str | int | None
) -> tuple[int, int]:
    """The smallest and the largest n that are tried."""
    low = _size(setting, "smallest", smallest)
    if largest is not None:
        high = _size(setting, "largest", largest)
    else:
        leaps = () if analysis is None else analysis.leaps
        high = min(256 * setting.d ** min(max(leaps, default=1), 3), LARGEST_N)
    if low >= high:
        raise InputError(f"smallest must be below largest, {high}, got {low}")
    return low, high


def _size(setting: Setting, name: str, size: str | int) -> int:
    """A number of samples such as 4d; a refusal names the argument."""
    try:
        return setting.vary(n=size).n
    except InputError as error:
        raise InputError(str(error).replace("n must", f"{name} must", 1)) from None


def _floor(setting: Setting, analysis: Analysis | None) -> float | None:
    return None if analysis is None else floors_of(analysis, setting)[-1]


class _Curve:
    """The predictions of a quantity over n, each computed once."""

    def __init__(
        self, setting: Setting, quantity: str, progress: Callable[[str], None] | None
    ) -> None:
        self.setting, self.quantity, self.progress = setting, quantity, progress
        self.falls = quantity.endswith("error")
        self.known: dict[int, PredictedPoint] = {}
        self.refusals: dict[int, str] = {}

    @property
    def points(self) -> list[PredictedPoint]:
        return [self.known[n] for n in sorted(self.known)]

    def at(self, n: int) -> PredictedPoint | None:
        """The prediction at n, None where theory has none."""
        if n not in self.known and n not in self.refusals:
            if self.progress is not None:
                self.progress(f"predicting n = {n:,}")
            try:
                setting = self.setting.vary(n=n)
                predicted = predict(setting, deviations=not self.falls)
                self._keep(n, predicted)
            except (NoTheoryError, NotConvergedError, InputError) as error:
                self.refusals[n] = str(error)
        return self.known.get(n)

    def _keep(self, n: int, predicted: Trajectory) -> None:
        values = expected_values(predicted, directions(predicted.setting)).get(self.quantity)
        if values is None or not values[-1].known:
            raise NoTheoryError(_why_unknown(predicted, self.quantity))
        last = values[-1]
        theory = predicted.theory or ""
        self.known[n] = PredictedPoint(n, last.mean, last.uncertainty or 0.0, theory)

    def missing(self, point: PredictedPoint, level: float) -> float:
        """How far a point is from the level: positive where it does not reach it."""
        return point.value - level if self.falls else level - point.value


def _why_unknown(predicted: Trajectory, quantity: str) -> str:
    about = [note for note in predicted.notes if "error" in note]
    if quantity == "test_error" and about:
        return about[0]
    return "theory does not know this number to 30 %"


def _answer(curve: _Curve, level: float) -> NeededAnswer:
    """The start of the last stretch of n that reaches a level, and what lies before it."""
    stretches = _stretches(curve, level)
    if not stretches:
        return NeededAnswer(level, None)
    before, first, last = stretches[-1]
    earlier = tuple((start.n, end.n) for _, start, end in stretches[:-1])
    until = None if last is curve.points[-1] else last.n
    if before is None:
        return NeededAnswer(level, first.n, None, first.n, True, until, earlier)
    low, high = _refined(curve, level, before, first)
    place = _between(low, high, -curve.missing(low, level), -curve.missing(high, level))
    limits = _limits(curve, level, (low, high), last)
    return NeededAnswer(level, place, *limits, until=until, earlier=earlier)


def _stretches(
    curve: _Curve, level: float
) -> list[tuple[PredictedPoint | None, PredictedPoint, PredictedPoint]]:
    """For each run of points that reach a level: the point before it, its first and its last."""
    stretches: list[tuple[PredictedPoint | None, PredictedPoint, PredictedPoint]] = []
    before: PredictedPoint | None = None
    inside = False
    for point in curve.points:
        reached = curve.missing(point, level) <= 0.0
        if reached and inside:
            stretches[-1] = (*stretches[-1][:2], point)
        elif reached:
            stretches.append((before, point, point))
        inside, before = reached, point
    return stretches


def _refined(
    curve: _Curve,
    level: float,
    before: PredictedPoint,
    first: PredictedPoint,
    *,
    ratio: float = 1.005,
    most: int = 8,
) -> tuple[PredictedPoint, PredictedPoint]:
    """Two neighbouring points around a level, at most ``most`` predictions later.

    They end where they are within the ``ratio`` of each other, or where the last prediction differs
    from the level by less than a quarter of its uncertainty.  A number of samples at which theory
    refuses ends the search: its neighbours are what is known.
    """
    for _ in range(most):
        if first.n <= max(ratio * before.n, before.n + 1):
            break
        guess = _between(before, first, -curve.missing(before, level), -curve.missing(first, level))
        # Away from the ends by a tenth of the interval, so that it shrinks whatever its curvature.
        lowest, highest = (before.n ** (1 - s) * first.n**s for s in (0.1, 0.9))
        n = min(max(guess, math.ceil(lowest), before.n + 1), math.floor(highest), first.n - 1)
        point = curve.at(n) if before.n < n < first.n else None
        if point is None:
            break
        gap = curve.missing(point, level)
        before, first = (point, first) if gap > 0 else (before, point)
        if abs(gap) < 0.25 * point.uncertainty:
            break
    return before, first


def _between(low: PredictedPoint, high: PredictedPoint, below: float, above: float) -> int:
    """Where a straight line over log n, from ``below`` zero to ``above`` zero, is zero."""
    share = below / (below - above) if above != below else 1.0
    return min(high.n, max(low.n, math.ceil(low.n * (high.n / low.n) ** share)))


def _limits(
    curve: _Curve,
    level: float,
    around: tuple[PredictedPoint, PredictedPoint],
    last: PredictedPoint,
) -> tuple[int | None, int | None]:
    """The n at which the prediction plus or minus its uncertainty reaches a level."""
    listed = [point for point in curve.points if point.n <= last.n]

    def reach(sign: float) -> int | None:
        gaps = [curve.missing(point, level) + sign * point.uncertainty for point in listed]
        ends = [
            _between(one, other, -here, -there)
            for (one, here), (other, there) in pairwise(zip(listed, gaps, strict=True))
            if here > 0.0 >= there
        ]
        return ends[-1] if ends and gaps[-1] <= 0.0 else None

    low, high = reach(-1.0), reach(1.0)
    # What refusals leave open between two neighbours is part of the uncertainty.
    if any(around[0].n < n < around[1].n for n in curve.refusals):
        low = None if low is None else min(low, around[0].n)
        high = None if high is None else max(high, around[1].n)
    return low, high
