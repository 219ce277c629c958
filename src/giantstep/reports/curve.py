"""The learning curve: the score against the number of rows, and what more rows would bring.

The error of a fit on m rows is taken for floor + A m^(-b).  For every b of a list floor and A
follow by least squares; the predictions are averaged with weights exp(-chi^2/2), and their error
has the spread over b in it.  What is predicted is the score of one fit, and fits on other rows of
the same kind differ: their variance is added, as the folds show it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

from giantstep.reports.interval import Interval, interval
from giantstep.reports.models import GIANT_STEPS
from giantstep.reports.resamples import HeldOut

POWERS = (0.5, 0.75, 1.0, 1.5, 2.0)
"""Exponents b: 1 is that of a smooth fit, 1/2 that of a rough one, 2 that of a late onset."""

AHEAD = (1.0, 2.0, 5.0)
"""Multiples of the rows of the table for which the score is extrapolated."""


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
    points = [
        Point(round(size), held.score(GIANT_STEPS, share), measured=True)
        for size, share in zip(sizes, shares, strict=True)
    ]
    if len(points) > 1:
        losses = np.array([held.losses(GIANT_STEPS, share) for share in shares])
        errors = np.array([point.score.error for point in points])
        mean, covariance = _by_fold(losses, held.totals, problem.fold_of, errors)
        rows = len(problem.groups)
        single = one_fit(losses[-1], held.totals, problem.fold_of)
        for multiple in AHEAD:
            score = extrapolated(sizes, mean, covariance, multiple * rows, single)
            points.append(Point(round(multiple * rows), score, measured=False))
    return LearningCurve(tuple(points))


def _by_fold(
    losses: Float[np.ndarray, "s n"],
    totals: Float[np.ndarray, " n"],
    fold_of: np.ndarray,
    errors: Float[np.ndarray, " s"],
) -> tuple[Float[np.ndarray, " s"], Float[np.ndarray, "s s"]]:
    """Mean errors as shares of the variance, and their covariance.

    Rows give the correlation of sizes.  The variances are those of the scores' ``errors``, or what
    is seen in how scores differ between folds, if that is more: folds are fitted on other rows.
    """
    total = float(totals.sum())
    mean = losses.sum(axis=1) / total
    centred = losses - mean[:, None] * totals
    of_rows = centred @ centred.T / total**2
    folds = int(fold_of.max()) + 1
    # Deviations of folds: sums of the same rows, so that their spread holds both parts.
    sums = np.array([centred[:, fold_of == f].sum(axis=1) for f in range(folds)]).T
    of_folds = sums @ sums.T / total**2 * folds / max(folds - 1, 1)
    larger = np.maximum(errors**2, np.diag(of_folds)) / np.maximum(np.diag(of_rows), 1e-300)
    scale = np.sqrt(larger)
    return mean, of_rows * np.outer(scale, scale)


def one_fit(
    losses: Float[np.ndarray, " n"], totals: Float[np.ndarray, " n"], fold_of: np.ndarray
) -> float:
    """Variance of the score from fit to fit, beyond what the rows of a fold scatter it by.

    Even a constant that is fitted on n rows has a score of -1/n, give or take sqrt(2)/n; of a fit
    that leaves a share of the variance this noise is that share of it.
    """
    left, folds = float(losses.sum() / totals.sum()), int(fold_of.max()) + 1
    parts = [(losses[fold_of == f], totals[fold_of == f]) for f in range(folds)]
    scores = np.array([loss.sum() / total.sum() for loss, total in parts])
    of_rows = [
        np.sum((loss - score * total) ** 2) / total.sum() ** 2
        for (loss, total), score in zip(parts, scores, strict=True)
    ]
    beyond = float(np.var(scores, ddof=1) - np.mean(of_rows)) if folds > 1 else 0.0
    return max(beyond, 0.0) + 3.0 * (left / len(losses)) ** 2


def extrapolated(
    sizes: Sequence[float],
    mean: Float[np.ndarray, " s"],
    covariance: Float[np.ndarray, "s s"],
    rows: float,
    single: float = 0.0,
) -> Interval:
    """The score of one fit on so many rows, averaged over the exponents.

    ``single`` -> the variance from fit to fit.  Floor and gain are at least 0; their error is that
    without this bound, since a bound that is reached says little of how far the truth is from it.
    """
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
        values.append(float(at @ found))
        variances.append(float(at @ np.linalg.solve(design.T @ inverse @ design, at)))
        costs.append(distance**2)
    weights = np.exp(-0.5 * (np.array(costs) - min(costs)))
    weights /= weights.sum()
    centre = float(weights @ values)
    variance = single + float(weights @ (np.array(variances) + (np.array(values) - centre) ** 2))
    return interval(1.0 - centre, math.sqrt(variance), most=1.0)
