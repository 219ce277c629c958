"""What a fit has found, in the user's own columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.blend import Models
from giantstep.estimator.coordinates import Coordinates
from giantstep.estimator.inputs import Inputs
from giantstep.estimator.network import SpanModel
from giantstep.estimator.soft import TANH

LOOKED_AT = 2_000
"""Rows over which gradients are averaged: an importance is then known to a few per cent."""


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
    at = at.take(slice(0, LOOKED_AT))
    slopes = span.gradient(at.white)
    flat = slopes.reshape(slopes.shape[0] * slopes.shape[1], span.k)
    values, vectors = np.linalg.eigh(flat.T @ flat / max(len(flat), 1))
    turn, strengths = vectors[:, ::-1], np.maximum(values[::-1], 0.0)
    standard = inputs.to_white @ span.basis
    # The largest entry of a direction is positive.
    axes = standard @ turn
    signs = np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(span.k)])
    turn = turn * np.where(signs == 0, 1.0, signs)
    directions = (standard @ turn / (inputs.scaling.scale * inputs.scaling.deviation)[:, None]).T
    power = _mean_squares(models, weights, at, slopes, standard)
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
    """Mean squared gradients of the blend with respect to the standardised columns.

    The gradient of an output at row i is sum_f F_if B_f, so that the mean squares are the diagonal
    of B^T (F^T F/n) B: no array has rows and columns both.
    """
    linear = at.to_principal @ models.linear.weights
    soft = [
        (weight, model, TANH.derivative(x @ model.rows.T + model.bias), (x.turn @ model.rows.T).T)
        for weight, model, x in zip(
            weights[1:], models.soft, (at.principal, at.standard), strict=False
        )
    ]
    n, outputs, k = slopes.shape
    total = np.zeros(len(linear))
    for j in range(outputs):
        factors = [np.full((n, 1), weights[0])]
        rows = [linear[:, j : j + 1].T]
        for weight, model, hidden, directions in soft:
            factors.append(weight * hidden * model.ridge.weights[:, j])
            rows.append(directions)
        if k:
            factors.append(weights[-1] * slopes[:, j])
            rows.append(standard.T)
        f, b = np.concatenate(factors, axis=1), np.concatenate(rows)
        total += np.einsum("fd,fd->d", b, (f.T @ f / n) @ b)
    return np.maximum(total, 0.0) / outputs
