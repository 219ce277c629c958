"""What a step makes of the gradient, row by row or as a whole.  A new kind is one entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

NEGLIGIBLE = 1e-10
"""Singular values of a gradient below this share of the largest are zero up to rounding."""


@dataclass(frozen=True)
class Update:
    """``direction(gradient)`` is what the step size multiplies, rows of W in any coordinates.

    ``turns``: it turns with the coordinates, so that any orthonormal basis serves.
    """

    name: str
    direction: Callable[[Float[np.ndarray, "p q"]], Float[np.ndarray, "p q"]]
    turns: bool = True


def _unit_rows(gradient: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p q"]:
    norms = np.linalg.norm(gradient, axis=1, keepdims=True)
    return np.divide(gradient, norms, where=norms > 0, out=np.zeros_like(gradient))


def _polar(gradient: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p q"]:
    """U V^T of G = U S V^T, what Muon's iteration tends to: (G G^T)^(-1/2) G on its range."""
    values, vectors = np.linalg.eigh(gradient @ gradient.T)
    singular = np.sqrt(np.maximum(values, 0.0))
    there = singular > NEGLIGIBLE**0.5 * singular[-1]
    inverse = np.divide(1.0, singular, where=there, out=np.zeros_like(singular))
    return (vectors * inverse) @ (vectors.T @ gradient)


UPDATES = {
    update.name: update
    for update in (
        Update("gradient", lambda gradient: gradient),
        Update("normalised", _unit_rows),
        Update("orthogonal", _polar),
        Update("sign", np.sign, turns=False),
    )
}

# The names as types: the record refuses any other.
if TYPE_CHECKING:
    UpdateName = str
else:
    UpdateName = Literal[*UPDATES]
