"""Rows in coordinates that are never formed: standardised columns times a matrix.

Only the standardised columns S are held, in float32 where they are many; principal and white
coordinates are S T, and a product with them is S (T B) or T^T (S^T A).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from giantstep.estimator.blocks import blocks

Index = slice | Int[np.ndarray, " k"]


@dataclass(frozen=True)
class Turn:
    """T = V diag(gains), or with a gain outside V: V diag(gains) V^T + outside (1 - V V^T).

    The first maps d columns to as many coordinates as V has columns; the second, the leading part
    and a number, keeps all d.
    """

    vectors: Float[np.ndarray, "d v"]
    gains: Float[np.ndarray, " v"]
    outside: float = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and coordinates."""
        d, v = self.vectors.shape
        return d, d if self.outside else v

    @cached_property
    def _scaled(self) -> Float[np.ndarray, "d v"]:
        return self.vectors * (self.gains - self.outside)

    def __matmul__(self, b: Float[np.ndarray, "c q"]) -> Float[np.ndarray, "d q"]:
        """T B: directions in coordinates as weights of the columns."""
        if not self.outside:
            return self._scaled @ b
        return self.outside * b + self._scaled @ (self.vectors.T @ b)

    def adjoint(self, g: Float[np.ndarray, "d q"]) -> Float[np.ndarray, "c q"]:
        """T^T G."""
        return self @ g if self.outside else self._scaled.T @ g


def no_turn(d: int) -> Turn:
    """The columns themselves."""
    return Turn(np.zeros((d, 0)), np.zeros(0), 1.0)


@dataclass(frozen=True)
class Turned:
    """The matrix S T (1 - U U^T) of n rows; U has no columns unless directions were taken out."""

    columns: Float[np.ndarray, "n d"]
    turn: Turn
    basis: Float[np.ndarray, "c k"] = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and coordinates."""
        return len(self.columns), self.turn.shape[1]

    def without(self, basis: Float[np.ndarray, "c k"]) -> Turned:
        """These rows with the directions of a span taken out."""
        return Turned(self.columns, self.turn, basis)

    def single(self) -> Turned:
        """These rows in float32, whose products take half the time; formed if they are a block."""
        if len(list(blocks(*self.shape))) == 1:
            return plain(self.dense(slice(None)).astype(np.float32))
        return replace(self, columns=self.columns.astype(np.float32, copy=False))

    def _apart(self, b: Float[np.ndarray, "c q"]) -> Float[np.ndarray, "c q"]:
        return b - self.basis @ (self.basis.T @ b) if self.basis.size else b

    def weights(self, b: Float[np.ndarray, "c q"]) -> Float[np.ndarray, "d q"]:
        """Directions as weights of the columns, in the type of these."""
        return (self.turn @ self._apart(b)).astype(self.columns.dtype, copy=False)

    def __matmul__(self, b: Float[np.ndarray, "c q"]) -> Float[np.ndarray, "n q"]:
        """Coordinates of all rows along directions."""
        return (self.columns @ self.weights(b)).astype(float, copy=False)

    def adjoint(self, a: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "c q"]:
        """The transpose times A: sums over rows, in float64 from block to block."""
        total = np.zeros((self.columns.shape[1], a.shape[1]))
        for block in blocks(len(a), self.columns.shape[1]):
            part = self.columns[block]
            total += part.T @ a[block].astype(part.dtype, copy=False)
        return self._apart(self.turn.adjoint(total))

    def gram(self, weight: Float[np.ndarray, " n"]) -> Float[np.ndarray, "c c"]:
        """The transpose times diag(weight) times itself."""
        d = self.columns.shape[1]
        total = np.zeros((d, d))
        for block in blocks(len(weight), d):
            part = self.columns[block]
            total += (part * weight[block, None].astype(part.dtype, copy=False)).T @ part
        half = self.turn.adjoint(total)
        return self._apart(self._apart(self.turn.adjoint(half.T)).T)

    def dense(self, index: Index) -> Float[np.ndarray, "b c"]:
        """Some rows, formed."""
        part = self.columns[index].astype(float)
        return self._apart(self.turn.adjoint(part.T)).T


def plain(columns: Float[np.ndarray, "n d"]) -> Turned:
    """A matrix as it is."""
    return Turned(columns, no_turn(columns.shape[1]))


@dataclass(frozen=True)
class Coordinates:
    """Rows as standardised columns, as principal coordinates of these, and whitened."""

    columns: Float[np.ndarray, "n d"]
    to_principal: Turn
    to_white: Turn

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def standard(self) -> Turned:
        """The columns."""
        return plain(self.columns)

    @property
    def principal(self) -> Turned:
        """Principal coordinates; the columns themselves where there are too many."""
        return Turned(self.columns, self.to_principal)

    @property
    def soft_inputs(self) -> tuple[Turned, Turned]:
        """Inputs of the soft models: one for all directions, one by column.

        The first are principal coordinates where these are fewer than the columns, which have the
        same distances of the rows and need no turn.
        """
        fewer = self.to_principal.shape[1] < self.columns.shape[1]
        return self.principal if fewer else self.standard, self.standard

    @property
    def white(self) -> Turned:
        """Whitened coordinates."""
        return Turned(self.columns, self.to_white)

    def take(self, index: Index) -> Coordinates:
        """Some of the rows; those of a slice are not copied."""
        return Coordinates(self.columns[index], self.to_principal, self.to_white)
