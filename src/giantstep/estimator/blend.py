"""Linear, soft and span models together: weighed by what they predict out of fold.

Every fold fits all models without the rows it leaves out.  The number of directions is that of the
best span out of fold (leave-one-out of a fitted span is optimistic), and the models are weighed by
what they predict out of fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from giantstep.estimator.coordinates import Coordinates, Index
from giantstep.estimator.network import SpanModel, blended
from giantstep.estimator.parts import (
    DIRECTIONS,
    LINEAR,
    SOFT,
    Judged,
    Part,
    beyond,
    judged_parts,
    least_squares,
    share_of,
    squares,
)
from giantstep.estimator.recipe import Recipe
from giantstep.estimator.refine import refined, settled
from giantstep.estimator.ridge import Ridge
from giantstep.estimator.soft import SoftModel, fit_soft
from giantstep.estimator.span import Search
from giantstep.estimator.wide import fit_linear

Report = Callable[[str], None]


@dataclass(frozen=True)
class Data:
    """Coordinates, standardised labels and weights of the rows."""

    at: Coordinates
    y: Float[np.ndarray, "n m"]
    weight: Float[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Index) -> Data:
        """Some of the rows."""
        weight = self.weight[index]
        return Data(self.at.take(index), self.y[index], weight / weight.mean())


@dataclass(frozen=True)
class Limits:
    """What a user may set: the directions at most, the tests' level, soft steps, seed, recipe."""

    most: int
    level: float
    soft: bool
    seed: int
    recipe: Recipe


@dataclass(frozen=True)
class Models:
    """Models of one set of rows; ``spans`` by their number of directions, 0 among them.

    Predictions are clipped to ``low`` .. ``high``, little beyond the labels seen: a polynomial that
    few rows determine may do anything outside them.
    """

    linear: Ridge
    soft: tuple[SoftModel, ...]
    spans: dict[int, SpanModel]
    low: Float[np.ndarray, " m"]
    high: Float[np.ndarray, " m"]

    def predict(self, at: Coordinates, k: int) -> Float[np.ndarray, "c n m"]:
        """Predictions of the linear model, the soft ones, and the largest span up to k."""
        spans = [self.predict_span(at, k)] if k else []
        soft = [model.predict(x) for model, x in zip(self.soft, at.soft_inputs, strict=False)]
        linear = at.principal @ self.linear.weights + self.linear.intercept
        return np.clip([linear, *soft, *spans], self.low, self.high)

    def predict_span(self, at: Coordinates, k: int) -> Float[np.ndarray, "n m"]:
        """Predictions of the largest span up to k."""
        span = self.spans[max(j for j in self.spans if j <= k)]
        return np.clip(span.predict(at.white), self.low, self.high)


@dataclass(frozen=True)
class Choice:
    """What the folds say: number of directions, parts of the blend, errors, stability.

    ``span_errors`` by number of directions and ``error`` of the blend, as shares of the variance;
    ``left`` the rows left out and ``predicted`` what the blend predicts of them.
    """

    k: int
    parts: tuple[Part, ...]
    span_errors: dict[int, float]
    error: float
    stability: float
    bases: tuple[Float[np.ndarray, "c k"], ...]
    left: Int[np.ndarray, " l"]
    predicted: Float[np.ndarray, "l m"]

    @property
    def weights(self) -> Float[np.ndarray, " c"]:
        """Factors of the parts."""
        return np.array([part.weight for part in self.parts])


def fit_plain(data: Data, limits: Limits) -> tuple[Ridge, tuple[SoftModel, ...]]:
    """The linear model and the soft ones."""
    recipe, principal = limits.recipe, data.at.principal
    linear = fit_linear(principal, data.y, data.weight, recipe.dense_coordinates)
    if not (limits.soft and principal.shape[1]):
        return linear, ()
    return linear, tuple(
        fit_soft(x, data.y, data.weight, recipe, diagonal=diagonal)
        for x, diagonal in zip(data.at.soft_inputs, (False, True), strict=True)
    )


