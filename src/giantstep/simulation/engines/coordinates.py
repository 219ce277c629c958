"""Gaussian vectors in R^d by their coordinates in the basis they span."""

from __future__ import annotations

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
