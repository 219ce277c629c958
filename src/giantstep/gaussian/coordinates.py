"""Gaussian vectors in R^d by their coordinates in the basis they span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import NULL_DIRECTION


def bartlett(rng: np.random.Generator, k: int, m: int) -> Float[np.ndarray, "k j"]:
    """Coordinates of k independent N(0, I_m) vectors in the basis they span, j = min(k, m) of them.

    Lower triangular: normals below the diagonal, chi with m - j degrees of freedom on it.
    """
    spanned = np.arange(min(k, m))
    lower = np.tril(rng.standard_normal((k, len(spanned))), -1)
    lower[spanned, spanned] = np.sqrt(rng.chisquare(m - spanned))
    return lower


def root(matrix: Float[np.ndarray, "k k"], null: float = 0.0) -> Float[np.ndarray, "k k"]:
    """S with S S^T = matrix, for a positive matrix that rounding may have made singular.

    Eigenvalues of at most ``null`` times the largest are rounding, and taken for 0.
    """
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.where(values > null * values[-1], np.maximum(values, 0.0), 0.0))


def compressed(rows: Float[np.ndarray, "p q"], r: int) -> Float[np.ndarray, "p k"]:
    """The same rows in a basis of at most r + p vectors, the first r unchanged."""
    p, q = rows.shape
    if q <= r + p:
        return rows
    remaining: Any = np.linalg.qr(rows[:, r:].T, mode="r")
    return np.concatenate([rows[:, :r], remaining.T], axis=1)


def widened(rows: Float[np.ndarray, "p q"], columns: int) -> Float[np.ndarray, "p k"]:
    """The same rows in a basis of so many vectors, which begins with their own."""
    grown = np.zeros((len(rows), columns))
    grown[:, : rows.shape[1]] = rows
    return grown


@dataclass(frozen=True)
class Known:
    """What is known of n Gaussian samples x_mu: their components along a few directions.

    ``data`` (Z) are these components, ``used`` (V) orthonormal coefficient vectors: the directions
    known beyond the first are those of the combinations sum_mu c_mu x_mu formed so far.
    """

    data: Float[np.ndarray, "n q"]
    used: Float[np.ndarray, "n m"]

    @classmethod
    def at_first(cls, data: Float[np.ndarray, "n q"]) -> Known:
        """Components along directions that were chosen without looking at the samples."""
        return cls(data, np.zeros((len(data), 0)))

    def reveal(
        self,
        c: Float[np.ndarray, "n j"],
        lengths: Callable[[int], Float[np.ndarray, "k j"]],
        normals: Callable[[int], Float[np.ndarray, "n j"]],
    ) -> Known:
        """What is known once the combinations sum_mu c_mu x_mu are: c^T Z in its coordinates.

        With U an orthonormal basis of c outside V, the k vectors U^T x, less their known part, are
        N(0, I_(d-q)): the rows of L (``lengths``, Bartlett's matrix) in a basis of their own.  Z
        gains the components U L + (1 - V V^T) E along it, V now with U, E (``normals``) what
        samples have there that no combination has told of (docs/derivations/deferred.md).

        docs/derivations/deferred.md, eq. (4).
        """
        new = self._orthonormal(c)
        along = new @ lengths(new.shape[1])
        used = np.concatenate([self.used, new], axis=1)
        e = normals(along.shape[1])
        return Known(np.concatenate([self.data, along + e - used @ (used.T @ e)], axis=1), used)

    def _orthonormal(self, c: Float[np.ndarray, "n j"]) -> Float[np.ndarray, "n k"]:
        """A basis of what c has outside V: from its Gram matrix, twice for orthogonality."""
        least = max(NULL_DIRECTION * float(np.sum(c**2)), np.finfo(float).tiny)
        c = c - self.used @ (self.used.T @ c)
        values, vectors = np.linalg.eigh(c.T @ c)
        kept = values > least
        c = c @ (vectors[:, kept] / np.sqrt(values[kept]))
        c = c - self.used @ (self.used.T @ c)
        values, vectors = np.linalg.eigh(c.T @ c)
        # The symmetric root: of what is all but orthonormal, it is all but the identity.
        return c @ ((vectors / np.sqrt(values)) @ vectors.T)
