"""The search of a span: grow it by candidate directions, refine it, prune it."""

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
        """The best span of every number of directions that was reached.

        A span that is new is grown by every kind of step, and pruned by the direction that its
        readout uses least; what that improves is new again, until nothing is.
        """
        recipe = self.recipe
        best = {0: self.fit(np.zeros((self.z.shape[1], 0)))}
        new = {0}
        for _ in range(recipe.expansions[self._hurried]):
            if not new:
                break
            k = min(new)
            new.remove(k)
            least = min((best[j].score for j in best if j < k), default=math.inf)
            trials = [self.pruned(best[k], best.get(k - 1))] if k > 1 else []
            if k < self.most and best[k].score < (1.0 - recipe.least_gain) * least:
                trials += self.grown(best[k])
            for trial in trials:
                before = best[trial.k].score if trial.k in best else math.inf
                if trial.score < (1.0 - recipe.worth_again) * before:
                    new.add(trial.k)
                if trial.score < before:
                    best[trial.k] = trial
        return dict(sorted(best.items()))

    @property
    def _hurried(self) -> bool:
        """Whether there are too many rows for a thorough search to pay."""
        return len(self.y) >= self.recipe.thorough_rows

    @property
    def _close(self) -> float:
        """The factor of the best score within which a trial is worth refining."""
        return self.recipe.close[self._hurried]

    def grown(self, model: SpanModel) -> list[SpanModel]:
        """The best spans with one and with two directions more."""
        trials: dict[int, list[SpanModel]] = {}
        for candidate in self.candidates(model):
            for count in self.counts(candidate, self.most - model.k):
                new = candidate.directions[:, :count]
                basis = np.linalg.qr(np.column_stack([model.basis, new]))[0]
                trial = refined(self, self.fit(basis), 1)
                trials.setdefault(trial.k, []).append(trial)
        best = []
        for group in trials.values():
            limit = self._close * min(trial.score for trial in group)
            # Refining tells those apart that are close.
            close = [refined(self, trial, 2) for trial in group if trial.score <= limit]
            chosen = min(close, key=lambda trial: trial.score)
            if chosen.score <= self._close * model.score:
                chosen = refined(self, chosen, 4)
            best.append(chosen)
        return best

    def pruned(self, model: SpanModel, rival: SpanModel | None) -> SpanModel:
        """A span without the direction that its readout uses least; refined if it may pay."""
        slopes = model.gradient(self.z).reshape(-1, model.k)
        _, vectors = np.linalg.eigh(slopes.T @ slopes)
        less = refined(self, self.fit(model.basis @ vectors[:, 1:]), 1)
        if rival is None or less.score <= self._close * rival.score:
            less = refined(self, less, 3)
        return less
