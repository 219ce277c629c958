"""The directions that two steps have learned: eigenfunctions of the kernel of the update.

K(u, u') = R(u).R(u') = sum_k theta_k^2 phi_k(u) phi_k(u') under the law of the readout u, hence
R(u) = sum_k theta_k phi_k(u) v_k with orthonormal v_k in input space, and v_k.w* follows from R.w*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.second_kernel import RowUpdate

NEGLIGIBLE = 1e-8
"""Strength of a direction relative to the first, squared, below which it is rounding."""


@dataclass(frozen=True)
class Directions:
    """Orthonormal v_1 .. v_k, strongest first.

    ``along`` -> R(u).v_k at the nodes of u; ``target`` -> v_k.w*_j; ``network`` -> v_k.g.
    """

    along: Float[np.ndarray, "q k"]
    target: Float[np.ndarray, "k r"]
    network: Float[np.ndarray, " k"]


def directions_of(update: RowUpdate, weights: Float[np.ndarray, " q"]) -> Directions:
    """All directions of an update, ``weights`` those of the law of u.

    One of no length, orthogonal to the target, where nothing has moved.
    """
    root = np.sqrt(weights)
    squares, vectors = np.linalg.eigh(root[:, None] * update.kernel * root)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    largest = max(float(squares[0]), np.finfo(float).tiny)
    kept = squares > NEGLIGIBLE * largest
    kept[0] = True
    theta = np.sqrt(np.maximum(squares[kept], NEGLIGIBLE * largest))
    # v_k = sum_u weight phi_k(u) R(u) / theta_k
    shares = vectors[:, kept] * root[:, None] / theta
    return Directions(
        along=vectors[:, kept] * theta / root[:, None],
        target=shares.T @ update.target,
        network=shares.T @ update.network,
    )


def between(
    nodes: Float[np.ndarray, " q"], values: Float[np.ndarray, "q *k"], u: Float[np.ndarray, " p"]
) -> Float[np.ndarray, "p *k"]:
    """Values at u of a smooth function given at the nodes; two nodes are the signs themselves."""
    if len(nodes) == 2:
        return values[(u > nodes.mean()).astype(int)]
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(nodes, values)(np.clip(u, nodes[0], nodes[-1])))
