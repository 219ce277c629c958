"""Several giant steps on fresh batches: exact recursion for the mean overlaps and Gram matrix.

With coordinates C (p x q, the first r columns M = W W*^T), Q = C C^T, x ~ N(0, I_q) and g the
coefficient of x in a neuron's update, G = E[g x], A = E[g g^T], B = E[g g^T |x|^2]:

    E[M'] = M + eta G[:, :r]
    E[Q'] = Q + eta (G C^T + C G^T) + eta^2 [ (1 - 1/n) G G^T + (B + (d - q) A)/n ]

for one step from a given state, at any n and d; the next state is the mean.  Fluctuations around it
are of relative order n^(-1/2) and shift the following means by order 1/n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.points import Points, Quadrature
from giantstep.prediction.narrow.start import Start, labels_at, network_error
from giantstep.problem.network import coefficients
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Evolution:
    """Steps 0..T of one deterministic recursion."""

    overlap: Float[np.ndarray, "t p r"]
    gram: Float[np.ndarray, "t p p"]
    gradient_cosine: Float[np.ndarray, "s p r"]
    network_error: Float[np.ndarray, " t"]


def recorded(
    overlaps: list[Float[np.ndarray, "p r"]],
    grams: list[Float[np.ndarray, "p p"]],
    cosines: list[Float[np.ndarray, "p r"]],
    errors: list[float],
) -> Evolution:
    """The steps of a recursion as one record; without a step there are no cosines."""
    return Evolution(
        np.stack(overlaps),
        np.stack(grams),
        np.stack(cosines) if cosines else np.zeros((0, *overlaps[0].shape)),
        np.array(errors),
    )


def coordinates(
    overlap: Float[np.ndarray, "p r"], gram: Float[np.ndarray, "p p"]
) -> Float[np.ndarray, "p q"]:
    """C = [M, S] with C C^T = Q; a Q - M M^T that rounding made singular has its square root."""
    values, vectors = np.linalg.eigh(gram - overlap @ overlap.T)
    # Rows that span fewer directions leave eigenvalues of the size of rounding.
    kept = values > 1e-13 * float(np.trace(gram))
    return np.concatenate([overlap, vectors[:, kept] * np.sqrt(values[kept])], axis=1)


def state_evolution(setting: Setting, start: Start, quadrature: Quadrature) -> Evolution:
    """Overlaps, Gram matrices, gradient cosines and errors after each step."""
    r = setting.target.r
    rows = start.rows
    overlaps, grams, cosines, errors = [], [], [], []
    for step in range(setting.steps + 1):
        q = rows.shape[1]
        points = quadrature(rows)
        x, weights = points.x, points.weights
        labels = labels_at(setting, x, points.noise)
        overlaps.append(rows[:, :r])
        grams.append(rows @ rows.T)
        errors.append(network_error(setting, rows, start.readout, x, labels, weights))
        if step == setting.steps:
            break
        known, deflated, pulled = _deflated(setting, points, labels)
        g = np.asarray(coefficients(setting, rows @ x.T, deflated, start.readout))
        weighted = g * weights
        mean = weighted @ known
        square = weighted @ g.T
        inside = (weighted * np.sum(known**2, axis=1)) @ g.T
        outside = setting.d - known.shape[1]
        if pulled is not None:
            along = weighted @ pulled
            square = square - np.outer(along, along)
        spread = (inside + outside * square) / setting.n
        gradient = (1.0 - 1.0 / setting.n) * mean @ mean.T + spread
        cosines.append(mean[:, :r] / np.sqrt(np.diagonal(gradient))[:, None])
        eta = setting.step_size[step]
        cross = mean[:, :q] @ rows.T
        gram = grams[-1] + eta * (cross + cross.T) + eta**2 * gradient
        rows = coordinates(overlaps[-1] + eta * mean[:, :r], gram)
    return recorded(overlaps, grams, cosines, errors)


def _deflated(
    setting: Setting, points: Points, labels: Float[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, " n"], Float[np.ndarray, " n"] | None]:
    """Known coordinates, deflated labels, and the unit vector of coefficients that was used.

    Fitting beta = mean (y - E y) x reveals one direction outside the span, along which a sample
    has the component sqrt((d - q)/n) v + e, v = (y - E y)/sd (docs/derivations/deferred.md).
    """
    x, weights = points.x, points.weights
    if setting.deflate < 0:
        return x, labels, None
    centred = labels - weights @ labels
    if setting.deflate == 0:
        return x, centred, None
    size = math.sqrt(float(weights @ centred**2))
    pull = math.sqrt((setting.d - x.shape[1]) / setting.n)
    unit = centred / size
    revealed = pull * unit + points.spare
    beta = (weights * centred) @ x
    return (
        np.concatenate([x, revealed[:, None]], axis=1),
        centred - x @ beta - size * pull * revealed,
        unit,
    )
