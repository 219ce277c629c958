"""What a step makes of the gradient, row by row or as a whole.  A new kind is one entry."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import RANK
from giantstep.language.word import Word


@dataclass(frozen=True)
class Update:
    """A step size multiplies the direction F G of a gradient G, or another ``direction(G)``.

    ``factor`` -> F, from G G^T: such an update turns with the coordinates, so that any orthonormal
    basis serves.  ``length(d)`` is that of its rows, None where it is that of the gradient.
    ``plain``: the direction is the gradient itself.  ``rowwise``: it is that of every row divided
    by its length.  ``polar``: it mixes the rows, and its singular values are one.
    """

    name: str
    length: Callable[[float], float] | None = None
    factor: Callable[[Float[np.ndarray, "*k p p"]], Float[np.ndarray, "*k p p"]] | None = None
    direction: Callable[[Float[np.ndarray, "p q"]], Float[np.ndarray, "p q"]] | None = None
    plain: bool = False
    rowwise: bool = False
    polar: bool = False
    numbers: tuple[str, ...] = ()

    @property
    def turns(self) -> bool:
        return self.factor is not None

    def __call__(self, gradient: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p q"]:
        """What the step size multiplies, the rows in any coordinates that serve."""
        if self.plain:
            return gradient
        if self.factor is None:
            assert self.direction is not None
            return self.direction(gradient)
        return self.factor(gradient @ gradient.T) @ gradient


def _identity(square: Float[np.ndarray, "*k p p"]) -> Float[np.ndarray, "*k p p"]:
    return np.broadcast_to(np.eye(square.shape[-1]), square.shape)


def _unit_rows(square: Float[np.ndarray, "*k p p"]) -> Float[np.ndarray, "*k p p"]:
    """The diagonal of 1/|g_i|, 0 for a neuron without a gradient."""
    norms = np.sqrt(np.diagonal(square, axis1=-2, axis2=-1))
    inverse = np.divide(1.0, norms, where=norms > 0, out=np.zeros_like(norms))
    return np.eye(square.shape[-1]) * inverse[..., None]


def _polar(square: Float[np.ndarray, "*k p p"]) -> Float[np.ndarray, "*k p p"]:
    """(G G^T)^(-1/2) on its range: F G = U V^T of G = U S V^T, what Muon's iteration tends to."""
    values, vectors = np.linalg.eigh(square)
    singular = np.sqrt(np.maximum(values, 0.0))
    there = singular > RANK**0.5 * singular[..., -1:]
    inverse = np.divide(1.0, singular, where=there, out=np.zeros_like(singular))
    return (vectors * inverse[..., None, :]) @ np.swapaxes(vectors, -1, -2)


UPDATES = {
    update.name: update
    for update in (
        Update("gradient", factor=_identity, plain=True),
        Update("normalised", lambda d: 1.0, _unit_rows, rowwise=True),
        Update("orthogonal", lambda d: 1.0, _polar, polar=True),
        Update("sign", math.sqrt, direction=np.sign),
    )
}


class UpdateWord(Word[Update]):
    """What a step makes of the gradient."""

    kinds = UPDATES
