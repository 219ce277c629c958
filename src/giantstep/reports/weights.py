"""What a direction is made of: weights of columns and their correlations with it, with intervals.

The weight of a column in a direction of length one is the cosine of the angle between them, and a
correlation is a cosine too.  Intervals of both end at -1 and 1, which no truth exceeds: they hold
it as often as without these ends.  Intervals of arcsin(weight) end there by themselves.  But of six
columns in 100 rows with noise of variance one these hold a weight of 1 in 78 % of samples, the ones
taken here in 98 %, and they are longer there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.reports.columns import Encoded
from giantstep.reports.interval import Interval, interval, jackknife, rounded

SHOWN = 12
"""Columns of a direction that the page has room for."""


@dataclass(frozen=True)
class Weight:
    """Weight of a standardised column in a direction of length one, or its correlation with it.

    source -> the column of the table that it comes from; several categories have one.
    """

    column: str
    weight: Interval
    source: str = ""

    @property
    def text(self) -> str:
        """With its 95 % interval, where there is one: speed (+0.71, +0.66 to +0.76)."""
        value, low, high = (
            rounded(number, "+")
            for number in (self.weight.value, self.weight.low, self.weight.high)
        )
        return f"{self.column} ({value}" + (
            f", {low} to {high})" if np.isfinite(self.weight.low) else ")"
        )


@dataclass(frozen=True)
class Reference:
    """The category that the others of a column are compared with.

    0/1 columns of all categories sum to one, so that a constant added to all of their weights
    changes nothing but the mean of the coordinate.  The constant is that which makes the weight of
    the ``reference`` zero.  members -> all categories, the reference among them.
    """

    members: Int[np.ndarray, " k"]
    reference: int


def references(
    weights: Float[np.ndarray, " d"], spread: Float[np.ndarray, " d"], encoded: Sequence[Encoded]
) -> tuple[Reference, ...]:
    """For every column of words the category that leaves the least weight to the others.

    sum_j spread_j |w_j - c| is least at a weighted median: c is the weight of one category.
    """
    found = []
    for source in dict.fromkeys(each.source for each in encoded if each.complete):
        members = np.array([i for i, each in enumerate(encoded) if each.source == source])
        raw = weights[members] / np.maximum(spread[members], 1e-300)
        costs = np.abs(raw[:, None] - raw[None, :]).T @ spread[members]
        found.append(Reference(members, int(members[np.argmin(costs)])))
    return tuple(found)


def relative(
    weights: Float[np.ndarray, " d"], spread: Float[np.ndarray, " d"], taken: Sequence[Reference]
) -> Float[np.ndarray, " d"]:
    """Weights of length one, with those of references made zero."""
    weights = weights.copy()
    for each in taken:
        constant = weights[each.reference] / max(float(spread[each.reference]), 1e-300)
        weights[each.members] -= constant * spread[each.members]
        weights[each.reference] = 0.0
    return weights / max(float(np.linalg.norm(weights)), 1e-300)


def column_intervals(
    weights: Float[np.ndarray, " d"],
    refits: Sequence[Float[np.ndarray, " d"]],
    folds: int,
    encoded: Sequence[Encoded],
    left_out: Sequence[int] = (),
) -> tuple[Weight, ...]:
    """The largest weights, with what refits say of their errors; ``left_out`` are references."""
    errors, freedom = np.full(len(weights), np.nan), 1.0
    if len(refits) > 1:
        errors, freedom = jackknife(np.array(refits), weights, folds)
    return _leading(weights, errors, freedom, encoded, left_out)


def correlations(
    x: Float[np.ndarray, "n d"],
    goal: Float[np.ndarray, " n"],
    refits: Sequence[Float[np.ndarray, " n"]],
    folds: int,
    encoded: Sequence[Encoded],
) -> tuple[Weight, ...]:
    """The largest correlations of columns with a coordinate, with errors of rows and of refits.

    refits -> the coordinate of all rows as each of the refits has it.
    """
    centred = x - x.mean(axis=0)
    lengths = np.maximum(np.linalg.norm(centred, axis=0), 1e-300)

    def with_columns(u: Float[np.ndarray, " n"]) -> Float[np.ndarray, " d"]:
        u = u - u.mean()
        return (u @ centred) / (lengths * max(float(np.linalg.norm(u)), 1e-300))

    values = with_columns(goal)
    # Of Gaussian rows a correlation r has variance (1 - r^2)^2/n.
    squares, freedom = (1.0 - values**2) ** 2 / len(x), 1.0
    if len(refits) > 1:
        errors, freedom = jackknife(np.array([with_columns(u) for u in refits]), values, folds)
        squares += errors**2
    return _leading(values, np.sqrt(squares), freedom, encoded)


def _leading(
    values: Float[np.ndarray, " d"],
    errors: Float[np.ndarray, " d"],
    freedom: float,
    encoded: Sequence[Encoded],
    left_out: Sequence[int] = (),
) -> tuple[Weight, ...]:
    """Those of the largest size."""
    order = [i for i in np.argsort(-np.abs(values), kind="stable") if i not in left_out]
    return tuple(
        Weight(
            encoded[i].name,
            interval(values[i], errors[i], freedom, least=-1.0, most=1.0),
            encoded[i].source,
        )
        for i in order[:SHOWN]
    )
