"""The directions of a fit: columns, test, stability over resamples, the label against each."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.estimator.words import column_weights
from giantstep.reports.interval import Interval, interval, jackknife
from giantstep.reports.resamples import HeldOut, Problem


@dataclass(frozen=True)
class Weight:
    """Weight of a standardised column in a direction of length one."""

    column: str
    weight: Interval


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
    squared correlation of its coordinate with the nearest one of the resample's span.
    """

    certain: bool
    loss: Interval
    p_value: float
    level: float
    weights: tuple[Weight, ...]
    stability: tuple[float, ...]
    curve: Curve
    coordinate: Float[np.ndarray, " n"]

    @property
    def steady(self) -> float:
        """Mean squared correlation over resamples; NaN without any."""
        return float(np.mean(self.stability)) if self.stability else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Without the rows' coordinates."""
        from giantstep.records.plain import fields_of

        return fields_of(self, "coordinate")


@dataclass(frozen=True)
class Resampled:
    """A fit without one fold, seen from a direction of the fit on all rows.

    towards -> coefficients that make of the resample's coordinates the nearest one to that of the
    direction; agreement -> their squared correlation.
    """

    model: Any
    u: Float[np.ndarray, "n k"]
    towards: Float[np.ndarray, " k"]
    agreement: float
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
    u = _coordinates(pipeline, problem)
    spans = {f: (p, _coordinates(p, problem)) for f, p in held.pipelines.items() if p[-1].n_fitted_}
    listed = []
    for j in range(model.n_fitted_):
        seen = {f: _resampled(p, v, u[:, j], problem, names) for f, (p, v) in spans.items()}
        listed.append(_direction(problem, model, u, j, names, seen))
    return tuple(listed)


def _coordinates(pipeline: Any, problem: Problem) -> Float[np.ndarray, "n k"]:
    """Coordinates of all rows on the directions of a fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that a fold lacks
        return pipeline[-1].transform(pipeline[0].transform(problem.prepared.rows))


def _resampled(
    pipeline: Any,
    u: Float[np.ndarray, "n k"],
    goal: Float[np.ndarray, " n"],
    problem: Problem,
    names: Sequence[str],
) -> Resampled:
    """How a resample sees a coordinate: the nearest one in its span."""
    centred = u - u.mean(axis=0)
    towards = np.linalg.lstsq(centred, goal - goal.mean(), rcond=None)[0]
    nearest = centred @ towards
    agreement = float(np.var(nearest) / max(np.var(goal), 1e-300))
    model = pipeline[-1]
    place = {name: i for i, name in enumerate(names)}
    lengths = column_weights(model) * _lengths(model)[:, None]
    weights = np.zeros(len(names))
    for i, name in enumerate(problem.prepared.encoded_names(pipeline[0])):
        if name in place:
            weights[place[name]] = towards @ lengths[:, i]
    return Resampled(
        model,
        u,
        towards,
        min(agreement, 1.0),
        weights / max(float(np.linalg.norm(weights)), 1e-300),
    )


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
        stability=tuple(resampled.agreement for resampled in seen.values()),
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
    leading = np.argsort(-np.abs(weights), kind="stable")[:most]
    return tuple(Weight(names[i], interval(weights[i], errors[i], freedom)) for i in leading)


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
