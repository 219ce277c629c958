"""Linear, soft and span models together: weighed by what they predict out of fold.

The number of directions is that of the best span out of fold, and the models are weighed by what
they predict out of fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from giantstep.estimator.certain import DirectionTest, direction_tests
from giantstep.estimator.folds import Report, fewest, fit_folds, losses_without, span_losses
from giantstep.estimator.models import (
    Data,
    Limits,
    Models,
    fit_plain,
    label_range,
    make_search,
    searched_rows,
)
from giantstep.estimator.network import SpanModel, blended
from giantstep.estimator.parts import (
    DIRECTIONS,
    LINEAR,
    SOFT,
    Judged,
    Part,
    judged_parts,
    least_squares,
    share_of,
)
from giantstep.estimator.refine import refined, settled
from giantstep.estimator.soft import SoftModel
from giantstep.estimator.span import Search


@dataclass(frozen=True)
class Choice:
    """What the folds say: number of directions, parts of the blend, errors, stability.

    ``span_errors`` by number of directions and ``error`` of the blend, as shares of the variance;
    ``tests`` of each direction, the strongest first; ``soft`` the soft models of the first fold;
    ``left`` the rows left out and ``predicted`` what the blend predicts of them.
    """

    k: int
    parts: tuple[Part, ...]
    span_errors: dict[int, float]
    error: float
    stability: float
    bases: tuple[Float[np.ndarray, "c k"], ...]
    tests: tuple[DirectionTest, ...]
    soft: tuple[SoftModel, ...]
    left: Int[np.ndarray, " l"]
    predicted: Float[np.ndarray, "l m"]

    @property
    def weights(self) -> Float[np.ndarray, " c"]:
        """Factors of the parts."""
        return np.array([part.weight for part in self.parts])


def choose(data: Data, limits: Limits, report: Report) -> Choice:
    """Fit all models in every fold and weigh what they predict out of it."""
    recipe = limits.recipe
    fitted = fit_folds(data, limits, report)
    left = np.concatenate([fold.outside for fold in fitted])
    y, weight = data.y[left], data.weight[left]
    losses = span_losses(data, fitted)
    k = fewest(losses, recipe)
    for fold in fitted if k else ():
        spans = fold.models.spans
        reached = max(j for j in spans if j <= k)
        if reached:
            spans[reached] = mixed(fold.search, spans[reached].basis)
    answers = [fold.models.predict(data.at.take(fold.outside), k) for fold in fitted]
    predicted = np.concatenate(answers, axis=1)
    judged, soft = Judged(predicted, y, weight), fitted[0].models.soft
    names = [LINEAR, *SOFT[: len(soft)], *([DIRECTIONS] if k else [])]
    chosen = judged_parts(judged, names, recipe.nearly_errors)
    weights = np.array([part.weight for part in chosen])
    without = [losses_without(data, fold, k) for fold in fitted]
    spans_of_k = [fold.models.spans[k] for fold in fitted if k in fold.models.spans]
    bases = tuple(span.basis for span in spans_of_k) if k else ()
    return Choice(
        k=k,
        parts=chosen,
        span_errors={j: share_of(loss, losses[0]) for j, loss in losses.items()},
        error=1.0 - judged.share(weights),
        stability=_stability(bases),
        bases=bases,
        tests=direction_tests(
            np.concatenate(without, axis=1) / max(float(losses[0].mean()), 1e-12),
            limits.level / max(len(losses) - 1, 1),
        ),
        soft=soft,
        left=left,
        predicted=np.tensordot(weights, predicted, 1),
    )


def mixed(
    search: Search, basis: Float[np.ndarray, "c k"], draws: int = 1, last: Search | None = None
) -> SpanModel:
    """The readouts of ``Recipe.last_mixes`` on a span, weighed by what they predict left out.

    Before that the best of them turns the span once more: it may have sharper slopes than the one
    that the search used.  Several draws of the neurons turn it each, and are averaged.
    last -> more rows for the readouts than for the turns.
    """
    recipe, last = search.recipe, last or search
    same_rows = len(last.y) == len(search.y)
    seeds = [search.seed + draw for draw in range(draws)]
    bases, penalties = [], {}
    for seed in seeds:
        one = replace(search, seed=seed)
        trials = {mix: one.fit(basis, mix) for mix in recipe.last_mixes}
        mix, best = min(trials.items(), key=lambda pair: pair[1].error)
        bases.append(refined(one, best, recipe.last_turns, mix).basis)
        # The span has hardly turned: on the same rows the penalties would be chosen again.
        for mix, trial in trials.items():
            penalties[seed, mix] = trial.ridge.relative if same_rows else None
    basis = _consensus(tuple(bases))
    models = [
        replace(last, seed=seed).fit(basis, mix, penalty=penalty)
        for (seed, mix), penalty in penalties.items()
    ]
    predicted = np.array([last.y - model.ridge.residual for model in models])
    return blended(models, least_squares(predicted, last.y, last.weight), last.y, last.weight)


def _stability(bases: tuple[Float[np.ndarray, "c k"], ...]) -> float:
    """Mean squared principal cosine between the spans of different folds; NaN without two."""
    pairs = [
        float(np.sum((first.T @ second) ** 2)) / first.shape[1]
        for i, first in enumerate(bases)
        for second in bases[:i]
    ]
    return float(np.mean(pairs)) if pairs else float("nan")


def fit_models(data: Data, choice: Choice, limits: Limits, report: Report) -> Models:
    """All models on all rows.

    The span is what the folds found, refined; where they disagree a search on all rows competes.
    """
    recipe, (n, c) = limits.recipe, data.at.white.shape
    # One direction more than is wanted: the search may go over it and prune.
    most = min(choice.k + 1, limits.most) if choice.k else 0
    some, more = (
        searched_rows(c, recipe),
        max(recipe.searched_rows, recipe.refined_per_coordinate * c),
    )
    part, steered, last = (make_search(data, limits, most, rows) for rows in (some, more, None))
    spans = {0: last.fit(np.zeros((c, 0)))}
    if choice.k:
        starts = [refined(part, part.fit(_consensus(choice.bases)), 4)]
        if not choice.stability > recipe.agreed:
            starts += [model for k, model in part.run().items() if k == choice.k]
        best = min(starts, key=lambda model: model.error)
        if len(part.y) < len(steered.y):
            best = refined(steered, steered.fit(best.basis), 4)
        basis = settled(steered, best).basis
        draws = recipe.draws if n <= recipe.drawn_rows else 1
        spans[choice.k] = mixed(steered, basis, draws, last)
        report(f"all rows: leave-one-out error {spans[choice.k].error:.3f} of the variance")
    ends = label_range(data.y, recipe.label_margin)
    return Models(*fit_plain(data, limits, choice.soft, held=False), spans, *ends)


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
