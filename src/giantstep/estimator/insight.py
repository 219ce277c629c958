"""What a fit has found, in the user's own columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.blend import Models
from giantstep.estimator.inputs import Coordinates, Inputs
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
    at = at.take(np.arange(min(len(at.white), LOOKED_AT)))
    slopes = span.gradient(at.white)
    flat = slopes.reshape(slopes.shape[0] * slopes.shape[1], span.k)
    values, vectors = np.linalg.eigh(flat.T @ flat / max(len(flat), 1))
    turn, strengths = vectors[:, ::-1], np.maximum(values[::-1], 0.0)
    standard = inputs.whitening @ span.basis
    # The largest entry of a direction is positive.
    axes = standard @ turn
    signs = np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(span.k)])
    turn = turn * np.where(signs == 0, 1.0, signs)
    directions = (standard @ turn / (inputs.scale * inputs.deviation)[:, None]).T
    # Gradients of the blend with respect to the standardised columns, (n, m, d).
    total = weights[0] * (inputs.vectors @ models.linear.weights).T[None]
    for weight, model, x in zip(
        weights[1:], models.soft, (at.principal, at.standard), strict=False
    ):
        hidden = TANH.derivative(x @ model.rows.T + model.bias)
        part = np.einsum("ip,pm,pd->imd", hidden, model.ridge.weights, model.rows, optimize=True)
        total = total + weight * (part @ inputs.vectors.T if x is at.principal else part)
    if span.k:
        total = total + weights[-1] * slopes @ standard.T
    power = np.mean(total**2, axis=(0, 1))
    power = np.where(np.isinf(inputs.scale), 0.0, power)
    importances = power / power.sum() if power.sum() > 0 else power
    return Insight(turn, strengths, directions, importances)
