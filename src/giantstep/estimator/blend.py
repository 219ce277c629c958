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
from giantstep.estimator.network import MIXES, SpanModel, blended
from giantstep.estimator.parts import (
    DIRECTIONS,
    LINEAR,
    NEARLY,
    ROUNDING,
    SOFT,
    Judged,
    Part,
    beyond,
    judged_parts,
    least_squares,
    squares,
)
from giantstep.estimator.ridge import Ridge
from giantstep.estimator.soft import SoftModel, fit_soft
from giantstep.estimator.span import Search
from giantstep.estimator.wide import DENSE, fit_linear

LEAST_SHARE = 0.02
"""Share of the variance that a span must explain out of fold to count as found."""

SURE = 1.5
"""Standard errors by which what it explains out of fold must exceed zero."""

FOLDS = ((300, 10), (2_000, 5), (6_000, 3))
"""Folds for fewer rows than these."""

LEAST_FOLDS, WIDE_FOLDS = 2, 3
"""Folds for more rows, of at most SEARCHED each; and with many coordinates, where half of the rows
would be too few for them."""

SEARCHED = 8_000
"""Rows that a search sees at most, or 20 a coordinate: what is found is then refined on more."""

REFINED = 1_000
"""Rows a coordinate on which a span is refined at most: what it errs by then is a thousandth of
the noise.  Readouts are fitted on all rows."""

BEYOND = 0.25
"""Share of the labels' range by which a prediction may leave it."""

LAST_ROUNDS = 3
"""Turns of the span with the best of the last readouts, at most."""

BEHIND = 1.5
"""Times the least score of all folds from which on a fold searches once more."""

DRAWS, FEW = 4, 2_000
"""Draws of the neurons that are averaged for up to so many rows: beyond, one is as good."""

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
    """What a user may set."""

    most: int
    level: float
    soft: bool
    seed: int


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
        inputs = (at.compact, at.standard)
        soft = [model.predict(x) for model, x in zip(self.soft, inputs, strict=False)]
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
    principal = data.at.principal
    linear = fit_linear(principal, data.y, data.weight)
    if not (limits.soft and principal.shape[1]):
        return linear, ()
    pairs = ((data.at.compact, False), (data.at.standard, True))
    return linear, tuple(
        fit_soft(x, data.y, data.weight, diagonal=diagonal) for x, diagonal in pairs
    )


