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


@dataclass(frozen=True)
class WeakRecovery:
    """alpha_c = n/d at which weak recovery begins: 0 if trivial, infinite if G = 0."""

    threshold: float
    uncertainty: float


def weak_recovery(
    points: Float[np.ndarray, "s n r"], labels: Float[np.ndarray, "s n"], slices: int = 256
) -> WeakRecovery:
    """alpha_c for a label with E[z | y] = 0, from points of N(0, I) in independent sets.

    The label is cut into ``slices`` with equal numbers of points; half as many tell what slicing
    costs.
    """
    half = len(points) // 2
    pairs = [_sliced(points[a::half], labels[a::half], slices) for a in range(half)]
    # Two slices side by side are one of half as many.
    fine, coarse = (
        np.array([_kernel(totals, counts) for totals, counts in sliced])
        for sliced in (pairs, [(t[:, ::2] + t[:, 1::2], c[:, ::2] + c[:, 1::2]) for t, c in pairs])
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


def _sliced(
    points: Float[np.ndarray, "two n r"], labels: Float[np.ndarray, "two n"], slices: int
) -> tuple[Float[np.ndarray, "two b r r"], Float[np.ndarray, "two b"]]:
    """Sums of z z^T over the slices of the label, and how many points each has, set by set."""
    r = points.shape[2]
    edges = np.quantile(labels, np.arange(1, slices) / slices)
    totals, counts = np.zeros((len(points), slices, r, r)), np.zeros((len(points), slices))
    for number, (x, y) in enumerate(zip(points, labels, strict=True)):
        at = np.searchsorted(edges, y)
        counts[number] = np.bincount(at, minlength=slices)
        for i in range(r):
            for j in range(i + 1):
                sums = np.bincount(at, x[:, i] * x[:, j], slices)
                totals[number, :, i, j] = totals[number, :, j, i] = sums
    return totals, counts


def _kernel(
    totals: Float[np.ndarray, "two b r r"], counts: Float[np.ndarray, "two b"]
) -> Float[np.ndarray, "m m"]:
    """M -> E[G M G] as a matrix, one G from each of two independent sets: noise of mean zero."""
    r = totals.shape[2]
    curves = totals / np.maximum(counts, 1)[..., None, None] - np.eye(r)
    curves[counts == 0] = 0.0
    share = np.mean(counts / counts.sum(axis=1, keepdims=True), axis=0)
    # Of size r^2, symmetrised over the two sets.
    kernel = np.einsum("b,bij,bkl->iljk", share, curves[0], curves[1]).reshape(r * r, r * r)
    return 0.5 * (kernel + kernel.T)
