"""What a fit has found, in the user's own columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.blocks import blocks
from giantstep.estimator.coordinates import Coordinates
from giantstep.estimator.inputs import Inputs
from giantstep.estimator.models import Models
from giantstep.estimator.network import SpanModel


@dataclass(frozen=True)
class Insight:
    """Directions, the strongest first, and importances of the columns.

    turn -> rotation of the span's own coordinates to these; strengths -> eigenvalues of
    E[grad g grad g^T], the labels having variance one; directions -> a row for each, such that
    u_j = directions[j] . x up to a constant (tails of heavy columns drawn in).
    """

    turn: Float[np.ndarray, "k k"]
    strengths: Float[np.ndarray, " k"]
    directions: Float[np.ndarray, "k d"]
    importances: Float[np.ndarray, " d"]


def look(
    inputs: Inputs,
    models: Models,
    span: SpanModel,
    weights: Float[np.ndarray, " c"],
    at: Coordinates,
) -> Insight:
    """Principal axes of the gradients on the span, and mean squared gradients by column."""
    slopes = span.gradient(at.white)
    flat = slopes.reshape(slopes.shape[0] * slopes.shape[1], span.k)
    values, vectors = np.linalg.eigh(flat.T @ flat / max(len(flat), 1))
    turn, strengths = vectors[:, ::-1], np.maximum(values[::-1], 0.0)
    # Columns as they came: the coordinates see them in another order.
    place = np.argsort(inputs.order)
    standard = inputs.to_white @ span.basis
    # The largest entry of a direction is positive.
    axes = standard @ turn
    signs = np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(span.k)])
    turn = turn * np.where(signs == 0, 1.0, signs)
    axes = (standard @ turn)[place]
    directions = (axes / (inputs.scaling.scale * inputs.scaling.deviation)[:, None]).T
    power = _mean_squares(models, weights, at, slopes, standard)[place]
    power = np.where(np.isinf(inputs.scaling.scale), 0.0, power)
    importances = power / power.sum() if power.sum() > 0 else power
    return Insight(turn, strengths, directions, importances)


def _mean_squares(
    models: Models,
    weights: Float[np.ndarray, " c"],
    at: Coordinates,
    slopes: Float[np.ndarray, "n m k"],
    standard: Float[np.ndarray, "d k"],
) -> Float[np.ndarray, " d"]:
    """Mean squared gradients of the blend with respect to the standardised columns, by blocks."""
    n, outputs, k = slopes.shape
    linear = weights[0] * (at.to_principal @ models.linear.weights).T
    total = np.zeros(len(standard))
    for block in blocks(n, outputs * len(standard)):
        part = at.take(block)
        gradient = np.repeat(linear[None], len(part), axis=0)
        for weight, model, x in zip(weights[1:], models.soft, part.soft_inputs, strict=False):
            soft = model.gradient(x.dense(slice(None)))
            flat = x.turn @ soft.reshape(-1, soft.shape[2]).T
            gradient += weight * flat.T.reshape(gradient.shape)
        if k:
            gradient += weights[-1] * slopes[block] @ standard.T
        total += np.einsum("imd,imd->d", gradient, gradient)
    return total / (n * outputs)