def label_range(
    y: Float[np.ndarray, "n m"],
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """The labels' range, a little widened."""
    low, high = y.min(axis=0), y.max(axis=0)
    return low - BEYOND * (high - low), high + BEYOND * (high - low)


def searched(data: Data) -> Data:
    """The rows that a search sees."""
    return data.take(slice(0, max(SEARCHED, 20 * data.at.white.shape[1])))


def search(data: Data, limits: Limits, most: int) -> Search:
    """The search on these rows."""
    return Search(
        z=data.at.white,
        y=data.y,
        weight=data.weight,
        most=min(most, data.at.white.shape[1]),
        level=limits.level,
        seed=limits.seed,
    )


def folds(n: int, c: int) -> Iterator[tuple[Int[np.ndarray, " a"], Int[np.ndarray, " b"]]]:
    """Rows to fit on and rows left out; rows are in the order of a hash."""
    least = LEAST_FOLDS if c <= DENSE else WIDE_FOLDS
    count = min(next((f for rows, f in FOLDS if n < rows), least), n)
    capped = max(SEARCHED, 20 * c)
    if count < 2:
        yield np.arange(n), np.arange(n)
        return
    for f in range(count):
        out = np.arange(n) % count == f
        yield np.flatnonzero(~out)[:capped], np.flatnonzero(out)[: 2 * SEARCHED]


def choose(data: Data, limits: Limits, report: Report) -> Choice:
    """Fit all models in every fold and weigh what they predict out of it."""
    n, c = data.at.white.shape
    parted = list(folds(n, c))
    shares = [data.take(inside) for inside, _ in parted]
    finders = [search(s, limits, min(limits.most, max(1, len(s) // max(c, 1)))) for s in shares]
    fitted = []
    for (_, outside), share, finder, spans in zip(
        parted, shares, finders, _search_folds(finders), strict=True
    ):
        settled = {k: finder.settled(model) for k, model in spans.items()}
        models = Models(*fit_plain(share, limits), settled, *label_range(share.y))
        fitted.append((finder, models, outside))
        report(f"fold {len(fitted)}: spans of {', '.join(map(str, spans))} directions")
    left = np.concatenate([outside for *_, outside in fitted])
    y, weight = data.y[left], data.weight[left]
    most = max(max(models.spans) for _, models, _ in fitted)
    losses = {0: squares(y, weight)}
    for k in range(1, most + 1):
        parts = [models.predict_span(data.at.take(out), k) for _, models, out in fitted]
        losses[k] = squares(y - np.concatenate(parts), weight)
    k = _fewest(losses)
    for finder, models, _ in fitted if k else ():
        reached = max(j for j in models.spans if j <= k)
        if reached:
            models.spans[reached] = mixed(finder, models.spans[reached].basis)
    total = max(float(losses[0].sum()), ROUNDING)
    errors = {j: float(loss.sum()) / total for j, loss in losses.items()}
    answers = [models.predict(data.at.take(out), k) for _, models, out in fitted]
    predicted = np.concatenate(answers, axis=1)
    judged = Judged(predicted, y, weight)
    chosen = judged_parts(judged, _names(fitted[0][1], k))
    weights = np.array([part.weight for part in chosen])
    bases = tuple(models.spans[k].basis for _, models, _ in fitted if k and k in models.spans)
    return Choice(
        k=k,
        parts=chosen,
        span_errors=errors,
        error=1.0 - judged.share(weights),
        stability=_stability(bases),
        bases=bases,
        left=left,
        predicted=np.tensordot(weights, predicted, 1),
    )


def _search_folds(finders: Sequence[Search]) -> list[dict[int, SpanModel]]:
    """The best spans of every fold; one that is far behind the others searches once more.

    Folds share most of their rows, so that what one of them sees the others can see too: a search
    that did not took another path by the chance of its neurons.
    """
    found = [finder.run() for finder in finders]
    scores = [min(model.score for model in spans.values()) for spans in found]
    for finder, spans, score in zip(finders, found, scores, strict=True):
        if score > BEHIND * min(scores):
            for k, model in replace(finder, seed=finder.seed + 1).run().items():
                if k not in spans or model.score < spans[k].score:
                    spans[k] = model
    return [dict(sorted(spans.items())) for spans in found]


def _names(models: Models, k: int) -> list[str]:
    return [LINEAR, *SOFT[: len(models.soft)], *([DIRECTIONS] if k else [])]


def mixed(
    search: Search, basis: Float[np.ndarray, "c k"], draws: int = 1, whole: Search | None = None
) -> SpanModel:
    """The readouts of MIXES on a span, weighed by what they predict of rows left out.

    Before that the best of them turns the span once more: it may have sharper slopes than the one
    that the search used.  Several draws of the neurons turn it each, and are averaged.
    whole -> more rows for the readouts than for the turns.
    """
    searches = [replace(search, seed=search.seed + draw) for draw in range(draws)]
    bases = []
    for one in searches:
        trials = [(one.fit(basis, mix), mix) for mix in MIXES]
        best, mix = min(trials, key=lambda pair: pair[0].error)
        bases.append(one.refined(best, LAST_ROUNDS, mix).basis)
    basis = _consensus(tuple(bases))
    last = whole or search
    models = [replace(last, seed=one.seed).fit(basis, mix) for one in searches for mix in MIXES]
    predicted = np.array([last.y - model.ridge.residual for model in models])
    return blended(models, least_squares(predicted, last.y, last.weight), last.y, last.weight)


def _fewest(losses: dict[int, Float[np.ndarray, " n"]]) -> int:
    """The fewest directions that are nearly the best out of fold; 0 if these do not explain enough.

    losses -> squared errors row by row, for 0, 1, ... directions.
    """
    best = min(losses, key=lambda k: float(losses[k].mean()))
    k = min(k for k in losses if not beyond(losses[k] - losses[best], NEARLY))
    gain = losses[0] - losses[k]
    return k if beyond(gain, SURE) and gain.mean() > LEAST_SHARE * losses[0].mean() else 0


def _stability(bases: tuple[Float[np.ndarray, "c k"], ...]) -> float:
    """Mean squared principal cosine between the spans of different folds; NaN without two."""
    pairs = [
        float(np.sum((first.T @ second) ** 2)) / first.shape[1]
        for i, first in enumerate(bases)
        for second in bases[:i]
    ]
    return float(np.mean(pairs)) if pairs else float("nan")


def fit_models(data: Data, choice: Choice, limits: Limits, report: Report) -> Models:
    """All models on all rows, the span from what the folds found and from a search of its own."""
    linear, soft = fit_plain(data, limits)
    n, c = data.at.white.shape
    some = searched(data)
    more = data.take(slice(0, max(SEARCHED, REFINED * c)))
    # One direction more than is wanted: the search may go over it and prune.
    most = min(choice.k + 1, limits.most) if choice.k else 0
    part, steered, whole = (search(rows, limits, most) for rows in (some, more, data))
    found = part.run()
    spans = {0: whole.fit(np.zeros((c, 0)))}
    if choice.k:
        starts = [part.refined(part.fit(_consensus(choice.bases)), 4)]
        if choice.k in found:
            starts.append(found[choice.k])
        best = min(starts, key=lambda model: model.error)
        if len(some) < len(more):
            best = steered.refined(steered.fit(best.basis), 4)
        basis = steered.settled(best).basis
        spans[choice.k] = mixed(steered, basis, DRAWS if n <= FEW else 1, whole)
        report(f"all rows: leave-one-out error {spans[choice.k].error:.3f} of the variance")
    return Models(linear, soft, spans, *label_range(data.y))


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
