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

import numpy as np
from jaxtyping import Float

from giantstep.estimator.network import SpanModel, fit_span

ITERATES = (1, 3, 8)
"""Conjugate-gradient iterates that are tried: the gradient step, and further ones."""

ROUNDS = 6
"""Steps at most; each must lower the error by GAIN."""

GAIN = 2e-3
"""Relative decrease of the error below which a span is left as it is."""

LEAST_SHARE = 1e-6
"""Eigenvalue of E[D D^T], relative to the largest, below which a direction is not steered."""


def turned(
    model: SpanModel, z: Float[np.ndarray, "n c"], weight: Float[np.ndarray, " n"]
) -> Iterator[Float[np.ndarray, "c k"]]:
    """The spans of the iterates."""
    basis, k = model.basis, model.k
    slopes = model.gradient(z)
    n = len(z)
    flat = (slopes * np.sqrt(weight)[:, None, None]).reshape(-1, k)
    metric = flat.T @ flat / n
    values, vectors = np.linalg.eigh(metric)
    if values[-1] <= 0.0:
        return
    root = vectors / np.sqrt(np.maximum(values, LEAST_SHARE * values[-1]))
    slopes = slopes @ root
    weighted = slopes * weight[:, None, None]

    def transposed(residual: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "c k"]:
        found = z.T @ np.einsum("imk,im->ik", weighted, residual) / n
        return found - basis @ (basis.T @ found)

    def applied(turn: Float[np.ndarray, "c k"]) -> Float[np.ndarray, "n m"]:
        return np.einsum("imk,ik->im", slopes, z @ turn)

    residual = model.ridge.residual
    turn = np.zeros((len(basis), k))
    gradient = transposed(residual)
    step, power = gradient, float(np.sum(gradient**2))
    for iterate in range(1, ITERATES[-1] + 1):
        image = applied(step)
        curvature = float(weight @ np.einsum("im,im->i", image, image)) / n
        if not (curvature > 0.0 and power > 0.0):
            return
        length = power / curvature
        turn = turn + length * step
        residual = residual - length * image
        gradient = transposed(residual)
        power, before = float(np.sum(gradient**2)), power
        step = gradient + power / before * step
        if iterate in ITERATES:
            yield np.linalg.qr(basis + turn @ root.T)[0]


def refine(
    model: SpanModel,
    z: Float[np.ndarray, "n c"],
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> SpanModel:
    """Turn the span while that lowers the leave-one-out error."""
    if model.k in (0, len(model.basis)):
        return model
    for _ in range(rounds):
        best = model
        for basis in turned(model, z, weight):
            trial = fit_span(basis, z, y, weight, seed=seed)
            if trial.error >= best.error and best is not model:
                break
            if trial.error < best.error:
                best = trial
        if best.error > (1.0 - GAIN) * model.error:
            return best
        model = best
    return model
