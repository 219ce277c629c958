"""Scales of the rows and columns of a noise matrix: do they differ, and by how much.

The noise has independent entries of variance proportional to a_i b_j.  Whether the a_i differ is
the analysis of variance of the squared entries by rows, whose sampling needs no Gaussian entries:
with q_i the mean square of row i,

    F = n var_i(q_i) / (mean over i of the variance of the squares in row i)

is 1 on average where all rows have one scale.  Where it is too large for that,
a_i = 1 + (1 - 1/F) (q_i/mean q - 1), of which the part 1/F that sampling explains is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Scales:
    """Variances a_i of the rows and b_j of the columns, each of mean one."""

    rows: Float[np.ndarray, " m"]
    columns: Float[np.ndarray, " n"]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.rows), len(self.columns)

    @property
    def equal(self) -> bool:
        """Whether all entries have one variance."""
        return not any(self.differing)

    @property
    def differing(self) -> tuple[bool, bool]:
        """Whether the rows, and whether the columns, have scales of their own."""
        return bool(np.ptp(self.rows) > 0), bool(np.ptp(self.columns) > 0)

    def resized(self, m: int, n: int) -> Scales:
        """These distributions of scales on other numbers of rows and columns."""
        return Scales(_resized(self.rows, m), _resized(self.columns, n))

    @property
    def deviations(self) -> Float[np.ndarray, "m n"]:
        """Standard deviations sqrt(a_i b_j)."""
        return np.sqrt(self.rows[:, None] * self.columns)


def fitted_scales(
    noise: Float[np.ndarray, "m n"], rows: bool = True, columns: bool = True
) -> Scales:
    """Scales of a matrix of pure noise: ones where they do not differ, or are not asked for.

    Rows and columns that hold nothing but nan are unknown and get one.
    """
    squares, (m, n) = noise**2, noise.shape
    finite = np.isfinite(squares)
    there = finite.any(axis=1), finite.any(axis=0)
    squares = squares[np.ix_(*there)]
    scales = Scales(np.ones(m), np.ones(n))
    if rows:
        scales.rows[there[0]] = _fitted(squares)
    if columns:
        scales.columns[there[1]] = _fitted(squares.T)
    return scales


def _fitted(squares: Float[np.ndarray, "m n"], level: float = 1e-3) -> Float[np.ndarray, " m"]:
    """Scales of the rows; ones where Gaussian rows of one scale differ as much at this level.

    Nothing hangs on a false alarm: the scales then fitted differ by sampling only.

    docs/derivations/layer.md, eq. (3).
    """
    from scipy.stats import f

    m, n = squares.shape
    means = squares.mean(axis=1)
    within = float(np.sum((squares - means[:, None]) ** 2)) / (m * (n - 1))
    between = n * float(np.var(means, ddof=1))
    if between <= within * float(f.isf(level, m - 1, m * (n - 1))):
        return np.ones(m)
    return np.asarray(1.0 + (1.0 - within / between) * (means / means.mean() - 1.0))


def _resized(scales: Float[np.ndarray, " m"], size: int) -> Float[np.ndarray, " size"]:
    """As many of the sorted scales, least and largest included: the largest decide the edge."""
    if size == len(scales):
        return scales
    kept = np.sort(scales)[np.linspace(0, len(scales) - 1, size).round().astype(int)]
    return np.asarray(kept / kept.mean())
