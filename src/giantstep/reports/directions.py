"""The directions of a fit: columns, test, stability over resamples, the label against each."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment

from giantstep.estimator.words import column_weights
from giantstep.reports.interval import Interval, interval, jackknife, rounded
from giantstep.reports.resamples import HeldOut, Problem


@dataclass(frozen=True)
class Weight:
    """Weight of a standardised column in a direction of length one, or its correlation with it."""

    column: str
    weight: Interval

    @property
    def text(self) -> str:
        """With its standard error: speed (+0.71 ± 0.02)."""
        error = self.weight.error
        spread = f"± {rounded(error)}" if error >= 0.005 else "± less than 0.01"
        return f"{self.column} ({rounded(self.weight.value, '+')} {spread})"


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
    -> what the p-value must stay below for it to be certain; stability -> for every resample the
    squared correlation of its coordinate with the nearest one of the resample's span; alone -> with
    the nearest of the resample's directions themselves, which is less where directions of about the
    same strength turn in their plane.  correlations -> of columns with its coordinate: they are
    sure where weights are not, because columns depend on each other.
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

    @property
    def steady(self) -> float:
        """Mean squared correlation over resamples; NaN without any."""
        return float(np.mean(self.stability)) if self.stability else float("nan")

    @property
    def turns(self) -> bool:
        """Whether the span comes back over resamples, but not this direction in it."""
        if not self.alone:
            return False
        # The jackknife's variance of the angle in the span: .05 is a standard error of 13 degrees.
        return (len(self.alone) - 1) * (self.steady - float(np.mean(self.alone))) > 0.05

    def as_dict(self) -> dict[str, Any]:
        """Without the rows' coordinates."""
        from giantstep.records.plain import fields_of

        return fields_of(self, "coordinate")


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
    names = problem.prepared.encoded_names(pipeline[0])
    u, x = _coordinates(pipeline, problem), pipeline[0].transform(problem.prepared.rows)
    seen = {
        fold: _resampled(resample, u, problem, names)
        for fold, resample in held.pipelines.items()
        if resample[-1].n_fitted_
    }
    return tuple(
        _direction(problem, model, u, j, names, x, {fold: each[j] for fold, each in seen.items()})
        for j in range(model.n_fitted_)
    )


