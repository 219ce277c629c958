"""Subspaces of the target directions: decided by singular values, described in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import BASIS, VANISHING
from giantstep.gaussian.tensors import RELEVANT, noise_bound
from giantstep.records.plain import fields_of


@dataclass(frozen=True)
class Decision:
    """The singular values, relative to the target's standard deviation, that decided a rank.

    ``bound`` is what a direction that was not found may still have (0 where symmetry or exact
    algebra proves that there is none); ``undecided`` counts the directions for which that bound is
    too large to call them absent.
    """

    smallest_kept: float | None
    largest_dropped: float | None
    tolerance: float
    bound: float = 0.0
    undecided: int = 0

    @property
    def near_tie(self) -> bool:
        """Whether a value lies within a factor 1000 of the tolerance, on either side.

        A value with a bound of its own is noise, or beyond the series: the bound says it all.
        """
        kept = self.smallest_kept is not None and self.smallest_kept < 1e3 * self.tolerance
        dropped = self.largest_dropped is not None and self.largest_dropped > 1e-3 * self.tolerance
        return kept or (dropped and not self.bound)

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return fields_of(self) | {"near_tie": self.near_tie}


@dataclass(frozen=True)
class Evidence:
    """A matrix whose row space is sought, its replicates after it, and what is below rounding."""

    matrices: Float[np.ndarray, "c rows r"]
    tolerance: float


def decide(
    evidence: Sequence[Evidence],
    possible: Float[np.ndarray, "_ r"],
    truncation: float,
    slack: float = 0.0,
) -> tuple[Float[np.ndarray, "_ r"], Decision, float]:
    """Directions that some matrix surely has, what is left open, and how far noise tilts them.

    Each matrix is asked, in turn, for directions beyond those found before: its singular values
    must exceed its rounding and its own noise.  ``possible`` spans what noise and truncation could
    hide (symmetry rules out the rest), ``truncation`` bounds the singular values of rows beyond the
    series, ``slack`` those that an earlier tilt of the subspace may feign.
    """
    r = possible.shape[1]
    basis, kept = np.zeros((0, r)), []
    tilt = 0.0
    # Largest singular value and noise of a matrix, and the dimension beyond which they were taken.
    measured: list[tuple[float, float, int]] = []
    for item in evidence:
        matrices = _outside(item.matrices, basis)
        if not matrices[0].size:
            continue
        _, values, rows = np.linalg.svd(matrices[0], full_matrices=False)
        noise = noise_bound(matrices)
        measured.append((float(values[0]), noise, len(basis)))
        rank = int(np.sum(values > max(item.tolerance, noise) + slack))
        if rank:
            basis = orthonormal(np.concatenate([basis, rows[:rank]]))
            kept += values[:rank].tolist()
            doubt = noise_bound(_outside(item.matrices, basis))
            tilt = max(tilt, doubt / float(values[rank - 1]))
    dropped, bound = 0.0, truncation
    tolerance = max((item.tolerance for item in evidence), default=0.0)
    listed = [item.matrices for item in evidence if item.matrices[0].size]
    for matrices, (top, noise, dimension) in zip(listed, measured, strict=True):
        if dimension < len(basis):
            left_over = _outside(matrices, basis)
            top, noise = float(np.linalg.norm(left_over[0], 2)), noise_bound(left_over)
        dropped, bound = max(dropped, top), max(bound, top + noise if noise else 0.0)
    # Possible directions beyond those found, which noise may have tilted.
    beyond = possible - possible @ basis.T @ basis
    sines = np.linalg.svd(beyond, compute_uv=False) if beyond.size else np.zeros(0)
    left = int(np.sum(sines > max(BASIS, min(3.0 * tilt, 0.5))))
    open_ = left if bound > RELEVANT else 0
    decision = Decision(
        smallest_kept=min(kept) if kept else None,
        largest_dropped=dropped if len(basis) < r else None,
        tolerance=tolerance,
        bound=bound if left else 0.0,
        undecided=open_,
    )
    return basis, decision, tilt


def _outside(
    matrices: Float[np.ndarray, "c rows r"], basis: Float[np.ndarray, "_ r"]
) -> Float[np.ndarray, "c rows r"]:
    return matrices - matrices @ basis.T @ basis if len(basis) else matrices


def snap(basis: Float[np.ndarray, "_ r"], tilt: float) -> Float[np.ndarray, "_ r"]:
    """The subspace without the entries that noise of the given tilt may have put there.

    The tilt is a bound, several standard errors: what exceeds it is there.
    """
    if tilt <= BASIS or len(basis) == basis.shape[1]:
        return basis
    rows = echelon(basis, tilt)
    return orthonormal(np.where(np.abs(rows) > tilt, rows, 0.0))


def row_space(
    matrix: Float[np.ndarray, "_ r"], tolerance: float = BASIS
) -> Float[np.ndarray, "_ r"]:
    """Orthonormal basis of the rows whose singular values exceed ``tolerance``."""
    if not matrix.size:
        return matrix[:0]
    _, values, rows = np.linalg.svd(matrix, full_matrices=False)
    return rows[: int(np.sum(values > tolerance))]


def echelon(basis: Float[np.ndarray, "_ r"], smallest: float = BASIS) -> Float[np.ndarray, "_ r"]:
    """Reduced row echelon form: the sparsest simple spanning set, x2 and x3 for their plane."""
    rows = np.array(basis, dtype=float)
    lead = 0
    for column in range(rows.shape[1]):
        if lead == len(rows):
            break
        pivot = lead + int(np.argmax(np.abs(rows[lead:, column])))
        # Orthonormal rows have entries of order one: a smaller pivot is rounding.
        if abs(rows[pivot, column]) < smallest:
            continue
        rows[[lead, pivot]] = rows[[pivot, lead]]
        rows[lead] /= rows[lead, column]
        others = np.arange(len(rows)) != lead
        rows[others] -= np.outer(rows[others, column], rows[lead])
        lead += 1
    return rows


def orthonormal(vectors: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "_ r"]:
    """Gram-Schmidt in the given order, signs kept, dependent vectors dropped."""
    count, r = vectors.shape
    basis, size = np.zeros((min(count, r), r)), 0
    for vector in vectors:
        if size == r:
            break
        remainder = vector
        for _ in range(2):  # twice is enough for orthogonality to rounding
            remainder = remainder - (basis[:size] @ remainder) @ basis[:size]
        norm = float(np.linalg.norm(remainder))
        if norm > BASIS * float(np.linalg.norm(vector)):
            basis[size] = remainder / norm
            size += 1
    return basis[:size]


def tidy(basis: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "_ r"]:
    """An orthonormal basis of the same space that is sparse where the space allows it."""
    count, r = basis.shape
    return np.eye(r) if count == r else orthonormal(echelon(basis))


def completed(basis: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "r r"]:
    """Orthonormal basis of everything, beginning with ``basis`` and close to the coordinates."""
    count, r = basis.shape
    if count in (0, r):
        return basis if count else np.eye(r)
    return orthonormal(np.concatenate([basis, np.eye(basis.shape[1])]))


def span(*bases: Float[np.ndarray, "_ r"]) -> Float[np.ndarray, "_ r"]:
    """Tidy orthonormal basis of the sum of subspaces given by orthonormal bases."""
    return tidy(row_space(np.concatenate(bases)))


def name_list(basis: Float[np.ndarray, "k r"]) -> str:
    """The directions of a subspace in a sentence: x1, x2 and x3."""
    names = name_space(basis)
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]


def name_vector(vector: Float[np.ndarray, " r"]) -> str:
    """A direction in words: ``x1 - x2``, ``2*x1 + x3``, or decimals where nothing simple fits."""
    scale = vector[np.argmax(np.abs(vector) > VANISHING)]
    ratios = vector / scale
    simple = [Fraction(float(value)).limit_denominator(12) for value in ratios]
    if all(abs(float(f) - v) < VANISHING for f, v in zip(simple, ratios, strict=True)):
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