def label_range(
    y: Float[np.ndarray, "n m"], margin: float
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """The labels' range, widened at both ends by a share ``margin`` of it."""
    low, high = y.min(axis=0), y.max(axis=0)
    return low - margin * (high - low), high + margin * (high - low)


def searched_rows(c: int, recipe: Recipe) -> int:
    """Rows that a search on c coordinates sees at most."""
    return max(recipe.searched_rows, recipe.searched_per_coordinate * c)


def make_search(data: Data, limits: Limits, most: int, rows: int | None = None) -> Search:
    """The search on these rows, or on the first of them."""
    data = data if rows is None else data.take(slice(0, rows))
    return Search(
        z=data.at.white,
        y=data.y,
        weight=data.weight,
        seed=limits.seed,
        recipe=limits.recipe,
        most=min(most, data.at.white.shape[1]),
        level=limits.level,
    )


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


def choose(data: Data, limits: Limits, report: Report) -> Choice:
    """Fit all models in every fold and weigh what they predict out of it."""
    recipe = limits.recipe
    fitted = _fit_folds(data, limits, report)
    left = np.concatenate([fold.outside for fold in fitted])
    y, weight = data.y[left], data.weight[left]
    losses = {0: squares(y, weight)}
    for k in range(1, max(max(fold.models.spans) for fold in fitted) + 1):
        parts = [fold.models.predict_span(data.at.take(fold.outside), k) for fold in fitted]
        losses[k] = squares(y - np.concatenate(parts), weight)
    k = _fewest(losses, recipe)
    for fold in fitted if k else ():
        spans = fold.models.spans
        reached = max(j for j in spans if j <= k)
        if reached:
            spans[reached] = mixed(fold.search, spans[reached].basis)
    answers = [fold.models.predict(data.at.take(fold.outside), k) for fold in fitted]
    predicted = np.concatenate(answers, axis=1)
    judged = Judged(predicted, y, weight)
    names = [LINEAR, *SOFT[: len(fitted[0].models.soft)], *([DIRECTIONS] if k else [])]
    chosen = judged_parts(judged, names, recipe.nearly_errors)
    weights = np.array([part.weight for part in chosen])
    spans_of_k = [fold.models.spans[k] for fold in fitted if k in fold.models.spans]
    bases = tuple(span.basis for span in spans_of_k) if k else ()
    return Choice(
        k=k,
        parts=chosen,
        span_errors={j: share_of(loss, losses[0]) for j, loss in losses.items()},
        error=1.0 - judged.share(weights),
        stability=_stability(bases),
        bases=bases,
        left=left,
        predicted=np.tensordot(weights, predicted, 1),
    )


def _fit_folds(data: Data, limits: Limits, report: Report) -> list[Fold]:
    """All models in every fold."""
    n, c = data.at.white.shape
    parted = list(folds(n, c, limits.recipe))
    inner = [data.take(inside) for inside, _ in parted]
    searches = [
        make_search(rows, limits, min(limits.most, max(1, len(rows) // max(c, 1))))
        for rows in inner
    ]
    fitted = []
    for (_, outside), rows, search, spans in zip(
        parted, inner, searches, _search_folds(searches), strict=True
    ):
        last = {k: settled(search, model) for k, model in spans.items()}
        ends = label_range(rows.y, limits.recipe.label_margin)
        fitted.append(Fold(search, Models(*fit_plain(rows, limits), last, *ends), outside))
        report(f"fold {len(fitted)}: spans of {', '.join(map(str, spans))} directions")
    return fitted


def _search_folds(searches: Sequence[Search]) -> list[dict[int, SpanModel]]:
    """The best spans of every fold; one that is far behind the others searches once more.

    Folds share most of their rows, so that what one of them sees the others can see too: a search
    that did not took another path by the chance of its neurons.
    """
    best = [search.run() for search in searches]
    scores = [min(model.score for model in spans.values()) for spans in best]
    for search, spans, score in zip(searches, best, scores, strict=True):
        if score > search.recipe.behind * min(scores):
            for k, model in replace(search, seed=search.seed + 1).run().items():
                if k not in spans or model.score < spans[k].score:
                    spans[k] = model
    return [dict(sorted(spans.items())) for spans in best]


def mixed(
    search: Search, basis: Float[np.ndarray, "c k"], draws: int = 1, last: Search | None = None
) -> SpanModel:
    """The readouts of ``Recipe.last_mixes`` on a span, weighed by what they predict left out.

    Before that the best of them turns the span once more: it may have sharper slopes than the one
    that the search used.  Several draws of the neurons turn it each, and are averaged.
    last -> more rows for the readouts than for the turns.
    """
    recipe, last = search.recipe, last or search
    searches = [replace(search, seed=search.seed + draw) for draw in range(draws)]
    bases = []
    for one in searches:
        trials = [(one.fit(basis, mix), mix) for mix in recipe.last_mixes]
        best, mix = min(trials, key=lambda pair: pair[0].error)
        bases.append(refined(one, best, recipe.last_turns, mix).basis)
    basis = _consensus(tuple(bases))
    models = [
        replace(last, seed=one.seed).fit(basis, mix)
        for one in searches
        for mix in recipe.last_mixes
    ]
    predicted = np.array([last.y - model.ridge.residual for model in models])
    return blended(models, least_squares(predicted, last.y, last.weight), last.y, last.weight)


def _fewest(losses: dict[int, Float[np.ndarray, " n"]], recipe: Recipe) -> int:
    """The fewest directions that are nearly the best out of fold; 0 if these do not explain enough.

    losses -> squared errors row by row, for 0, 1, ... directions.
    """
    best = min(losses, key=lambda k: float(losses[k].mean()))
    k = min(k for k in losses if not beyond(losses[k] - losses[best], recipe.nearly_errors))
    gain = losses[0] - losses[k]
    enough = gain.mean() > recipe.least_share * losses[0].mean()
    return k if enough and beyond(gain, recipe.found_errors) else 0


def _stability(bases: tuple[Float[np.ndarray, "c k"], ...]) -> float:
    """Mean squared principal cosine between the spans of different folds; NaN without two."""
    pairs = [
        float(np.sum((first.T @ second) ** 2)) / first.shape[1]
        for i, first in enumerate(bases)
        for second in bases[:i]
    ]
    return float(np.mean(pairs)) if pairs else float("nan")


def fit_models(data: Data, choice: Choice, limits: Limits, report: Report) -> Models:
    """All models on all rows, the span from what the folds found and from a search on all rows."""
    recipe, (n, c) = limits.recipe, data.at.white.shape
    # One direction more than is wanted: the search may go over it and prune.
    most = min(choice.k + 1, limits.most) if choice.k else 0
    some, more = (
        searched_rows(c, recipe),
        max(recipe.searched_rows, recipe.refined_per_coordinate * c),
    )
    part, steered, last = (make_search(data, limits, most, rows) for rows in (some, more, None))
    searched = part.run()
    spans = {0: last.fit(np.zeros((c, 0)))}
    if choice.k:
        starts = [refined(part, part.fit(_consensus(choice.bases)), 4)]
        if choice.k in searched:
            starts.append(searched[choice.k])
        best = min(starts, key=lambda model: model.error)
        if len(part.y) < len(steered.y):
            best = refined(steered, steered.fit(best.basis), 4)
        basis = settled(steered, best).basis
        draws = recipe.draws if n <= recipe.drawn_rows else 1
        spans[choice.k] = mixed(steered, basis, draws, last)
        report(f"all rows: leave-one-out error {spans[choice.k].error:.3f} of the variance")
    ends = label_range(data.y, recipe.label_margin)
    return Models(*fit_plain(data, limits), spans, *ends)


def _consensus(bases: tuple[Float[np.ndarray, "c k"], ...]) -> Float[np.ndarray, "c k"]:
    """The span nearest to all spans, its basis that nearest to the first one's.

    The singular vectors themselves would do for the span, but bases that agree leave their rotation
    to rounding.
    """
    if len(bases) == 1:
        return bases[0]
    left, _, _ = np.linalg.svd(np.concatenate(bases, axis=1), full_matrices=False)
    span = left[:, : bases[0].shape[1]]
    inner, _, right = np.linalg.svd(span.T @ bases[0])
    return span @ (inner @ right)
