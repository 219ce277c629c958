"""Low-discrepancy points of N(0, I)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

LOG2_POINTS = 15
"""Points a scramble, as a power of two: errors of 1e-4 to 1e-3 after four steps."""


SCRAMBLES = 8
"""Independent scrambles: the whole recursion is run on each, and their spread is the error."""


@dataclass(frozen=True)
class Accuracy:
    """Of randomised quadrature: independent scrambles, and 2^log2_points points in each."""

    scrambles: int = SCRAMBLES
    log2_points: int = LOG2_POINTS


def normal_points(
    dimension: int, seed: int, log2_points: int = LOG2_POINTS
) -> Float[np.ndarray, "n q"]:
    """2^log2_points points of N(0, I), low discrepancy, scrambled by the seed."""
    # Both are slow to import, and only predictions need them.
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    uniform = Sobol(dimension, scramble=True, rng=np.random.default_rng(seed)).random_base2(
        log2_points
    )
    # Away from 0 and 1, whose normal quantiles are infinite: half of the finest grid of Sobol.
    tiny = 2.0**-33
    return np.asarray(ndtri(np.clip(uniform, tiny, 1.0 - tiny)), dtype=float)
