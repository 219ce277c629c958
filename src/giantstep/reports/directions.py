"""The directions of a fit: columns, test, stability over resamples, the label against each."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment

from giantstep.reports.columns import Encoded
from giantstep.reports.interval import Interval, interval, jackknife
from giantstep.reports.resamples import HeldOut, Problem
from giantstep.reports.weights import (
    Weight,
    column_intervals,
    correlations,
    references,
    relative,
)

FOUND = 0.5
"""Squared correlation from which on a refit has found a direction: above it most is shared."""


@dataclass(frozen=True)
class Curve:
    """The fitted label along a direction, the other directions as in the rows, with a band.

    values, low, high -> one row for each output: the label, or the share of a class.
    """

    at: Float[np.ndarray, " g"]
    values: Float[np.ndarray, "m g"]
    low: Float[np.ndarray, "m g"]
    high: Float[np.ndarray, "m g"]


@dataclass(frozen=True)
class Direction:
    """One fitted direction.

    loss -> what the error of held-out rows grows by without it, as a share of the variance; level
    -> what the p-value must stay below for it to be certain; stability -> for every refit without a
    part of the rows the squared correlation of its coordinate with the nearest one of the refit's
    span, 0 where a refit has no direction; alone -> with the nearest of the refit's directions
    themselves, which is less where directions of about the same strength turn in their plane.
    correlations -> of columns with its coordinate: they are sure where weights are not, because
    columns depend on each other.  references -> categories that others of their column are compared
    with.  Intervals and the band are those of the refits that found the direction, and the
    coordinate is NaN in rows that no refit which found it has held out.
    """

    certain: bool
    loss: Interval
    p_value: float
    level: float
    weights: tuple[Weight, ...]
    correlations: tuple[Weight, ...]
    stability: tuple[float, ...]
    alone: tuple[float, ...]
    curve: Curve
    coordinate: Float[np.ndarray, " n"]
    references: tuple[str, ...] = ()

    @property
    def found(self) -> int:
        """Number of refits that found it."""
        return sum(agreement >= FOUND for agreement in self.stability)

    @property
    def often(self) -> bool:
        """Whether at least half of the refits found it."""
        return 2 * self.found >= len(self.stability)

    @property
    def seen(self) -> Float[np.ndarray, " k"]:
        """The coordinates of the rows that have one."""
        return self.coordinate[np.isfinite(self.coordinate)]

    @property
    def steady(self) -> float:
        """Mean squared correlation over refits; NaN without any."""
        return float(np.mean(self.stability)) if self.stability else float("nan")

    @property
    def turns(self) -> bool:
        """Whether the span comes back in the refits that found it, but not this direction in it."""
        lost = [s - a for s, a in zip(self.stability, self.alone, strict=True) if s >= FOUND]
        if not lost:
            return False
        # The jackknife's variance of the angle in the span: .05 is a standard error of 13 degrees.
        return (len(self.stability) - 1) * float(np.mean(lost)) > 0.05

    def as_dict(self) -> dict[str, Any]:
        """Without the rows' coordinates."""
        from giantstep.records.plain import fields_of

        return fields_of(self, "coordinate") | {"found": self.found}


@dataclass(frozen=True)
class Resampled:
    """A fit without one fold, seen from a direction of the fit on all rows.

    towards -> coefficients that make of the resample's coordinates the nearest one to that of the
    direction; agreement -> their squared correlation; alone -> that of the resample's own direction
    that is matched with it, whose weights these are.
    """

    model: Any
    u: Float[np.ndarray, "n k"]
    towards: Float[np.ndarray, " k"]
    agreement: float
    alone: float
    weights: Float[np.ndarray, " d"]

    def along(self, mean: float) -> Float[np.ndarray, " n"]:
        """Coordinate of all rows along the direction, as the resample has it."""
        return mean + (self.u - self.u.mean(axis=0)) @ self.towards


def directions(held: HeldOut, pipeline: Any) -> tuple[Direction, ...]:
    """The directions of the fit on all rows, the strongest first."""
    problem, model = held.problem, pipeline[-1]
    if model.n_fitted_ == 0:
        return ()
    u, x = coordinates_of(pipeline, problem), pipeline[0].transform(problem.prepared.rows)
    columns = _Columns(problem.prepared.encoded(pipeline[0]), x)
    seen = {
        fold: _resampled(resample, u, problem, columns)
        for fold, resample in held.pipelines.items()
        if resample[-1].n_fitted_
    }
    return tuple(
        _direction(held, pipeline, u, j, columns, {fold: each[j] for fold, each in seen.items()})
        for j in range(model.n_fitted_)
    )


@dataclass(frozen=True)
class _Columns:
    """The columns that the fit on all rows sees: what they are, and their values in all rows."""

    encoded: Sequence[Encoded]
    x: Float[np.ndarray, "n d"]

    @property
    def spread(self) -> Float[np.ndarray, " d"]:
        """Their standard deviations."""
        return self.x.std(axis=0)


