"""One giant step at linear width: the direction it learns, and what it makes of the neurons.

With a normalised to |a| = 1 and s the output scale times the norm it had, one step is
W + c a beta^T + a small remainder, c = eta E sigma', beta = X^T r / n, r = y - s f0.  Everything
later needs only the numbers below (docs/derivations/closed_system.md):

    cu^2 = c^2 (f_1^2 + s^2 c_1^2 + (d/n) R2) - 2 c s c_1,   cos = c f_1 / cu,   R2 = E r^2
    ds = eta^2 (d/n) R2 Var sigma',   tilt = eta E[r] E[sigma'(z) z]
    third = eta E[sigma'(z) He2(z)] |beta|,   echo = c (d/n) / cu

beta has the length of T_1 and noise, |beta|^2 = f_1^2 + (d/n) R2; v.x = kappa + echo r on a sample
of the step itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.analysis.exponents import VANISHING
from giantstep.gaussian.rules import Rule, gauss_hermite, legendre, normal_panels
from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.limits import AT_MOST_ONE
from giantstep.problem.setting import Setting
from giantstep.problem.starts import readout_rms

READOUT_NODES = 16
"""Nodes over the entries of a; 12 and 24 give the same outliers to 5e-4 and losses to 2e-5."""

PAIR_PANELS, PAIR_NODES = (0.0, 0.5, 2.0, 6.0), 6
"""Gauss-Legendre panels over |a| for pairs: partners with a near 0 nearly coincide, and what they
add has poles near a = +-i sqrt(lambda), where Gauss-Hermite is slow; losses to 2e-5 at
lambda = 1e-3, 1e-3 at 1e-5."""


@dataclass(frozen=True)
class Draw:
    """What of a run's own readout counts at leading order; as it stands, the typical readout.

    ``norm`` -> |a| in units of ``readout_norm``; ``total`` -> sum_i a_i/|a|, of order one: the
    network starts with the mean s c_0 times it.
    """

    norm: float = 1.0
    total: float = 0.0

    @classmethod
    def of(cls, setting: Setting, readout: Float[np.ndarray, " p"]) -> Draw:
        norm = float(np.linalg.norm(readout))
        return cls(norm / readout_norm(setting), float(np.sum(readout)) / norm)


TYPICAL = Draw()


@dataclass(frozen=True)
class LearnedStep:
    """What one step did: its numbers are those of the module's first lines.

    ``size`` is eta for |a| = 1, ``overlap`` the learned unit direction v in target coordinates,
    of length |cos|; ``mean`` and ``square`` are E r and E r^2.  ``correlation`` is that of
    sigma'(z) and z: the share of the noise that is linear in a row.  ``swing`` -> the deviation of
    a row's square length, over a d^(-1/2), by (1/n) sum r sigma'(w.x) w.x beyond its part along v.
    """

    size: float
    shift: float
    overlap: Float[np.ndarray, "1 r"]
    lengthening: float
    tilt: float
    mean: float
    square: float
    third: float
    echo: float
    correlation: float
    swing: float

    @property
    def moved(self) -> float:
        """sqrt(cu^2 + ds + tilt^2): how far rows move, the root of the sum of squares."""
        return math.sqrt(self.shift**2 + self.lengthening + self.tilt**2)

    @property
    def cosine(self) -> float:
        """|cos| between the learned direction and T_1 = E[y z]."""
        return float(np.linalg.norm(self.overlap))


def readout_norm(setting: Setting) -> float:
    """sqrt(p E a_i^2), the norm of a at the start."""
    return math.sqrt(setting.p) * readout_rms(setting.readout_start, setting.p)


def normalised_size(setting: Setting) -> float:
    """eta: the step size for s_p = 1 and |a| = 1; 0 without a step."""
    if setting.steps == 0:
        return 0.0
    return setting.step_size[0] * setting.scale * readout_norm(setting)


def own_scale(setting: Setting, draw: Draw = TYPICAL) -> float:
    """s: the output scale for |a| = 1 where the residual holds the network itself, else 0."""
    if setting.residual == "labels" or setting.start == "symmetric":
        return 0.0
    return setting.scale * readout_norm(setting) * draw.norm


def random_offset(setting: Setting) -> bool:
    """Whether the mean of the network at the start, s c_0 sum_i a_i, is a random number.

    sum_i a_i ~ N(0, 1) for |a| = 1: a residual with this mean differs from run to run.
    """
    return (
        setting.steps > 0
        and setting.residual == "full"
        and setting.start != "symmetric"
        and setting.readout_start != "alternating"
        and abs(setting.activation.moments.mean) > VANISHING
    )


def learned_step(setting: Setting, size: float | None = None, draw: Draw = TYPICAL) -> LearnedStep:
    """The numbers of one step; ``size`` in place of the eta that the setting and the draw give.

    The random sum of a shifts the residual where ``random_offset`` holds.
    """
    refuse_beyond(AT_MOST_ONE, setting)
    eta = normalised_size(setting) * draw.norm if size is None else size
    target, moments = setting.target, setting.activation.moments
    c0, c1 = moments.mean, moments.linear
    # Rounding must not give a direction to a step that has none.
    slope, tilt = (c if abs(c) > VANISHING else 0.0 for c in (moments.slope, moments.tilt))
    own = own_scale(setting, draw)
    ratio = setting.d / setting.n
    series = target.series
    # Labels with their sign flipped count against the others.
    kept = 1.0 - 2.0 * setting.corruption
    label_mean, linear = kept * float(series.tensor(0)), kept * series.tensor(1)
    label_square = series.square + setting.noise**2
    mean = label_mean - own * c0 * draw.total
    # R2 = E r^2, f0 = sum_i a_i sigma(w_i.x) having variance E sigma^2 - c_0^2.
    residual_square = label_square - label_mean**2 + mean**2 + own**2 * moments.variance
    c = eta * slope
    strength = float(np.linalg.norm(linear))
    square = c**2 * (strength**2 + (own * c1) ** 2 + ratio * residual_square) - 2 * c * own * c1
    # A step that shortens W^T a more than noise lengthens it leaves the target's part alone: the
    # rest is a direction the label does not see, without weight in the limit.
    shift = math.sqrt(max(square, (c * strength) ** 2))
    overlap = c * linear / shift if shift > 0 else np.zeros(target.r)
    # The part of w.x sigma'(w.x) that is neither its mean nor linear: E[z sigma' z] = b_1 + b_3.
    free = moments.pull_square - moments.tilt**2 - (moments.slope + moments.bend) ** 2
    deviation = math.sqrt(moments.slope_variance)
    return LearnedStep(
        size=eta,
        shift=shift,
        overlap=overlap[None, :],
        lengthening=eta**2 * ratio * residual_square * moments.slope_variance,
        tilt=eta * mean * tilt,
        mean=mean,
        square=residual_square,
        third=eta * moments.bend * math.sqrt(strength**2 + ratio * residual_square),
        echo=c * ratio / shift if shift > 0 else 0.0,
        # At most 1, which rounding must not pass.
        correlation=max(-1.0, min(1.0, tilt / deviation)) if deviation > VANISHING else 0.0,
        swing=2.0 * eta * math.sqrt(ratio * residual_square * max(free, 0.0)),
    )


def readout_rule(setting: Setting, outside: bool = False) -> Rule:
    """Values and weights for the entries of a, scaled to mean square one.

    ``outside`` the neighbourhood of penalty 0 pairs need no more nodes than single neurons.
    """
    if setting.readout_start == "gaussian" and setting.start == "symmetric" and not outside:
        a, share = normal_panels(np.array(PAIR_PANELS), PAIR_NODES)
        return np.concatenate([-a, a]), np.concatenate([share, share])
    return readout_law(setting, READOUT_NODES)


def readout_law(setting: Setting, nodes: int) -> Rule:
    """Quadrature over u = a / (rms of a): as many nodes, or the two signs."""
    if setting.readout_start == "gaussian":
        return gauss_hermite(nodes)
    if setting.readout_start == "uniform":
        x, weights = legendre(nodes)
        return math.sqrt(3.0) * x, 0.5 * weights
    return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
