"""How many samples the best first-order method needs for a first grip on the directions.

With G(y) = E[z z^T - 1 | y] and E[z | y] = 0, weak recovery of some direction needs n > alpha_c d,

    1/alpha_c = largest eigenvalue of M -> E_y[G(y) M G(y)]     (symmetric M),

and where E[z | y] != 0 any alpha > 0 will do (Troiani et al., arXiv 2405.15480).  Checks:
x1^2 has alpha_c = 1/2, sign(x1 x2) has pi^2/4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

BINS = 256
"""Slices of the label with equal numbers of points; half as many tell what slicing costs."""


@dataclass(frozen=True)
class WeakRecovery:
    """alpha_c = n/d at which weak recovery begins: 0 if trivial, infinite if G = 0."""

    threshold: float
    uncertainty: float


def weak_recovery(
    points: Float[np.ndarray, "s n r"], labels: Float[np.ndarray, "s n"]
) -> WeakRecovery:
    """alpha_c for a label with E[z | y] = 0, from points of N(0, I) in independent sets."""
    half = len(points) // 2
    fine, coarse = (
        np.array([_kernel(points[a::half], labels[a::half], bins) for a in range(half)])
        for bins in (BINS, BINS // 2)
    )
    inverse, other = (float(np.linalg.eigvalsh(k.mean(axis=0))[-1]) for k in (fine, coarse))
    # An eigenvalue moves by no more than the norm of the noise.
    deviations = np.linalg.norm(fine - fine.mean(axis=0), 2, axis=(1, 2))
    noise = math.sqrt(float(np.mean(deviations**2)) / (half - 1))
    # Slicing can only lose: halving the slices again would gain about what the last did.
    doubt = 3.0 * noise + abs(inverse - other)
    if inverse <= doubt:
        return WeakRecovery(math.inf, math.inf)
    return WeakRecovery(1.0 / inverse, doubt / inverse**2)


def _kernel(
    points: Float[np.ndarray, "two n r"], labels: Float[np.ndarray, "two n"], bins: int
) -> Float[np.ndarray, "m m"]:
    """M -> E[G M G] as a matrix, one G from each of two independent sets: noise of mean zero."""
    r = points.shape[2]
    edges = np.quantile(labels, np.arange(1, bins) / bins)
    curves, weights = [], []
    for x, y in zip(points, labels, strict=True):
        at = np.searchsorted(edges, y)
        count = np.bincount(at, minlength=bins)
        total = np.array(
            [[np.bincount(at, x[:, i] * x[:, j], bins) for j in range(r)] for i in range(r)]
        )
        curves.append((total / np.maximum(count, 1)).transpose(2, 0, 1) - np.eye(r))
        curves[-1][count == 0] = 0.0
        weights.append(count / len(y))
    share = 0.5 * (weights[0] + weights[1])
    # Of size r^2, symmetrised over the two sets.
    kernel = np.einsum("b,bij,bkl->iljk", share, curves[0], curves[1]).reshape(r * r, r * r)
    return 0.5 * (kernel + kernel.T)
