"""Phase transition of one giant step: the exponent in d of every overlap, at n ~ d^kappa.

From unit rows with overlaps m ~ d^(-1/2), leap l, an update of size eta s_p |a| ~ d^epsilon adds

    signal  d^(epsilon - (l-1)/2)            b_l T_l[m^(l-1)] / (l-1)!
    noise   d^(epsilon - kappa/2)            in every single direction,
    norm    d^(epsilon + (1 - kappa)/2)      all directions together.

The start contributes d^(-1/2) along a direction and 1 to the norm.  At the giant size
epsilon = (l-1)/2 the cosine scales as d^(-max(0, (l - kappa)/2)), floored at d^(-1/2): the boundary
of learning is n = d^l (theorem on one step of arXiv 2305.18270).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def overlap_exponent(leap: int, kappa: float, step_exponent: float | None = None) -> float:
    """Exponent of |<w, w*_k>| for a direction in the range of T_l; giant steps by default."""
    size = (leap - 1) / 2 if step_exponent is None else step_exponent
    return max(size - (leap - 1) / 2, size - kappa / 2, -0.5)


def norm_exponent(leap: int, kappa: float, step_exponent: float | None = None) -> float:
    """Exponent of |w| after the step."""
    size = (leap - 1) / 2 if step_exponent is None else step_exponent
    return max(0.0, size - (leap - 1) / 2, size + (1.0 - kappa) / 2)


def cosine_exponent(leap: int, kappa: float, step_exponent: float | None = None) -> float:
    """Exponent of the cosine of a neuron with a direction in the range of T_l.

    leap -> l, kappa -> log_d n, step_exponent -> log_d (eta s_p |a|).
    """
    return overlap_exponent(leap, kappa, step_exponent) - norm_exponent(leap, kappa, step_exponent)


def phase_curve(
    leap: int, kappas: Float[np.ndarray, " k"], step_exponent: float | None = None
) -> Float[np.ndarray, " k"]:
    """The predicted exponent of the cosine over a range of batch exponents."""
    return np.array([cosine_exponent(leap, float(kappa), step_exponent) for kappa in kappas])
