"""Gaussian vectors in R^d by their coordinates in the basis they span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float


def bartlett(rng: np.random.Generator, k: int, m: int) -> Float[np.ndarray, "k k"]:
    """Coordinates of k independent N(0, I_m) vectors, k <= m, in the basis they span.

    Lower triangular: normals below the diagonal, chi with m - j degrees of freedom on it.
    """
    lower = np.tril(rng.standard_normal((k, k)), -1)
    return lower + np.diag(np.sqrt(rng.chisquare(m - np.arange(k))))


def root(matrix: Float[np.ndarray, "k k"]) -> Float[np.ndarray, "k k"]:
    """S with S S^T = matrix, for a positive matrix that rounding may have made singular."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def compressed(rows: Float[np.ndarray, "p q"], r: int) -> Float[np.ndarray, "p k"]:
    """The same rows in a basis of at most r + p vectors, the first r unchanged."""
    p, q = rows.shape
    if q <= r + p:
        return rows
    rest: Any = np.linalg.qr(rows[:, r:].T, mode="r")
    return np.concatenate([rows[:, :r], rest.T], axis=1)


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
        lengths: Callable[[int], Float[np.ndarray, "k k"]],
        normals: Callable[[int], Float[np.ndarray, "n k"]],
    ) -> Known:
        """What is known once the combinations sum_mu c_mu x_mu are: c^T Z in its coordinates.

        With U an orthonormal basis of c outside V, the k vectors U^T x, less their known part, are
        N(0, I_(d-q)): the rows of L (``lengths``, Bartlett's matrix) in a basis of their own.  Z
        gains the components U L + (1 - V V^T) E along it, V now with U, E (``normals``) what
        samples have there that no combination has told of (docs/derivations/deferred.md).
        """
        u, values, _ = np.linalg.svd(_outside(self.used, c), full_matrices=False)
        # Directions below rounding of the coefficients themselves are not new.
        new = u[:, values > 1e-12 * max(float(np.linalg.norm(c)), 1e-300)]
        k = new.shape[1]
        along = new @ lengths(k)
        used = np.concatenate([self.used, new], axis=1)
        return Known(np.concatenate([self.data, along + _outside(used, normals(k))], axis=1), used)


def _outside(used: Float[np.ndarray, "n m"], c: Float[np.ndarray, "n k"]) -> Any:
    """(1 - V V^T) c, twice for orthogonality to rounding."""
    for _ in range(2):
        c = c - used @ (used.T @ c)
    return c
