"""The first giant step at linear width: the direction it learns, and what it makes of a row.

In the normalisation of giantstep.prediction.wide.network, with a_i = u_i/sqrt(p), c = e_1 E sigma'
and delta = d/n, row i after the step is

    (1 + growth a_i - own a_i^2) w_i + cu a_i v + noise of squared length ds a_i^2,

    cu^2 = c^2 (f_1^2 + s^2 c_1^2 + delta R2) - 2 c s c_1 (1 - own E a^4 p),
    cos = c f_1 / cu,   R2 = E r_1^2,                                                        (1)
    growth = e_1 E[r_1] E[sigma'(z) z],   own = e_1 s (E[z sigma sigma'] - ..),              (2)
    ds = e_1^2 delta R2 Var sigma'                                                           (3)

(docs/derivations/closed_system.md).  Inputs in blocks have each number block by block
(docs/derivations/wide_blocks.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.prediction.wide.network import TYPICAL, Network, ReadoutStatistics
from giantstep.prediction.wide.seen_inputs import SpecialAxes, special_axes
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class LearnedStep:
    """The numbers of the first step, with their equations in docs/derivations/closed_system.md.

    ``size`` -> e_1.  ``shift`` -> cu and ``overlap`` -> the learned unit direction v in target
    coordinates, of length |cos|, eq. (1).  ``start_growth`` and ``own_pull``: what the step adds of
    a row's start, and what the row's own part of the residual takes from it, eq. (2).
    ``noise_square`` -> ds, eq. (3), and ``linear_share`` -> rho, eq. (5), the correlation of
    sigma'(z) and z: rho^2 of the noise is linear in the row.  ``residual_mean`` -> E r_1 and
    ``residual_square`` -> R2.  ``length_slope`` -> e_1 E[sigma'(z) He2(z)] |beta|, eq. (4): how the
    length of a row changes with <w, v>.  ``length_deviation``, eq. (6): standard deviation of a
    row's squared length, over a_i d^(-1/2), by (1/n) sum r sigma'(w.x) w.x beyond its part along v.
    ``axes`` -> the directions that the label and the step know, with ``held``, eq. (7): on a sample
    of the step itself v.x = kappa + (v.held) r, kappa as on a fresh one.

    For inputs in blocks these are the numbers of the features; ``weight_shift`` and
    ``weight_overlap`` are cu and v of the weights, docs/derivations/wide_blocks.md, eqs. (4), (6)
    and (8).
    """

    size: float
    shift: float
    overlap: Float[np.ndarray, "1 r"]
    start_growth: float
    own_pull: float
    noise_square: float
    linear_share: float
    residual_mean: float
    residual_square: float
    length_slope: float
    length_deviation: float
    axes: SpecialAxes
    weight_shift: float
    weight_overlap: Float[np.ndarray, "1 r"]

    def kept(self, entry: Float[np.ndarray, "*u"]) -> Float[np.ndarray, "*u"]:
        """1 + growth a - own a^2: what rows of entry a = u/sqrt(p) keep of their start, eq. (2)."""
        return 1.0 + self.start_growth * entry - self.own_pull * entry**2

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
    return step_of(Network(setting, statistics), size)


def step_of(network: Network, size: float | None = None) -> LearnedStep:
    """``learned_step`` of a network, whose means may be those of one batch."""
    moments, ratio, feedback = network.moments, network.noise_ratio, network.start_feedback
    size = network.size(0) if size is None else size
    # Rounding must not give a direction to a step that has none.
    slope, tilt = (c if abs(c) > VANISHING else 0.0 for c in (moments.slope, moments.tilt))
    linear, residual_square = network.label[2], network.residual_square
    c = size * slope
    pull = c * feedback * moments.linear
    inputs, (u, shares) = network.inputs, network.readout
    # 1 - E[u^2 kept]: what a row's own part of the residual takes of the start that g holds.
    lost = size * network.own_pull * float(shares @ u**4) / network.setting.p

    def added(v: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
        """What noise and the network's own pull add to |W^T a|^2 along axes of variance v."""
        own = (pull * v) ** 2 - 2.0 * pull * v * (1.0 - lost * v)
        return own + c**2 * ratio * residual_square * v

    # A step that shortens W^T a leaves the target's part alone: what is missing is a direction
    # the label does not see, without weight in the limit.
    beside = inputs.shares * added(inputs.variances)
    signal, along = c * linear, inputs.along_target
    learned = signal**2 @ (along(3) / along(1)) + np.maximum(beside, 0.0) @ inputs.variances
    shift = math.sqrt(learned)
    weight_shift = math.sqrt(signal**2 @ (along(2) / along(1)) + max(float(np.sum(beside)), 0.0))
    axes = special_axes(inputs, signal, added, c * ratio)
    # The part of Sigma w.x sigma'(w.x) that is neither mean nor linear: E[z sigma' z] = b_1 + b_3.
    free = moments.pull_square - moments.tilt**2 - (moments.slope + moments.bend) ** 2
    second, third = inputs.moment(2), inputs.moment(3)
    free = second**2 * max(free, 0.0) + (third - second**2) * moments.slope_variance
    deviation = math.sqrt(moments.slope_variance)
    return LearnedStep(
        size=size,
        shift=shift,
        overlap=_over(signal * along(2) / along(1), shift),
        start_growth=size * network.residual_mean * tilt,
        own_pull=size * network.own_pull,
        noise_square=size**2 * ratio * residual_square * moments.slope_variance,
        # At most 1, which rounding must not pass.
        linear_share=max(-1.0, min(1.0, tilt / deviation)) if deviation > VANISHING else 0.0,
        residual_mean=network.residual_mean,
        residual_square=residual_square,
        length_slope=second
        * size
        * moments.bend
        * math.sqrt(linear @ linear + ratio * residual_square),
        length_deviation=2.0 * size * math.sqrt(ratio * residual_square * max(free, 0.0)),
        axes=axes,
        weight_shift=weight_shift,
        weight_overlap=_over(signal * inputs.target_deviations, weight_shift),
    )


def _over(part: Float[np.ndarray, " r"], length: float) -> Float[np.ndarray, "1 r"]:
    """A direction by its parts along the target; none where nothing is learned."""
    return (part / length if length > 0 else 0.0 * part)[None, :]
