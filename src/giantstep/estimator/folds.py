"""Folds: every one fits all models without the rows that it leaves out, and predicts these.

The spans of all folds grow together, by one direction at a time: leave-one-out of a fitted span is
optimistic, so that rows left out say when to stop, how many directions are kept and which of them
are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.estimator.models import (
    Data,
    Limits,
    Models,
    fit_plain,
    label_range,
    make_search,
    searched_rows,
)
from giantstep.estimator.network import SpanModel
from giantstep.estimator.parts import beyond, squares
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.refine import refined, settled
from giantstep.estimator.span import Growth, Search

Report = Callable[[str], None]


def folds(
    n: int, c: int, recipe: Recipe
) -> Iterator[tuple[Int[np.ndarray, " a"], Int[np.ndarray, " b"]]]:
    """Rows to fit on and rows left out; rows are in the order of a hash."""
    least = recipe.least_folds if c <= recipe.dense_coordinates else recipe.wide_folds
    count = min(next((f for rows, f in recipe.folds if n < rows), least), n)
    if count < 2:
        yield np.arange(n), np.arange(n)
        return
    for f in range(count):
        out = np.arange(n) % count == f
        inside, outside = np.flatnonzero(~out), np.flatnonzero(out)
        yield inside[: searched_rows(c, recipe)], outside[: 2 * recipe.searched_rows]


@dataclass(frozen=True)
class Fold:
    """The models of one fold, the search that found their spans, and the rows that it left out."""

    search: Search
    models: Models
    outside: Int[np.ndarray, " b"]


def span_losses(data: Data, fitted: Sequence[Fold]) -> dict[int, Float[np.ndarray, " l"]]:
    """Squared errors of the rows left out, for the spans of 0, 1, ... directions."""
    left = np.concatenate([fold.outside for fold in fitted])
    y, weight = data.y[left], data.weight[left]
    losses = {0: squares(y, weight)}
    for k in range(1, max(max(fold.models.spans) for fold in fitted) + 1):
        parts = [fold.models.predict_span(data.at.take(fold.outside), k) for fold in fitted]
        losses[k] = squares(y - np.concatenate(parts), weight)
    return losses


def fit_folds(data: Data, limits: Limits, report: Report) -> list[Fold]:
    """All models in every fold."""
    n, c = data.at.white.shape
    fitted: list[Fold] = []
    growths: list[Growth] = []
    for inside, outside in folds(n, c, limits.recipe):
        rows = data.take(inside)
        most = min(limits.most, max(1, len(rows) // max(c, 1)))
        growths.append(Growth(make_search(rows, limits, most)))
        ends = label_range(rows.y, limits.recipe.label_margin)
        plain = fit_plain(rows, limits, fitted[0].models.soft if fitted else ())
        fitted.append(Fold(growths[-1].search, Models(*plain, {}, *ends), outside))
    _grow(data, fitted, growths)
    for number, fold in enumerate(fitted, start=1):
        spans = fold.models.spans
        spans.update({k: settled(fold.search, model) for k, model in spans.items()})
        report(f"fold {number}: spans of {', '.join(map(str, spans))} directions")
    return fitted


def _grow(data: Data, fitted: Sequence[Fold], growths: Sequence[Growth]) -> None:
    """Spans of all folds, by one direction at a time while rows left out gain by it.

    Leave-one-out of a span that was fitted to the rows goes on to fall where no direction is left
    to be found: only where it falls by much are larger spans tried beyond the best out of fold.
    """
    most, recipe = max(growth.search.most for growth in growths), growths[0].search.recipe
    for level in range(most + 1):
        for growth in growths:
            growth.expand(level)
        _share(data, fitted, growths)
        for fold, growth in zip(fitted, growths, strict=True):
            fold.models.spans.update(growth.best)
        k = fewest(span_losses(data, fitted), recipe)
        if 0 < k <= level < most:
            larger = max(max(growth.best) for growth in growths)
            if _mean_score(growths, larger) > (1.0 - recipe.promise) * _mean_score(growths, k):
                break


def _mean_score(growths: Sequence[Growth], k: int) -> float:
    """Mean over folds of the best score with k directions at most."""
    best = [min(span.score for j, span in growth.best.items() if j <= k) for growth in growths]
    return float(np.mean(best))


def _share(data: Data, fitted: Sequence[Fold], growths: Sequence[Growth]) -> None:
    """Let folds that are far behind start from the span of the fold that is ahead.

    Folds share most of their rows, so that what one of them sees the others can see too: a search
    that did not took another path by chance.  In the folds that are not behind, rows left out
    must gain by this number of directions, so that no noise is shared.
    """
    recipe = growths[0].search.recipe
    for k in range(1, max(max(growth.best) for growth in growths) + 1):
        scores = [growth.best[k].score if k in growth.best else math.inf for growth in growths]
        reach = recipe.behind * min(scores)
        if max(scores) <= reach:
            continue
        gains = [
            _gain(data, fold.outside, growth.best, k)
            for fold, growth, score in zip(fitted, growths, scores, strict=True)
            if score <= reach
        ]
        if beyond(np.concatenate(gains), recipe.shared_errors):
            basis = growths[int(np.argmin(scores))].best[k].basis
            for growth, score in zip(growths, scores, strict=True):
                if score > reach:
                    search = growth.search
                    trial = refined(search, search.fit(basis), recipe.shared_turns)
                    growth.offer(search.fit(trial.basis))


def _gain(
    data: Data, outside: Int[np.ndarray, " b"], spans: dict[int, SpanModel], k: int
) -> Float[np.ndarray, " b"]:
    """What rows left out gain by a span of k directions over the best smaller one."""
    z, y, weight = data.at.take(outside).white, data.y[outside], data.weight[outside]
    losses = {j: squares(y - spans[j].predict(z), weight) for j in spans if j <= k}
    smaller = min((losses[j] for j in losses if j < k), key=lambda loss: float(loss.mean()))
    return smaller - losses[k]


def losses_without(data: Data, fold: Fold, k: int) -> Float[np.ndarray, "k b"]:
    """What rows left out lose, row by row, without each direction of the fold's span of k.

    Directions are ordered as those of the whole fit, the strongest first.  A fold without such a
    span has no say: zeros.
    """
    outside, spans = fold.outside, fold.models.spans
    if not k or k not in spans:
        return np.zeros((k, len(outside)))
    search, models = fold.search, fold.models
    at, y, weight = data.at.take(outside), data.y[outside], data.weight[outside]
    slopes = spans[k].gradient(search.z).reshape(-1, k)
    basis = spans[k].basis @ np.linalg.eigh(slopes.T @ slopes)[1][:, ::-1]

    def losses(directions: Float[np.ndarray, "c j"]) -> Float[np.ndarray, " b"]:
        predicted = search.fit(directions, judged=False).predict(at.white)
        return squares(y - np.clip(predicted, models.low, models.high), weight)

    together = losses(basis)
    return np.array([losses(np.delete(basis, j, axis=1)) - together for j in range(k)])


def fewest(losses: dict[int, Float[np.ndarray, " n"]], recipe: Recipe) -> int:
    """The fewest directions that are nearly the best out of fold; 0 if these do not explain enough.

    losses -> squared errors row by row, for 0, 1, ... directions.
    """
    best = min(losses, key=lambda k: float(losses[k].mean()))
    k = min(k for k in losses if not beyond(losses[k] - losses[best], recipe.nearly_errors))
    gain = losses[0] - losses[k]
    enough = gain.mean() > recipe.least_share * losses[0].mean()
    return k if enough and beyond(gain, recipe.found_errors) else 0