def coordinates_of(pipeline: Any, problem: Problem) -> Float[np.ndarray, "n k"]:
    """Coordinates of all rows on the directions of a fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that a fold lacks
        return pipeline[-1].transform(pipeline[0].transform(problem.prepared.rows))


def _resampled(
    pipeline: Any, goals: Float[np.ndarray, "n k"], problem: Problem, columns: _Columns
) -> list[Resampled]:
    """How a resample sees the directions of the fit on all rows, one record each."""
    u, model = coordinates_of(pipeline, problem), pipeline[-1]
    centred, centred_goals = u - u.mean(axis=0), goals - goals.mean(axis=0)
    towards = np.linalg.lstsq(centred, centred_goals, rcond=None)[0]
    nearest = np.var(centred @ towards, axis=0) / np.maximum(np.var(goals, axis=0), 1e-300)
    sizes = np.outer(np.linalg.norm(centred, axis=0), np.linalg.norm(centred_goals, axis=0))
    cosines = centred.T @ centred_goals / np.maximum(sizes, 1e-300)
    ours, theirs = linear_sum_assignment(-(cosines.T**2))
    matched = dict(zip(ours.tolist(), theirs.tolist(), strict=True))
    weights = _standardised(pipeline, problem, columns)
    listed = []
    for j in range(goals.shape[1]):
        # A resample with fewer directions has none that is matched: its nearest one stands in.
        i = matched.get(j)
        own = towards[:, j] if i is None else np.sign(cosines[i, j]) * np.eye(u.shape[1])[i]
        listed.append(
            Resampled(
                model,
                u,
                towards[:, j],
                agreement=min(float(nearest[j]), 1.0),
                alone=0.0 if i is None else float(cosines[i, j] ** 2),
                weights=own @ weights,
            )
        )
    return listed


def _standardised(pipeline: Any, problem: Problem, columns: _Columns) -> Float[np.ndarray, "k d"]:
    """Weights of standardised columns in the directions of a fit, in the order of ``columns``."""
    model, place = pipeline[-1], {each.name: i for i, each in enumerate(columns.encoded)}
    scale = model._inputs.scaling.scale * model._inputs.scaling.deviation
    given = model.directions_ * np.where(np.isinf(scale), 0.0, scale)
    weights = np.zeros((len(given), len(place)))
    for i, name in enumerate(problem.prepared.encoded_names(pipeline[0])):
        if name in place:
            weights[:, place[name]] = given[:, i]
    return weights


def _direction(
    held: HeldOut,
    pipeline: Any,
    u: Float[np.ndarray, "n k"],
    j: int,
    columns: _Columns,
    seen: dict[int, Resampled],
) -> Direction:
    problem, model = held.problem, pipeline[-1]
    test, folds = model.direction_tests_[j], len(held.pipelines)
    found = {fold: each for fold, each in seen.items() if each.agreement >= FOUND}
    refits, coordinate = list(found.values()), np.full(len(u), np.nan)
    for fold, refit in found.items():
        rows = problem.test(fold)
        coordinate[rows] = refit.along(float(u[:, j].mean()))[rows]
    weights = _standardised(pipeline, problem, columns)[j]
    taken = references(weights, columns.spread, columns.encoded)
    ours, *others = (
        relative(each, columns.spread, taken)
        for each in (weights, *(refit.weights for refit in refits))
    )
    compared = [each.reference for each in taken]
    return Direction(
        certain=bool(test.certain),
        loss=interval(test.loss, test.error),
        p_value=float(test.p_value),
        level=float(test.level),
        weights=column_intervals(ours, others, folds, columns.encoded, compared),
        correlations=correlations(
            columns.x, u[:, j], [refit.along(0.0) for refit in refits], folds, columns.encoded
        ),
        stability=tuple(_of(seen.get(fold), "agreement") for fold in held.pipelines),
        alone=tuple(_of(seen.get(fold), "alone") for fold in held.pipelines),
        curve=_curve(problem, model, u, j, refits, folds),
        coordinate=coordinate,
        references=tuple(columns.encoded[i].name for i in compared),
    )


def _of(refit: Resampled | None, name: str) -> float:
    """A squared correlation of a refit; 0 of one without directions."""
    return 0.0 if refit is None else float(getattr(refit, name))


def _curve(
    problem: Problem,
    model: Any,
    u: Float[np.ndarray, "n k"],
    j: int,
    seen: Sequence[Resampled],
    folds: int,
    points: int = 33,
    others: int = 100,
) -> Curve:
    """The response averaged over rows, moved along the direction; a band from resamples."""
    goal = u[:, j]
    low, high = np.quantile(goal, [0.01, 0.99])
    at = np.linspace(low, high, points)
    rows = problem.order[:others]
    values = _response(model, u[rows], goal[rows], np.eye(u.shape[1])[j], at)
    if len(seen) < 2:
        return Curve(at, values, np.full_like(values, np.nan), np.full_like(values, np.nan))
    refits = []
    for each in seen:
        step = each.towards / max(float(each.towards @ each.towards), 1e-300)
        along = each.along(float(goal.mean()))
        refits.append(_response(each.model, each.u[rows], along[rows], step, at))
    shapes = {refit.shape for refit in refits} | {values.shape}
    if len(shapes) > 1:  # a fold lacks a class
        return Curve(at, values, np.full_like(values, np.nan), np.full_like(values, np.nan))
    errors, freedom = jackknife(np.array(refits), values, folds)
    reach = interval(0.0, 1.0, freedom).high * errors
    return Curve(at, values, values - reach, values + reach)


def _response(
    model: Any,
    u: Float[np.ndarray, "r k"],
    along: Float[np.ndarray, " r"],
    step: Float[np.ndarray, " k"],
    at: Float[np.ndarray, " g"],
) -> Float[np.ndarray, "m g"]:
    """Mean response over rows that are moved by ``step`` until they are at every point."""
    moved = u[None] + (at[:, None] - along[None])[:, :, None] * step
    response = model.response(moved.reshape(-1, u.shape[1]))
    means = response.reshape(len(at), len(u), -1).mean(axis=1)
    return (model._mean + model._scale * means).T
