"""The search of a span: grow it by candidate directions, refine it, prune it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.network import SEARCHED, Mix, SpanModel, fit_span
from giantstep.estimator.refine import refine
from giantstep.estimator.ridge import fit_ridge
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

LEAST_GAIN = 3e-3
"""Relative decrease of the score that a further direction must bring."""


FEW = 300
"""Rows below which a trial costs next to nothing, and outliers hide in the bulk."""


@dataclass(frozen=True)
class Search:
    """The data and the limits of a search."""

    z: Float[np.ndarray, "n c"]
    y: Float[np.ndarray, "n m"]
    weight: Float[np.ndarray, " n"]
    most: int
    level: float
    seed: int

    def fit(self, basis: Float[np.ndarray, "c k"], mix: Mix = SEARCHED) -> SpanModel:
        """The readout on a span."""
        return fit_span(basis, self.z, self.y, self.weight, seed=self.seed, mix=mix)

    def refined(self, model: SpanModel, rounds: int) -> SpanModel:
        """The span after giant steps."""
        return refine(model, self.z, self.y, self.weight, rounds=rounds, seed=self.seed)

    def candidates(self, model: SpanModel) -> list[Candidate]:
        """What each kind of step would add to a span."""
        z = self.z - (self.z @ model.basis) @ model.basis.T
        e = clipped(model.ridge.residual)
        functions = span_functions(model, self.z)
        a = weights_of_inputs(e, functions)
        found = [first_order(a, z, self.weight, self.level)]
        if model.k:
            return [*found, second_order(a, z, self.weight)]
        slices = label_slices(self.y, self.weight)
        found.append(first_order(slices, z, self.weight, self.level, kind=LABEL_SLICES))
        # A linear part would fill the second order with noise of its own.
        linear = fit_ridge(lambda block: z[block], self.y, self.weight, z.shape[1])
        e = clipped(linear.residual)
        return [*found, *(second_order(a, z, self.weight) for a in (e, np.abs(e)))]

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
        return dict(sorted(self.prune(self.grow()[0]).items()))

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
