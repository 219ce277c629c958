"""The search of a span: grow it by candidate directions, refine it, prune it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.coordinates import Turned
from giantstep.estimator.network import SEARCHED, Mix, SpanModel, fit_span
from giantstep.estimator.refine import refine, turned_by_all
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
from giantstep.estimator.wide import DENSE, fit_linear

LEAST_GAIN = 3e-3
"""Relative decrease of the score that a further direction must bring."""

AGAIN = 0.03
"""Relative decrease of the score with which a span is worth growing and pruning once more."""

THOROUGH = 600
"""Rows below which a search is thorough: with more, the first path is as good as any."""

EXPANSIONS = (12, 6)
"""Spans that are grown and pruned at most, in a thorough search and another."""

CLOSE = (1.15, 1.02)
"""Trials within this factor of the best are refined before one is chosen, likewise."""

FEW = 300
"""Rows below which a trial costs next to nothing, and outliers hide in the bulk."""

JUDGED = 5
"""One row of so many is kept from the steps where coordinates are many, to judge them."""


@dataclass(frozen=True)
class Search:
    """The data and the limits of a search."""

    z: Turned
    y: Float[np.ndarray, "n m"]
    weight: Float[np.ndarray, " n"]
    most: int
    level: float
    seed: int

    def fit(self, basis: Float[np.ndarray, "c k"], mix: Mix = SEARCHED) -> SpanModel:
        """The readout on a span."""
        return fit_span(
            basis, self.z, self.y, self.weight, seed=self.seed, mix=mix, judges=self.judges
        )

    @property
    def judges(self) -> slice | None:
        """Rows kept from all steps where there are too many coordinates to charge for them."""
        return slice(0, None, JUDGED) if self.z.shape[1] > DENSE else None

    def refined(self, model: SpanModel, rounds: int, mix: Mix = SEARCHED) -> SpanModel:
        """The span after giant steps."""
        return refine(model, self.z, self.y, self.weight, rounds=rounds, seed=self.seed, mix=mix)

    def settled(self, model: SpanModel) -> SpanModel:
        """The span after a last turn by all rows, if some had been kept from the steps."""
        return turned_by_all(model, self.z, self.y, self.weight, seed=self.seed)

    def candidates(self, model: SpanModel) -> list[Candidate]:
        """What each kind of step would add to a span."""
        z = self.z.without(model.basis)
        e = clipped(model.ridge.residual)
        functions = span_functions(model, self.z)
        a = weights_of_inputs(e, functions)
        weight = self.weight.copy()
        if self.judges is not None:
            weight[self.judges] = 0.0
        found = [first_order(a, z, weight, self.level)]
        if model.k:
            return [*found, second_order(a, z, weight)]
        slices = label_slices(self.y, self.weight)
        found.append(first_order(slices, z, weight, self.level, kind=LABEL_SLICES))
        # A linear part would fill the second order with noise of its own.
        linear = fit_linear(z, self.y, self.weight)
        e = clipped(linear.residual)
        return [*found, *(second_order(a, z, weight) for a in (e, np.abs(e)))]

    def counts(self, candidate: Candidate, room: int) -> set[int]:
        """Directions to take at once: the outliers; one and two where few rows blur the edge."""
        both = {1, 2} if len(self.y) < FEW else {candidate.count}
        return {min(count, room, candidate.directions.shape[1]) for count in both}

    def run(self) -> dict[int, SpanModel]:
        """The best span of every number of directions that was reached.

        A span that is new is grown by every kind of step, and pruned by the direction that its
        readout uses least; what that improves is new again, until nothing is.
        """
        best = {0: self.fit(np.zeros((self.z.shape[1], 0)))}
        new = {0}
        for _ in range(int(self._effort(EXPANSIONS))):
            if not new:
                break
            k = min(new)
            new.remove(k)
            least = min((best[j].score for j in best if j < k), default=math.inf)
            trials = [self.pruned(best[k], best.get(k - 1))] if k > 1 else []
            if k < self.most and best[k].score < (1.0 - LEAST_GAIN) * least:
                trials += self.grown(best[k])
            for trial in trials:
                before = best[trial.k].score if trial.k in best else math.inf
                if trial.score < (1.0 - AGAIN) * before:
                    new.add(trial.k)
                if trial.score < before:
                    best[trial.k] = trial
        return dict(sorted(best.items()))

    def _effort(self, pair: tuple[float, float]) -> float:
        return pair[0] if len(self.y) < THOROUGH else pair[1]

    def grown(self, model: SpanModel) -> list[SpanModel]:
        """The best spans with one and with two directions more."""
        trials: dict[int, list[SpanModel]] = {}
        for candidate in self.candidates(model):
            for count in self.counts(candidate, self.most - model.k):
                new = candidate.directions[:, :count]
                basis = np.linalg.qr(np.column_stack([model.basis, new]))[0]
                trial = self.refined(self.fit(basis), 1)
                trials.setdefault(trial.k, []).append(trial)
        best = []
        for group in trials.values():
            least = min(trial.score for trial in group)
            # Refining tells those apart that are close.
            close = [
                self.refined(trial, 2)
                for trial in group
                if trial.score <= self._effort(CLOSE) * least
            ]
            chosen = min(close, key=lambda trial: trial.score)
            if chosen.score <= self._effort(CLOSE) * model.score:
                chosen = self.refined(chosen, 4)
            best.append(chosen)
        return best

    def pruned(self, model: SpanModel, known: SpanModel | None) -> SpanModel:
        """A span without the direction that its readout uses least; refined if it may pay."""
        slopes = model.gradient(self.z).reshape(-1, model.k)
        _, vectors = np.linalg.eigh(slopes.T @ slopes)
        less = self.refined(self.fit(model.basis @ vectors[:, 1:]), 1)
        if known is None or less.score <= self._effort(CLOSE) * known.score:
            less = self.refined(less, 3)
        return less
