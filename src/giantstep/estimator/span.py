"""The search of a span: grow it by candidate directions, refine it, prune it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.coordinates import Turned
from giantstep.estimator.network import SEARCHED, Mix, SpanModel, fit_span
from giantstep.estimator.refine import refine, turned_by_all
from giantstep.estimator.steps import (
    LABEL_SLICES,
    Candidate,
    Step,
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

    def refined(self, model: SpanModel, rounds: int) -> SpanModel:
        """The span after giant steps."""
        return refine(model, self.z, self.y, self.weight, rounds=rounds, seed=self.seed)

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

    def grow(self) -> tuple[dict[int, SpanModel], list[tuple[Candidate, int, float]]]:
        """Spans of k = 0, 1, ... directions, each grown from the one before, and how."""
        model = self.fit(np.zeros((self.z.shape[1], 0)))
        best, found = {0: model}, []
        while model.k < self.most:
            trials = []
            for candidate in self.candidates(model):
                for count in self.counts(candidate, self.most - model.k):
                    new = candidate.directions[:, :count]
                    basis = np.linalg.qr(np.column_stack([model.basis, new]))[0]
                    trials.append((self.refined(self.fit(basis), 1), candidate))
            trial, candidate = min(trials, key=lambda pair: pair[0].score)
            trial = self.refined(trial, 4)
            if trial.score > (1.0 - LEAST_GAIN) * model.score:
                break
            found.append((candidate, trial.k - model.k, trial.error))
            model = trial
            best[model.k] = model
        return best, found

    def prune(self, best: dict[int, SpanModel]) -> dict[int, SpanModel]:
        """From the largest span down, without the direction that its readout uses least."""
        model = best[max(best)]
        while model.k > 1:
            slopes = model.gradient(self.z).reshape(-1, model.k)
            _, vectors = np.linalg.eigh(slopes.T @ slopes)
            model = self.refined(self.fit(model.basis @ vectors[:, 1:]), 4)
            if model.k not in best or model.error < best[model.k].error:
                best[model.k] = model
            model = best[model.k]
        return best

    def run(self) -> dict[int, SpanModel]:
        """The best span of every number of directions that was reached."""
        best = self.prune(self.grow()[0])
        return {k: self.settled(best[k]) for k in sorted(best)}

    def run_tested(self) -> tuple[dict[int, SpanModel], list[Step]]:
        """The same, and the test of every step."""
        grown, found = self.grow()
        steps = [
            Step(
                kind=candidate.kind,
                directions=count,
                statistic=float(candidate.statistics[0]),
                edge=candidate.permuted(self.level) if candidate.permuted else candidate.edge,
                level=self.level,
                error=error,
            )
            for candidate, count, error in found
        ]
        return dict(sorted(self.prune(grown).items())), steps
