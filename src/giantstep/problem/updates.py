"""What a step makes of the gradient, row by row or as a whole.  A new kind is one entry."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import RANK
from giantstep.language.word import Word


@dataclass(frozen=True)
class Update:
    """A step size multiplies the direction F G of a gradient G, or another ``direction(G)``.

    ``factor`` -> F, from G G^T and the ``numbers``: such an update turns with the coordinates, so
    that any orthonormal basis serves.  ``length(d)`` is that of its rows, None where it is that of
    the gradient.  ``plain``: the direction is the gradient itself.  ``rowwise``: it is that of
    every row divided by its length.  ``polar``: it mixes the rows, and its singular values are one.
    ``entrywise``: it is made of each entry by itself, whatever unit all of them are in.
    ``remembered(gradient, memory, *numbers)`` -> direction and memory after a step, where it
    depends on the gradients before, of which there is no memory (None) at the start.
    ``largest(steps, *numbers)`` -> what an entry of so many steps is at most, where not one.
    ``clips``: gradients up to a length are left as they are; with momentum velocities add up what
    is left of them, and are not clipped themselves.
    """

    name: str
    length: Callable[[float], float] | None = None
    factor: Callable[..., Float[np.ndarray, "*k p p"]] | None = None
    direction: Callable[[Float[np.ndarray, "p q"]], Float[np.ndarray, "p q"]] | None = None
    plain: bool = False
    rowwise: bool = False
    polar: bool = False
    entrywise: bool = False
    clips: bool = False
    remembered: Callable[..., tuple[Any, Any]] | None = None
    largest: Callable[..., float] | None = None
    numbers: tuple[str, ...] = ()

    @property
    def turns(self) -> bool:
        """Whether the update of turned coordinates is the turned update."""
        return self.factor is not None


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


def _short_rows(square: Float[np.ndarray, "*k p p"], c: float) -> Float[np.ndarray, "*k p p"]:
    """The diagonal of c/|g_i| where a row is longer than c, elsewhere of 1."""
    norms = np.sqrt(np.diagonal(square, axis1=-2, axis2=-1))
    return np.eye(square.shape[-1]) * (c / np.maximum(norms, c))[..., None]


def _short_whole(square: Float[np.ndarray, "*k p p"], c: float) -> Float[np.ndarray, "*k p p"]:
    """c/|G| for all rows where the gradient is longer than c, else 1; |G|^2 = trace G G^T."""
    norm = np.sqrt(np.trace(square, axis1=-2, axis2=-1))
    return _identity(square) * (c / np.maximum(norm, c))[..., None, None]


ADAM_EPSILON = 1e-8
"""What Adam adds to the root of its second moment, as libraries do: entries of a gradient are far
larger, and it keeps 0/0 from being one."""


@dataclass(frozen=True)
class Moments:
    """Running means of the gradients' entries and of their squares, after so many steps."""

    first: Float[np.ndarray, "p q"]
    second: Float[np.ndarray, "p q"]
    steps: int


def _adam(
    gradient: Any, memory: Moments | None, b1: float, b2: float
) -> tuple[Float[np.ndarray, "p q"], Moments]:
    """m/(1 - b1^t) over the root of v/(1 - b2^t), with m <- b1 m + (1 - b1) g and v of squares.

    The first step has the sign of the gradient, up to ADAM_EPSILON.  Kingma and Ba,
    arXiv 1412.6980, algorithm 1.
    """
    entries = np.asarray(gradient)
    first, second, steps = (1.0 - b1) * entries, (1.0 - b2) * entries**2, 1
    if memory is not None:
        first, second = first + b1 * memory.first, second + b2 * memory.second
        steps += memory.steps
    scale = np.sqrt(second / (1.0 - b2**steps)) + ADAM_EPSILON
    return first / (1.0 - b1**steps) / scale, Moments(first, second, steps)


def _largest_of_adam(steps: int, b1: float, b2: float) -> float:
    """The largest entry that a step of Adam may have, docs/derivations/signs.md after eq. (3)."""
    if b1 == 0:
        return math.sqrt((1.0 - b2**steps) / (1.0 - b2))
    if b2 == 0:
        return math.inf if steps > 1 else 1.0
    with np.errstate(over="ignore"):  # infinitely large is what it may be
        ratios = (b1**2 / b2) ** np.arange(steps)
    sizes = np.cumsum(ratios) * (1.0 - b2 ** np.arange(1, steps + 1)) / (1.0 - b2)
    return float(np.max(np.sqrt(sizes) * (1.0 - b1) / (1.0 - b1 ** np.arange(1, steps + 1))))


UPDATES = {
    update.name: update
    for update in (
        Update("gradient", factor=_identity, plain=True),
        Update("normalised", lambda d: 1.0, _unit_rows, rowwise=True),
        Update("orthogonal", lambda d: 1.0, _polar, polar=True),
        Update("sign", math.sqrt, direction=np.sign, entrywise=True),
        Update(
            "adam",
            math.sqrt,
            entrywise=True,
            remembered=_adam,
            largest=_largest_of_adam,
            numbers=("b1", "b2"),
        ),
        Update("clipped", factor=_short_rows, clips=True, numbers=("c",)),
        Update("clippedwhole", factor=_short_whole, clips=True, numbers=("c",)),
    )
}


class UpdateWord(Word[Update]):
    """What a step makes of the gradient."""

    kinds = UPDATES

    def __call__(self, gradient: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p q"]:
        """What the step size multiplies, of an update without memory, in coordinates that serve."""
        if self.kind.plain:
            return gradient
        if self.kind.factor is None:
            assert self.kind.direction is not None
            return self.kind.direction(gradient)
        return self.factor(gradient @ gradient.T) @ gradient

    def remembered(self, gradient: Any, memory: Any) -> tuple[Any, Any]:
        """What the step size multiplies, of an update with memory, and the memory after it."""
        assert self.kind.remembered is not None
        return self.kind.remembered(gradient, memory, *self.numbers)

    def largest_entry(self, steps: int) -> float:
        """What an entry of a step is at most, of an update that is made of single entries."""
        return 1.0 if self.kind.largest is None else self.kind.largest(steps, *self.numbers)

    def factor(self, square: Float[np.ndarray, "*k p p"]) -> Float[np.ndarray, "*k p p"]:
        """F of G G^T, for an update that turns with the coordinates."""
        assert self.kind.factor is not None
        return self.kind.factor(square, *self.numbers)
