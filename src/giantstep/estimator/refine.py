"""Giant steps of a span with its fitted readout: the part of the gradient that turns the span.

To first order a turn U -> U + Delta changes the prediction by sum_j D_j(z) z . Delta_j, D the
gradient of the readout on the span.  The leave-one-out residual is regressed on these tangent
features by conjugate gradients, in the metric where E[D D^T] = 1: the first iterate is the gradient
step at its exact giant length, further ones turn more slowly learned directions too, and stopping
early is the regularisation.  Which iterate to keep is left to the leave-one-out error after the
readout has been fitted again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from jaxtyping import Float

from giantstep.estimator.network import SpanFitter, SpanModel
from giantstep.estimator.recipe import Mix


def turned(
    fitter: SpanFitter, model: SpanModel, least_share: float = 1e-6
) -> Iterator[Float[np.ndarray, "c k"]]:
    """The spans of the iterates of ``Recipe.iterates``.

    least_share -> eigenvalue of E[D D^T], relative to the largest, from which on a direction is
    turned at its exact length.
    """
    z, weight, iterates = fitter.z, fitter.weight, fitter.recipe.iterates
    basis, k, n = model.basis, model.k, len(z)
    if model.judges is not None:
        weight = weight.copy()
        weight[model.judges] = 0.0
    slopes = model.gradient(z)
    flat = (slopes * np.sqrt(weight)[:, None, None]).reshape(-1, k)
    values, vectors = np.linalg.eigh(flat.T @ flat / n)
    if values[-1] <= 0.0:
        return
    root = vectors / np.sqrt(np.maximum(values, least_share * values[-1]))
    slopes = slopes @ root
    weighted = slopes * weight[:, None, None]

    def transposed(residual: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "c k"]:
        product = z.adjoint(np.einsum("imk,im->ik", weighted, residual)) / n
        return product - basis @ (basis.T @ product)

    residual = model.ridge.residual
    turn = np.zeros((len(basis), k))
    gradient = transposed(residual)
    step, power = gradient, float(np.sum(gradient**2))
    for iterate in range(1, iterates[-1] + 1):
        image = np.einsum("imk,ik->im", slopes, z @ step)
        curvature = float(weight @ np.einsum("im,im->i", image, image)) / n
        if not (curvature > 0.0 and power > 0.0):
            return
        length = power / curvature
        turn = turn + length * step
        residual = residual - length * image
        gradient = transposed(residual)
        power, before = float(np.sum(gradient**2)), power
        step = gradient + power / before * step
        if iterate in iterates:
            yield np.linalg.qr(basis + turn @ root.T)[0]


def refined(
    fitter: SpanFitter, model: SpanModel, rounds: int, mix: Mix | None = None, *, held: bool = True
) -> SpanModel:
    """The span after giant steps, ``rounds`` at most, while they lower the leave-one-out error.

    held -> whether the penalty of the readout is held within a round, and chosen again before the
    next; else every trial chooses its own, which takes thrice as long.
    """
    if model.k in (0, len(model.basis)):
        return model
    judged = model.judges is not None
    for left in reversed(range(rounds)):
        best, penalty = model, model.ridge.relative if held else None
        for basis in turned(fitter, model):
            trial = fitter.fit(basis, mix, judged=judged, penalty=penalty)
            if trial.error >= best.error and best is not model:
                break
            if trial.error < best.error:
                best = trial
        if best.error > (1.0 - fitter.recipe.turn_gain) * model.error:
            return best
        model = fitter.fit(best.basis, mix, judged=judged) if left and held else best
    return model


def settled(fitter: SpanFitter, model: SpanModel) -> SpanModel:
    """The span after a last turn by all rows, if judges had been kept from the steps."""
    if model.judges is None or model.k == 0:
        return model
    unjudged = replace(model, judges=None)
    bases = list(islice(turned(fitter, unjudged), fitter.recipe.unjudged_iterates))
    return fitter.fit(bases[-1], judged=False) if bases else unjudged
