"""Which input directions the weights have learned."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError


def learned_directions(
    weights: Float[np.ndarray, "p d"],
    k: int | None = None,
    include: Float[np.ndarray, "r d"] | None = None,
    start: Float[np.ndarray, "p d"] | None = None,
) -> Float[np.ndarray, "k d"]:
    """Orthonormal rows: those spanning ``include``, then leading right singular vectors of W.

    ``k`` -> how many in all, by default ``include`` and every singular vector outside the bulk;
    ``include`` -> directions that must be there, such as the target's; ``start`` -> weights
    subtracted first, so that a step too small to leave the bulk of W is seen (then k is needed: the
    noise of a gradient alone is no isotropic bulk).

    W = noise + sum_k s_k u_k v_k^T: the v_k whose s_k is outside the Marchenko-Pastur bulk of W
    (arXiv 2305.18270; docs/derivations/equivalence.md).

    >>> import numpy as np
    >>> from giantstep import learned_directions
    >>> key = np.random.default_rng(0)
    >>> weights = key.standard_normal((80, 60)) / 60**0.5
    >>> weights[:, 0] += 3.0
    >>> bool(abs(learned_directions(weights)[0, 0]) > 0.9)
    True
    """
    d = weights.shape[1]
    given = np.zeros((0, d)) if include is None else np.linalg.qr(include.T)[0].T
    moved = weights if start is None else weights - start
    moved = moved - (moved @ given.T) @ given
    _, values, right = np.linalg.svd(moved, full_matrices=False)
    if k is None:
        if start is not None:
            raise InputError("k must be given when start is subtracted, got None")
        k = len(given) + _outside(moved, values, right)
    if not len(given) <= k <= len(given) + len(values):
        raise InputError(f"k must be in {len(given)}..{len(given) + len(values)}, got {k}")
    return np.concatenate([given, right[: k - len(given)]])


def _outside(
    moved: Float[np.ndarray, "p d"],
    values: Float[np.ndarray, " m"],
    right: Float[np.ndarray, "m d"],
    margin: float = 1.25,
) -> int:
    """How many singular values lie above ``margin`` times the edge of the bulk of the others.

    Fluctuations of the edge are of order d^(-2/3) (5 % at d = 100), and gradient noise, not quite
    isotropic, widens the bulk by some 10 to 20 %.
    """
    for count, value in enumerate(values):
        bulk = moved - (moved @ right[:count].T) @ right[:count]
        if value <= margin * bulk_edge(np.sum(bulk**2, axis=1), moved.shape[1]):
            return count
    return len(values)


def bulk_edge(square_norms: Float[np.ndarray, " p"], d: int) -> float:
    """Largest singular value of p independent isotropic rows of given squared norms t_i in R^d.

    Its square is the minimum over 0 < h < 1/max t of 1/h + (1/d) sum_i t_i/(1 - t_i h), by the
    Marchenko-Pastur equation for the covariance diag(t).
    """
    # The minimum is flat: 1000 points give the edge to 1e-5.
    h = np.linspace(0.0, 1.0 / square_norms.max(), 1002)[1:-1, None]
    values = 1.0 / h[:, 0] + np.sum(square_norms / (1.0 - square_norms * h), axis=1) / d
    return math.sqrt(float(values.min()))
