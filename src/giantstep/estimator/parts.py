"""The parts of a blend: weighed and judged by what they predict of rows left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

LINEAR, SOFT, DIRECTIONS = "linear", ("soft, all directions", "soft, by column"), "directions"
"""Names of the parts."""


@dataclass(frozen=True)
class Part:
    """One model of the blend, judged on rows left out.

    weight -> its factor in the prediction, of least squares: weights need not sum to one; alone ->
    the share of the variance that it explains by itself; adds -> the share that is lost where the
    other parts in use must do without it.
    """

    name: str
    weight: float
    alone: float
    adds: float


@dataclass(frozen=True)
class Judged:
    """Predictions of some models for rows left out, and the labels of these."""

    predicted: Float[np.ndarray, "c l m"]
    y: Float[np.ndarray, "l m"]
    weight: Float[np.ndarray, " l"]

    def blend(self, chosen: Sequence[int]) -> Float[np.ndarray, " c"]:
        """Weights of least squared error for some of the models, 0 for the others."""
        weights = np.zeros(len(self.predicted))
        if len(chosen):
            weights[chosen] = least_squares(self.predicted[chosen], self.y, self.weight)
        return weights

    def losses(self, weights: Float[np.ndarray, " c"]) -> Float[np.ndarray, " l"]:
        """Squared errors of a blend, row by row."""
        return squares(self.y - np.tensordot(weights, self.predicted, 1), self.weight)

    def share(self, weights: Float[np.ndarray, " c"]) -> float:
        """The share of the variance that a blend explains."""
        return 1.0 - share_of(self.losses(weights), squares(self.y, self.weight))


def judged_parts(judged: Judged, names: Sequence[str], nearly: float) -> tuple[Part, ...]:
    """The simplest blend within ``nearly`` standard errors of the best, and its parts' worth.

    Simplest first: the directions, these and the linear part, all; without directions the linear
    part, all.
    """
    everything = list(range(len(names)))
    linear, last = names.index(LINEAR), everything[-1:]
    simple = [last, [linear, *last]] if DIRECTIONS in names else [[linear]]
    best = judged.losses(judged.blend(everything))
    blends = (judged.blend(chosen) for chosen in [*simple, everything])
    weights = next(w for w in blends if not beyond(judged.losses(w) - best, nearly))
    used = [i for i in everything if weights[i] > 0]
    reliability = _reliability(squares(judged.y, judged.weight) - judged.losses(weights))
    parts = []
    for i, name in enumerate(names):
        without = judged.blend([j for j in used if j != i])
        parts.append(
            Part(
                name=name,
                weight=reliability * float(weights[i]),
                alone=judged.share(np.eye(len(names))[i]),
                adds=judged.share(weights) - judged.share(without) if i in used else 0.0,
            )
        )
    return tuple(parts)


def squares(
    e: Float[np.ndarray, "n m"], weight: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """Weighted squares, row by row."""
    return weight * np.einsum("im,im->i", e, e)


def share_of(losses: Float[np.ndarray, " n"], total: Float[np.ndarray, " n"]) -> float:
    """Sum of some squares over that of others; labels without variance count as 1e-12."""
    return float(losses.sum()) / max(float(total.sum()), 1e-12)


def beyond(differences: Float[np.ndarray, " n"], errors: float) -> bool:
    """Whether a mean exceeds so many of its standard errors."""
    return bool(differences.mean() > errors * differences.std() / math.sqrt(len(differences)))


def _reliability(gain: Float[np.ndarray, " n"]) -> float:
    """(1 - (standard error/mean)^2)_+ of what the blend gains over the mean label, row by row.

    A positive-part shrinkage: what chance may explain is not predicted, what it cannot is kept.
    """
    mean, error = float(gain.mean()), float(gain.std()) / math.sqrt(len(gain))
    return max(0.0, 1.0 - (error / mean) ** 2) if mean > 0.0 else 0.0


def least_squares(
    predicted: Float[np.ndarray, "c n m"],
    y: Float[np.ndarray, "n m"],
    weight: Float[np.ndarray, " n"],
) -> Float[np.ndarray, " c"]:
    """Non-negative least squares of the labels on the predictions."""
    from scipy.optimize import nnls

    root = np.sqrt(weight)[None, :, None]
    columns = (predicted * root).reshape(len(predicted), -1)
    gram = columns @ columns.T
    # The root of the Gram matrix gives these least squares with as many rows as there are models.
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    half = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    target = vectors[:, kept].T @ (columns @ (y * root[0]).ravel()) / np.sqrt(values[kept])
    if not kept.any() or values[-1] <= 0:
        return np.zeros(len(predicted))
    return nnls(half, target)[0]
