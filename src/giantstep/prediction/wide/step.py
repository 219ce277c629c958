"""The first giant step at linear width: the direction it learns, and what it makes of a row.

In the normalisation of giantstep.prediction.wide.network, with a_i = u_i/sqrt(p), c = e_1 E sigma'
and delta = d/n, row i after the step is

    (1 + growth a_i) w_i + cu a_i v + noise of squared length ds a_i^2,

    cu^2 = c^2 (f_1^2 + s^2 c_1^2 + delta R2) - 2 c s c_1,   cos = c f_1 / cu,   R2 = E r_1^2, (1)
    growth = e_1 E[r_1] E[sigma'(z) z],                                                      (2)
    ds = e_1^2 delta R2 Var sigma'                                                           (3)

(docs/derivations/closed_system.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.prediction.wide.network import TYPICAL, Network, ReadoutStatistics
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class LearnedStep:
    """The numbers of the first step, with their equations in docs/derivations/closed_system.md.

    ``size`` -> e_1.  ``shift`` -> cu and ``overlap`` -> the learned unit direction v in target
    coordinates, of length |cos|, eq. (1).  ``start_growth``: what the step adds of a row's start,
    eq. (2).  ``noise_square`` -> ds, eq. (3), and ``linear_share`` -> rho, eq. (5), the correlation
    of sigma'(z) and z: rho^2 of the noise is linear in the row.  ``residual_mean`` -> E r_1 and
    ``residual_square`` -> R2.  ``length_slope`` -> e_1 E[sigma'(z) He2(z)] |beta|, eq. (4): how the
    length of a row changes with <w, v>.  ``length_deviation``, eq. (6): standard deviation of a
    row's squared length, over a_i d^(-1/2), by (1/n) sum r sigma'(w.x) w.x beyond its part along v.
    ``sample_overlap`` -> c delta/cu, eq. (7): v.x = kappa + sample_overlap r on a sample of the
    step itself, kappa as on a fresh one.
    """

    size: float
    shift: float
    overlap: Float[np.ndarray, "1 r"]
    start_growth: float
    noise_square: float
    linear_share: float
    residual_mean: float
    residual_square: float
    length_slope: float
    length_deviation: float
    sample_overlap: float

    def kept(self, entry: Float[np.ndarray, "*u"]) -> Float[np.ndarray, "*u"]:
        """1 + growth a: what rows with entries a = u/sqrt(p) keep of their start, eq. (2)."""
        return 1.0 + self.start_growth * entry

    def noise(self, entry: Float[np.ndarray, "*u"]) -> Float[np.ndarray, "*u"]:
        """a sqrt(ds): length of the noise in rows with entries a, with the sign of a, eq. (3)."""
        return math.sqrt(self.noise_square) * entry

    @property
    def cosine(self) -> float:
        """|cos| between the learned direction and T_1 = E[y z]."""
        return float(np.linalg.norm(self.overlap))


def learned_step(
    setting: Setting, size: float | None = None, statistics: ReadoutStatistics = TYPICAL
) -> LearnedStep:
    """The numbers of the first step; ``size`` in place of the e_1 of the setting.

    docs/theory/index.md, eq. (8); docs/derivations/closed_system.md, eqs. (1), (2), (3), (4), (5),
    (6) and (7).
    """
    network = Network(setting, statistics)
    moments, ratio, feedback = network.moments, network.noise_ratio, network.start_feedback
    size = network.size(0) if size is None else size
    # Rounding must not give a direction to a step that has none.
    slope, tilt = (c if abs(c) > VANISHING else 0.0 for c in (moments.slope, moments.tilt))
    linear, residual_square = network.label[2], network.residual_square
    c, strength = size * slope, float(np.linalg.norm(linear))
    own_pull = feedback * moments.linear
    square = c**2 * (strength**2 + own_pull**2 + ratio * residual_square) - 2.0 * c * own_pull
    # A step that shortens W^T a more than noise lengthens it leaves the target's part alone: what
    # is missing is a direction the label does not see, without weight in the limit.
    shift = math.sqrt(max(square, (c * strength) ** 2))
    overlap = c * linear / shift if shift > 0 else np.zeros(setting.target.r)
    # The part of w.x sigma'(w.x) that is neither its mean nor linear: E[z sigma' z] = b_1 + b_3.
    free = moments.pull_square - moments.tilt**2 - (moments.slope + moments.bend) ** 2
    deviation = math.sqrt(moments.slope_variance)
    return LearnedStep(
        size=size,
        shift=shift,
        overlap=overlap[None, :],
        start_growth=size * network.residual_mean * tilt,
        noise_square=size**2 * ratio * residual_square * moments.slope_variance,
        # At most 1, which rounding must not pass.
        linear_share=max(-1.0, min(1.0, tilt / deviation)) if deviation > VANISHING else 0.0,
        residual_mean=network.residual_mean,
        residual_square=residual_square,
        length_slope=size * moments.bend * math.sqrt(strength**2 + ratio * residual_square),
        length_deviation=2.0 * size * math.sqrt(ratio * residual_square * max(free, 0.0)),
        sample_overlap=c * ratio / shift if shift > 0 else 0.0,
    )
