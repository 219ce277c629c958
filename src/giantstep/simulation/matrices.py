"""What is recorded of p rows, computed where they live: in NumPy, or on an accelerator.

An accelerator's matrices are arrays of JAX, under the context of their engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.records.trajectory import DEPENDENT, span_factor

DIRECTIONS = 8
"""Leading right singular vectors of W whose overlaps with the target are kept."""

FEW = 32
"""Leading values are found by Lanczos where they are at most one in so many: a full decomposition
would take longer than the giant steps themselves."""


@dataclass(frozen=True)
class Rows:
    """A matrix of p rows and their overlaps with the target; p x p matrices only where asked for.

    ``values`` are the rows in any orthonormal coordinates, in the precision of the engine.
    """

    values: Any
    overlap: Float[np.ndarray, "p r"]

    @cached_property
    def exact(self) -> Any:
        """The rows in float64: a giant step leaves singular values of very different size."""
        return self.values.astype(np.float64)

    @cached_property
    def norms(self) -> Float[np.ndarray, " p"]:
        """Lengths of the rows."""
        return np.sqrt(np.asarray((self.exact * self.exact).sum(axis=1)))

    @cached_property
    def gram(self) -> Any:
        """W W^T."""
        return self.exact @ self.exact.T

    @cached_property
    def fewest(self) -> Rows:
        """As few rows as there are columns, with the same span and the same singular values.

        W = O R with orthonormal columns O: R has what W has, up to a rotation of the rows.
        """
        p, q = self.values.shape
        if p <= q:
            return self
        columns, triangle = self.exact.__array_namespace__().linalg.qr(self.exact)
        return Rows(triangle, np.asarray(columns.T @ self.overlap))


def singular_values(gram: Any, count: int) -> Float[np.ndarray, " m"]:
    """Leading roots of the eigenvalues of G G^T, largest first."""
    if count * FEW <= len(gram):
        return _roots(_leading(gram, count)[0])
    return _roots(np.asarray(gram.__array_namespace__().linalg.eigvalsh(gram))[::-1][:count])


def leading_overlaps(
    gram: Any, overlap: Float[np.ndarray, "p r"], count: int = DIRECTIONS
) -> Float[np.ndarray, "k r"]:
    """|<v_k, w*_j>| = |u_k . (W w*_j)| / s_k, from W W^T = sum s_k^2 u_k u_k^T.

    Directions in which the rows have no length (beyond their rank) have overlap 0.
    """
    if len(gram) <= 4 * count:
        values, vectors = np.linalg.eigh(np.asarray(gram))
        return _overlaps(values[: -count - 1 : -1], vectors[:, : -count - 1 : -1], overlap)
    return _overlaps(*_leading(gram, count), overlap)


def row_spectrum(
    gram: Any, overlap: Float[np.ndarray, "p r"], most: int, count: int = DIRECTIONS
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "k r"]]:
    """Leading singular values of W, and leading overlaps: of one decomposition where one serves."""
    if max(most, count) * FEW > len(gram):
        return singular_values(gram, most), leading_overlaps(gram, overlap, count)
    values, vectors = _leading(gram, max(most, count))
    return _roots(values[:most]), _overlaps(values[:count], vectors[:, :count], overlap)


def _roots(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    return np.sqrt(np.maximum(values, 0.0))


def _overlaps(
    values: Float[np.ndarray, " k"],
    vectors: Float[np.ndarray, "p k"],
    overlap: Float[np.ndarray, "p r"],
) -> Float[np.ndarray, "k r"]:
    along = np.abs(vectors.T @ overlap)
    present = values[:, None] > DEPENDENT * values[0]
    roots = np.sqrt(np.where(present, values[:, None], 1.0))
    return np.divide(along, roots, where=present, out=0 * along)


def _leading(gram: Any, count: int) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "p k"]]:
    """Largest eigenvalues in decreasing order and their vectors, by Lanczos on the host."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    if not bool((gram - gram == 0).all()):
        raise np.linalg.LinAlgError("not finite")
    p, start = len(gram), np.random.default_rng(0).standard_normal(len(gram))
    product = LinearOperator((p, p), matvec=lambda v: np.asarray(gram @ v.ravel()), dtype=float)
    values, vectors = eigsh(product, count, v0=start)
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def rows_span(
    overlap: Float[np.ndarray, "p r"], gram: Any, longest: float
) -> Float[np.ndarray, "r r"]:
    """R with R^T R = M^T Q^+ M, M = W W*^T and Q = W W^T.

    On an accelerator, where no rows are dependent, from Q = L L^T: the part of R that is not
    orthogonal is QR's triangle of L^-1 M.  Else, with some thirty times the operations, from the
    eigenvectors of Q = U diag(s^2) U^T: that of diag(1/s) U^T M.  Rows and s^2 count above the
    share DEPENDENT of ``longest``, the squared length of the longest neuron.
    """
    if isinstance(gram, np.ndarray):
        return span_factor(overlap, gram, longest)
    from jax.scipy.linalg import solve_triangular

    linalg = gram.__array_namespace__().linalg
    lower = linalg.cholesky(gram)
    # Squared lengths of the rows outside those before them; NaN where rounding made one negative.
    outside = np.asarray(lower.diagonal()) ** 2
    if np.all(outside > DEPENDENT * longest):
        seen = np.asarray(solve_triangular(lower, overlap, lower=True))
    else:
        values, vectors = linalg.eigh(gram)
        values, along = np.asarray(values), np.asarray(vectors.T @ overlap)
        there = values > DEPENDENT * longest
        seen = along[there] / np.sqrt(values[there])[:, None]
    factor = np.zeros((overlap.shape[1],) * 2)
    reduced = np.linalg.qr(seen, mode="r")
    factor[: len(reduced)] = reduced
    return factor
