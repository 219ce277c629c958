"""Subspaces of the target directions: decided by singular values, described in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Decision:
    """The singular values, relative to the target's standard deviation, that decided a rank."""

    smallest_kept: float | None
    largest_dropped: float | None
    tolerance: float

    @property
    def near_tie(self) -> bool:
        """Whether a value lies within a factor 1000 of the tolerance, on either side."""
        kept = self.smallest_kept is not None and self.smallest_kept < 1e3 * self.tolerance
        dropped = self.largest_dropped is not None and self.largest_dropped > 1e-3 * self.tolerance
        return kept or dropped


def row_space(
    matrix: Float[np.ndarray, "_ r"], tolerance: float
) -> tuple[Float[np.ndarray, "_ r"], Decision]:
    """Orthonormal basis of the rows whose singular values exceed ``tolerance``."""
    r = matrix.shape[1]
    if not len(matrix) or r == 0:
        return np.zeros((0, r)), Decision(None, 0.0 if r else None, tolerance)
    _, values, rows = np.linalg.svd(matrix, full_matrices=False)
    rank = int(np.sum(values > tolerance))
    dropped = values[rank:]
    return rows[:rank], Decision(
        float(values[rank - 1]) if rank else None,
        None if rank == r else float(dropped[0]) if len(dropped) else 0.0,
        tolerance,
    )


def echelon(basis: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "_ r"]:
    """Reduced row echelon form: the sparsest simple spanning set, x2 and x3 for their plane."""
    rows = np.array(basis, dtype=float)
    lead = 0
    for column in range(rows.shape[1]):
        if lead == len(rows):
            break
        pivot = lead + int(np.argmax(np.abs(rows[lead:, column])))
        # Orthonormal rows have entries of order one: below 1e-7 a pivot is rounding.
        if abs(rows[pivot, column]) < 1e-7:
            continue
        rows[[lead, pivot]] = rows[[pivot, lead]]
        rows[lead] /= rows[lead, column]
        others = np.arange(len(rows)) != lead
        rows[others] -= np.outer(rows[others, column], rows[lead])
        lead += 1
    return rows


def orthonormal(vectors: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "_ r"]:
    """Gram-Schmidt in the given order, signs kept, dependent vectors dropped."""
    basis: list[Float[np.ndarray, " r"]] = []
    for vector in vectors:
        rest = vector
        for _ in range(2):  # twice is enough for orthogonality to rounding
            for q in basis:
                rest = rest - (rest @ q) * q
        norm = float(np.linalg.norm(rest))
        if norm > 1e-7 * float(np.linalg.norm(vector)):
            basis.append(rest / norm)
    return np.array(basis).reshape(len(basis), vectors.shape[1])


def tidy(basis: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "_ r"]:
    """An orthonormal basis of the same space that is sparse where the space allows it."""
    return orthonormal(echelon(basis))


def completed(basis: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "r r"]:
    """Orthonormal basis of everything, beginning with ``basis`` and close to the coordinates."""
    return orthonormal(np.concatenate([basis, np.eye(basis.shape[1])]))


def span(*bases: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "_ r"]:
    """Tidy orthonormal basis of the sum of subspaces given by orthonormal bases."""
    rows, _ = row_space(np.concatenate(bases), 1e-7)
    return tidy(rows)


def name_vector(vector: Float[np.ndarray, " r"]) -> str:
    """A direction in words: ``x1 - x2``, ``2*x1 + x3``, or decimals where nothing simple fits."""
    scale = vector[np.argmax(np.abs(vector) > 1e-9)]
    ratios = vector / scale
    simple = [Fraction(float(value)).limit_denominator(12) for value in ratios]
    if all(abs(float(f) - v) < 1e-9 for f, v in zip(simple, ratios, strict=True)):
        common = math.lcm(*(f.denominator for f in simple))
        weights: list[float | int] = [int(f * common) for f in simple]
        divisor = math.gcd(*(abs(int(w)) for w in weights))
        weights = [int(w) // divisor for w in weights]
    else:
        largest = float(np.max(np.abs(vector)))
        weights = [round(float(v) / largest, 3) for v in vector]
    text = ""
    for k, weight in enumerate(weights):
        if weight:
            sign = "-" if weight < 0 else "+" if text else ""
            size = "" if abs(weight) == 1 else f"{abs(weight):g}*"
            text += f" {sign} {size}x{k + 1}" if text else f"{sign}{size}x{k + 1}"
    return text


def name_space(basis: Float[np.ndarray, "_ r"]) -> list[str]:
    """The directions of a subspace in words, one for each dimension."""
    return [name_vector(row) for row in echelon(basis)]
