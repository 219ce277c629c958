"""The learning curve: the score against the number of rows, and what more rows would bring.

The error of a fit on m rows is taken for floor + A m^(-b).  For every b of a list floor and A
follow by least squares; the predictions are averaged with weights exp(-chi^2/2), and their error
has the spread over b in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

from giantstep.reports.interval import Interval, explained, interval
from giantstep.reports.models import GIANT_STEPS
from giantstep.reports.resamples import HeldOut

POWERS = (0.5, 0.75, 1.0, 1.5, 2.0)
"""Exponents b: 1 is that of a smooth fit, 1/2 that of a rough one, 2 that of a late onset."""

AHEAD = (1.25, 2.0, 5.0)
"""Multiples of the rows of the largest fit for which the score is extrapolated."""


@dataclass(frozen=True)
class Point:
    """The score of fits on so many rows; measured, or extrapolated."""

    rows: int
    score: Interval
    measured: bool


@dataclass(frozen=True)
class LearningCurve:
    """Scores against the number of rows: measured ones first, then extrapolated ones."""

    points: tuple[Point, ...]

    @property
    def now(self) -> Point:
        """The largest fit that was measured."""
        return [point for point in self.points if point.measured][-1]

    def at(self, multiple: float) -> Point:
        """The extrapolation to a multiple of the rows of the table."""
        ahead = [point for point in self.points if not point.measured]
        return min(ahead, key=lambda point: abs(point.rows / ahead[0].rows - multiple))


def learning_curve(held: HeldOut) -> LearningCurve:
    """Scores of the sizes that were fitted in every fold, and the extrapolation."""
    problem = held.problem
    shares = [s for s in (*problem.plan.shares, 1.0) if held.complete(GIANT_STEPS, s)]
    sizes = [
        float(np.mean([len(problem.train(f, s)) for f in range(problem.folds)])) for s in shares
    ]
    totals, groups = held.totals, problem.groups
    losses = np.array([held.losses(GIANT_STEPS, share) for share in shares])
    points = [
        Point(round(size), explained(loss, totals, groups), measured=True)
        for size, loss in zip(sizes, losses, strict=True)
    ]
    if len(points) > 1:
        mean, covariance = _by_fold(losses, totals, problem.fold_of)
        rows = len(problem.groups)
        for multiple in (1.0, *AHEAD[1:]):
            score = extrapolated(sizes, mean, covariance, multiple * rows)
            points.append(Point(round(multiple * rows), score, measured=False))
    return LearningCurve(tuple(points))


def _by_fold(
    losses: Float[np.ndarray, "s n"],
    totals: Float[np.ndarray, " n"],
    fold_of: np.ndarray,
) -> tuple[Float[np.ndarray, " s"], Float[np.ndarray, "s s"]]:
    """Mean errors as shares of the variance, and their covariance.

    The covariance has two parts: that of the rows that are predicted, and that of the rows that are
    fitted, which is seen in how scores differ between folds beyond the former.
    """
    total = float(totals.sum())
    mean = losses.sum(axis=1) / total
    centred = losses - mean[:, None] * totals
    of_rows = centred @ centred.T / total**2
    folds = int(fold_of.max()) + 1
    # Deviations of folds: sums of the same rows, so that their spread holds both parts.
    sums = np.array([centred[:, fold_of == f].sum(axis=1) for f in range(folds)]).T
    of_folds = sums @ sums.T / total**2 * folds / max(folds - 1, 1)
    larger = np.maximum(np.diag(of_rows), np.diag(of_folds)) / np.maximum(np.diag(of_rows), 1e-300)
    scale = np.sqrt(larger)
    return mean, of_rows * np.outer(scale, scale)


def extrapolated(
    sizes: Sequence[float],
    mean: Float[np.ndarray, " s"],
    covariance: Float[np.ndarray, "s s"],
    rows: float,
) -> Interval:
    """The score at so many rows, averaged over the exponents."""
    s = len(sizes)
    # A ridge of a hundredth keeps points that almost agree from counting without end.
    inverse = np.linalg.inv(
        covariance + 0.01 * np.trace(covariance) / s * np.eye(s) + 1e-12 * np.eye(s)
    )
    root = np.linalg.cholesky(inverse).T
    values, variances, costs = [], [], []
    for power in POWERS:
        design = np.column_stack([np.ones(s), (np.array(sizes) / sizes[-1]) ** -power])
        at = np.array([1.0, (rows / sizes[-1]) ** -power])
        # Neither the floor nor what rows still bring is negative.
        found, distance = nnls(root @ design, root @ mean)
        free = found > 0
        gram = design[:, free].T @ inverse @ design[:, free]
        values.append(float(at @ found))
        variances.append(float(at[free] @ np.linalg.solve(gram, at[free])) if free.any() else 0.0)
        costs.append(distance**2)
    weights = np.exp(-0.5 * (np.array(costs) - min(costs)))
    weights /= weights.sum()
    centre = float(weights @ values)
    variance = float(weights @ (np.array(variances) + (np.array(values) - centre) ** 2))
    return interval(1.0 - centre, math.sqrt(variance), most=1.0)
