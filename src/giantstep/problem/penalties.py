"""Penalties of the readout: those a setting lists, or the grid that leave-one-out chooses from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float


def penalty_grid(
    mean_eigenvalue: float = 1.0, *, powers: tuple[int, int] = (-10, 3), count: int = 40
) -> Float[np.ndarray, " k"]:
    """Penalties that leave-one-out chooses from, by theory, simulation and estimator alike.

    Relative to the mean eigenvalue of s_p^2 Phi^T Phi / n they reach from where normal equations
    in float64 begin to lose digits (10^-10) to where the fitted readout is zero (10^3).
    """
    relative = np.logspace(*powers, count)
    # Features that are all zero have no eigenvalue above zero; the penalties stay positive.
    return relative * max(mean_eigenvalue, np.finfo(float).tiny / relative[0])


def penalties_of(
    ridge: str | Sequence[float], mean_eigenvalue: float = 1.0
) -> Float[np.ndarray, " k"]:
    """The penalties of a setting's ``ridge``: its numbers, or the grid where it is ``cv``."""
    if isinstance(ridge, str):
        return penalty_grid(mean_eigenvalue)
    return np.array(ridge, dtype=float)