def _coordinates(pipeline: Any, problem: Problem) -> Float[np.ndarray, "n k"]:
    """Coordinates of all rows on the directions of a fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that a fold lacks
        return pipeline[-1].transform(pipeline[0].transform(problem.prepared.rows))


def _resampled(
    pipeline: Any, goals: Float[np.ndarray, "n k"], problem: Problem, names: Sequence[str]
) -> list[Resampled]:
    """How a resample sees the directions of the fit on all rows, one record each."""
    u, model = _coordinates(pipeline, problem), pipeline[-1]
    centred, centred_goals = u - u.mean(axis=0), goals - goals.mean(axis=0)
    towards = np.linalg.lstsq(centred, centred_goals, rcond=None)[0]
    nearest = np.var(centred @ towards, axis=0) / np.maximum(np.var(goals, axis=0), 1e-300)
    sizes = np.outer(np.linalg.norm(centred, axis=0), np.linalg.norm(centred_goals, axis=0))
    cosines = centred.T @ centred_goals / np.maximum(sizes, 1e-300)
    ours, theirs = linear_sum_assignment(-(cosines.T**2))
    matched = dict(zip(ours.tolist(), theirs.tolist(), strict=True))
    weights = _named_weights(pipeline, problem, names)
    listed = []
    for j in range(goals.shape[1]):
        # A resample with fewer directions has none that is matched: its nearest one stands in.
        i = matched.get(j)
        own = towards[:, j] if i is None else np.sign(cosines[i, j]) * np.eye(u.shape[1])[i]
        vector = own @ weights
        listed.append(
            Resampled(
                model,
                u,
                towards[:, j],
                agreement=min(float(nearest[j]), 1.0),
                alone=0.0 if i is None else float(cosines[i, j] ** 2),
                weights=vector / max(float(np.linalg.norm(vector)), 1e-300),
            )
        )
    return listed


def _named_weights(
    pipeline: Any, problem: Problem, names: Sequence[str]
) -> Float[np.ndarray, "k d"]:
    """Weights of standardised columns in the directions of a resample, columns in a given order."""
    model, place = pipeline[-1], {name: i for i, name in enumerate(names)}
    lengths = column_weights(model) * _lengths(model)[:, None]
    weights = np.zeros((len(lengths), len(names)))
    for i, name in enumerate(problem.prepared.encoded_names(pipeline[0])):
        if name in place:
            weights[:, place[name]] = lengths[:, i]
    return weights


def _lengths(model: Any) -> Float[np.ndarray, " k"]:
    """Lengths of the directions as weights of standardised columns."""
    scale = model._inputs.scaling.scale * model._inputs.scaling.deviation
    return np.linalg.norm(model.directions_ * np.where(np.isinf(scale), 0.0, scale), axis=1)


def _direction(
    problem: Problem,
    model: Any,
    u: Float[np.ndarray, "n k"],
    j: int,
    names: Sequence[str],
    x: Float[np.ndarray, "n d"],
    seen: dict[int, Resampled],
) -> Direction:
    test = model.direction_tests_[j]
    coordinate = u[:, j].copy()
    for fold, resampled in seen.items():
        rows = problem.test(fold)
        coordinate[rows] = resampled.along(float(u[:, j].mean()))[rows]
    return Direction(
        certain=bool(test.certain),
        loss=interval(test.loss, test.error),
        p_value=float(test.p_value),
        level=float(test.level),
        weights=_weights(column_weights(model)[j], names, list(seen.values())),
        correlations=_correlations(x, u[:, j], names, list(seen.values())),
        stability=tuple(resampled.agreement for resampled in seen.values()),
        alone=tuple(resampled.alone for resampled in seen.values()),
        curve=_curve(problem, model, u, j, list(seen.values())),
        coordinate=coordinate,
    )


def _weights(
    weights: Float[np.ndarray, " d"],
    names: Sequence[str],
    seen: Sequence[Resampled],
    most: int = 12,
) -> tuple[Weight, ...]:
    """The largest weights, with what resamples say of their errors."""
    errors, freedom = np.full(len(weights), np.nan), 1.0
    if len(seen) > 1:
        errors, freedom = jackknife(np.array([each.weights for each in seen]), weights)
    return _leading(weights, errors, freedom, names, most)


def _correlations(
    x: Float[np.ndarray, "n d"],
    goal: Float[np.ndarray, " n"],
    names: Sequence[str],
    seen: Sequence[Resampled],
    most: int = 12,
) -> tuple[Weight, ...]:
    """The largest correlations of columns with a coordinate, with errors of rows and of refits."""
    centred = x - x.mean(axis=0)
    lengths = np.maximum(np.linalg.norm(centred, axis=0), 1e-300)

    def with_columns(u: Float[np.ndarray, " n"]) -> Float[np.ndarray, " d"]:
        u = u - u.mean()
        return (u @ centred) / (lengths * max(float(np.linalg.norm(u)), 1e-300))

    values = with_columns(goal)
    # Of Gaussian rows a correlation r has variance (1 - r^2)^2/n.
    squares, freedom = (1.0 - values**2) ** 2 / len(x), 1.0
    if len(seen) > 1:
        refits = np.array([with_columns(each.along(0.0)) for each in seen])
        errors, freedom = jackknife(refits, values)
        squares += errors**2
    return _leading(values, np.sqrt(squares), freedom, names, most)


def _leading(
    values: Float[np.ndarray, " d"],
    errors: Float[np.ndarray, " d"],
    freedom: float,
    names: Sequence[str],
    most: int,
) -> tuple[Weight, ...]:
    """Those of the largest size."""
    leading = np.argsort(-np.abs(values), kind="stable")[:most]
    return tuple(Weight(names[i], interval(values[i], errors[i], freedom)) for i in leading)


def _curve(
    problem: Problem,
    model: Any,
    u: Float[np.ndarray, "n k"],
    j: int,
    seen: Sequence[Resampled],
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
    errors, freedom = jackknife(np.array(refits), values)
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
