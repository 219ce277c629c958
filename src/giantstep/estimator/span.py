"""The search of a span: grow it by candidate directions, turn it, prune it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.estimator.network import SpanFitter, SpanModel
from giantstep.estimator.refine import refined
from giantstep.estimator.steps import (
    LABEL_SLICES,
    Candidate,
    clipped,
    first_order,
    label_slices,
    second_order,
    span_functions,
    weights_of_inputs,
)
from giantstep.estimator.wide import fit_linear


@dataclass(frozen=True)
class Search(SpanFitter):
    """A search on these rows: ``most`` directions, tested against noise at ``level``."""

    most: int
    level: float

    def candidates(self, model: SpanModel) -> list[Candidate]:
        """What each kind of step would add to a span."""
        recipe, z = self.recipe, self.z.without(model.basis)
        e = clipped(model.ridge.residual, recipe)
        a = weights_of_inputs(e, span_functions(model, self.z, recipe))
        weight = self.weight.copy()
        if self.judges is not None:
            weight[self.judges] = 0.0
        first = first_order(a, z, weight, self.level)
        if model.k:
            return [first, second_order(a, z, weight, recipe)]
        slices = label_slices(self.y, self.weight, recipe)
        sliced = first_order(slices, z, weight, self.level, kind=LABEL_SLICES)
        # A linear part would fill the second order with noise of its own.
        linear = fit_linear(z, self.y, self.weight, recipe.dense_coordinates)
        e = clipped(linear.residual, recipe)
        return [first, sliced, *(second_order(a, z, weight, recipe) for a in (e, np.abs(e)))]

    def counts(self, candidate: Candidate, room: int) -> set[int]:
        """Directions to take at once: the outliers; one and two where few rows blur the edge."""
        both = {1, 2} if len(self.y) < self.recipe.blurred_rows else {candidate.count}
        return {min(count, room, candidate.directions.shape[1]) for count in both}

    def run(self) -> dict[int, SpanModel]:
        """The best span of every number of directions that was reached."""
        growth = Growth(self)
        growth.expand(self.most)
        return growth.best

    @property
    def hurried(self) -> bool:
        """Whether there are too many rows for a thorough search to pay."""
        return len(self.y) >= self.recipe.thorough_rows

    @property
    def _close(self) -> float:
        """The factor of another span's score within which a trial is worth turning."""
        return self.recipe.close[self.hurried]

    def stepped(self, model: SpanModel) -> SpanModel:
        """A span after a few giant steps, the penalty of its readout chosen once more."""
        return self.fit(refined(self, model, self.recipe.search_turns).basis)

    def grown(self, model: SpanModel, known: dict[int, SpanModel]) -> list[SpanModel]:
        """The best spans with one and with two directions more; known -> the best ones so far."""
        trials: dict[int, list[SpanModel]] = {}
        for candidate in self.candidates(model):
            for count in self.counts(candidate, self.most - model.k):
                new = candidate.directions[:, :count]
                basis = np.linalg.qr(np.column_stack([model.basis, new]))[0]
                trial = self.fit(basis)
                trials.setdefault(trial.k, []).append(trial)
        best = []
        for k, group in trials.items():
            group = self._different(group, known.get(k))
            if not group:
                continue
            chosen = min(group, key=lambda trial: trial.score)
            if chosen.score <= self._close * model.score:
                chosen = self.stepped(chosen)
            best.append(chosen)
        return best

    def _different(self, group: list[SpanModel], known: SpanModel | None) -> list[SpanModel]:
        """The trials, best first, without those whose span a better one nearly has."""
        kept = [known] if known is not None else []
        first = len(kept)
        for trial in sorted(group, key=lambda trial: trial.score):
            if not any(self._repeats(trial, other) for other in kept):
                kept.append(trial)
        return kept[first:]

    def _repeats(self, trial: SpanModel, other: SpanModel) -> bool:
        """Whether giant steps would take a span to one that is known."""
        shared = float(np.sum((trial.basis.T @ other.basis) ** 2))
        near = shared > trial.k - self.recipe.same_span
        return near and trial.score >= other.score

    def pruned(self, model: SpanModel, rival: SpanModel | None) -> SpanModel:
        """A span without the direction that its readout uses least; turned if it may pay."""
        slopes = model.gradient(self.z).reshape(-1, model.k)
        _, vectors = np.linalg.eigh(slopes.T @ slopes)
        less = self.fit(model.basis @ vectors[:, 1:])
        if rival is None or less.score <= self._close * rival.score:
            less = self.stepped(less)
        return less


class Growth:
    """The best spans of a search so far, by their number of directions, and which of them are new.

    A span that is new is grown by every kind of step, and pruned by the direction that its readout
    uses least; what that improves is new again, until nothing is.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self._best = {0: search.fit(np.zeros((search.z.shape[1], 0)))}
        self._new = {0}
        self._left = search.recipe.expansions[search.hurried]

    @property
    def best(self) -> dict[int, SpanModel]:
        """The best spans, from the smallest on."""
        return dict(sorted(self._best.items()))

    def expand(self, level: int) -> None:
        """Grow and prune what is new, spans of ``level`` directions at most."""
        while self._left and self._new and min(self._new) <= level:
            self._left -= 1
            k = min(self._new)
            self._new.remove(k)
            self._try(k)

    def _try(self, k: int) -> None:
        search, best, recipe = self.search, self._best, self.search.recipe
        least = min((best[j].score for j in best if j < k), default=math.inf)
        trials = [search.pruned(best[k], best.get(k - 1))] if k > 1 else []
        if k < search.most and best[k].score < (1.0 - recipe.least_gain) * least:
            trials += search.grown(best[k], best)
        for trial in trials:
            self.offer(trial)

    def offer(self, trial: SpanModel) -> None:
        """Keep a span that is the best of its size; one that is clearly better is new."""
        k = trial.k
        before = self._best[k].score if k in self._best else math.inf
        if trial.score < (1.0 - self.search.recipe.worth_again) * before:
            self._new.add(k)
        if trial.score < before:
            self._best[k] = trial
