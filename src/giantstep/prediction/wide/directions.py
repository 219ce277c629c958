"""The directions along which giant steps move rows: eigenfunctions of the kernel R(u).R(u').

K(u, u') = R(u).R(u') = sum_k theta_k^2 phi_k(u) phi_k(u'), hence R(u) = sum_k theta_k phi_k(u) v_k
with orthonormal v_k.  Derivation: docs/derivations/two_step.md, "Rows, features and readout".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Directions:
    """Orthonormal v_1 .. v_k, strongest first.

    ``squares`` -> theta_k^2, ``along`` -> R(u).v_k at the nodes of u; ``overlap`` -> v_k.c_j, where
    the c_j are the vectors whose inner products with R(u) are known.
    """

    squares: Float[np.ndarray, " k"]
    along: Float[np.ndarray, "q k"]
    overlap: Float[np.ndarray, "k c"]

    def first(self, count: int) -> Directions:
        """The strongest ones."""
        return Directions(self.squares[:count], self.along[:, :count], self.overlap[:count])


def directions_of(
    kernel: Float[np.ndarray, "q q"],
    known: Float[np.ndarray, "q c"],
    weights: Float[np.ndarray, " q"],
    negligible: float = 1e-8,
) -> Directions:
    """The directions of an update: ``known`` -> R(u).c_j, ``weights`` those of the law of u.

    v_k.c_j follows from R.c_j.  Squares below ``negligible`` times the largest are rounding; where
    nothing has moved there is one direction of no length, orthogonal to all that is known.
    """
    root = np.sqrt(weights)
    squares, vectors = np.linalg.eigh(root[:, None] * kernel * root)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    least = negligible * max(float(squares[0]), np.finfo(float).tiny)
    kept = squares > least
    kept[0] = True
    squares = np.maximum(squares[kept], least)
    theta = np.sqrt(squares)
    # v_k = sum_u weight phi_k(u) R(u) / theta_k
    shares = vectors[:, kept] * root[:, None] / theta
    return Directions(squares, vectors[:, kept] * theta / root[:, None], shares.T @ known)
