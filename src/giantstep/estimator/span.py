"""The search of a span: grow it by candidate directions, refine, prune; the best span of every k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.network import SpanModel, fit_span
from giantstep.estimator.refine import refine
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

LEAST_GAIN = 3e-3
"""Relative decrease of the score that a further direction must bring."""


@dataclass(frozen=True)
class Search:
    """The data and the limits of a search."""

    z: Float[np.ndarray, "n c"]
    y: Float[np.ndarray, "n m"]
    weight: Float[np.ndarray, " n"]
    most: int
    level: float
    seed: int

    def fit(self, basis: Float[np.ndarray, "c k"]) -> SpanModel:
        """The readout on a span."""
        return fit_span(basis, self.z, self.y, self.weight, seed=self.seed)

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
        if model.k == 0:
            slices = label_slices(self.y, self.weight)
            found.append(
                first_order(slices, z, self.weight, self.level, kind=LABEL_SLICES)
            )
            # The linear part would fill the second order with noise of its own.
            slope = np.linalg.lstsq(z, e, rcond=None)[0]
            a = e - z @ slope
        found.append(second_order(np.column_stack([a, np.abs(e)]), z, self.weight))
        return found

    def grow(self) -> dict[int, SpanModel]:
        """Spans of k = 0, 1, ... directions, each grown from the one before."""
        model = self.fit(np.zeros((self.z.shape[1], 0)))
        best = {0: model}
        while model.k < self.most:
            trials = []
            for candidate in self.candidates(model):
                count = min(candidate.count, self.most - model.k)
                new = candidate.directions[:, :count]
                basis = np.linalg.qr(np.column_stack([model.basis, new]))[0]
                trials.append(self.refined(self.fit(basis), 1))
            trial = self.refined(min(trials, key=lambda t: t.score), 4)
            if trial.score > (1.0 - LEAST_GAIN) * model.score:
                break
            model = trial
            best[model.k] = model
        return best

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
        return dict(sorted(self.prune(self.grow()).items()))
