"""One giant step at linear width: the direction it learns, and what it makes of the neurons.

With a normalised to |a| = 1 and s the output scale times the norm it had, one step is
W + c a beta^T + a small remainder, c = eta E sigma', beta = X^T r / n, r = y - s f0.  Everything
later needs only the numbers below (docs/derivations/closed_system.md):

    cu^2 = c^2 (f_1^2 + s^2 c_1^2 + (d/n) R2) - 2 c s c_1,   cos = c f_1 / cu,   R2 = E r^2
    ds = eta^2 (d/n) R2 Var sigma',   tilt = eta E[r] E[sigma'(z) z]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.analysis.exponents import VANISHING
from giantstep.errors import NoTheoryError
from giantstep.gaussian.rules import Rule, gauss_hermite, legendre, normal_panels
from giantstep.problem.setting import Setting
from giantstep.problem.starts import readout_rms

READOUT_NODES = 16
"""Nodes over the entries of a; 12 and 24 give the same outliers to 5e-4 and losses to 2e-5."""

PAIR_PANELS, PAIR_NODES = (0.0, 0.5, 2.0, 6.0), 6
"""Gauss-Legendre panels over |a| for pairs: partners with a near 0 nearly coincide, and what they
add has poles near a = +-i sqrt(lambda), where Gauss-Hermite is slow; losses to 2e-5 at
lambda = 1e-3, 1e-3 at 1e-5."""

SPREAD_NODES = 3
"""Nodes over quantities of order d^(-1/2), which count to second order: exact to degree 5."""

MOST_LENGTHENING = 1.0
"""Square length that the noise of a step may add to a row, in that of the row: all rows draw it
from the same n samples, and features of such rows are not those of independent ones.  Train errors
at d = 200 are 2 % off at 0.1, 20 % at 1.5 and 50 % at 14."""


@dataclass(frozen=True)
class LearnedStep:
    """What one step did: its numbers are those of the module's first lines.

    ``size`` is eta for |a| = 1, ``overlap`` the learned unit direction v in target coordinates,
    of length |cos|.
    """

    size: float
    shift: float
    overlap: Float[np.ndarray, "1 r"]
    lengthening: float
    tilt: float

    @property
    def cosine(self) -> float:
        """|cos| between the learned direction and T_1 = E[y z]."""
        return float(np.linalg.norm(self.overlap))


@dataclass(frozen=True)
class NeuronTypes:
    """Neurons w = u.v + sum_j load_j omega_j, omega_j independent unit vectors outside v_1 .. v_k.

    A group is one neuron, or for the symmetric start the b = 2 neurons that began with one w.
    ``readout`` are the entries of a at the start, of mean square one.
    """

    weights: Float[np.ndarray, " t"]
    readout: Float[np.ndarray, "t b"]
    along: Float[np.ndarray, "t b k"]
    load: Float[np.ndarray, "t b j"]

    @property
    def spread(self) -> Float[np.ndarray, "t b"]:
        """s: the length of a row outside the learned directions."""
        return np.sqrt(np.sum(self.load**2, axis=2))


def objection(setting: Setting) -> str | None:
    """Why one step from random rows is not covered, in one sentence; None if it is."""
    if setting.steps > 1:
        return f"steps must be 0 or 1 for the closed system, got {setting.steps}"
    if not setting.inputs.is_gaussian:
        return f"inputs must be gaussian for the closed system, got {setting.inputs.text!r}"
    if setting.start == "orthogonal":
        return "start must be sphere, gaussian or symmetric for the closed system, got 'orthogonal'"
    if setting.deflate >= 0:
        return f"deflate must be -1 (off) for the closed system, got {setting.deflate}"
    return None


def noise_objection(setting: Setting) -> str | None:
    """Why rows after a step do not count as independent, in one sentence; None if they do."""
    if setting.steps == 0:
        return None
    added = learned_step(setting).lengthening / setting.p
    if added <= MOST_LENGTHENING:
        return None
    return (
        f"the noise of the step must add at most {MOST_LENGTHENING:g} to the square length of a "
        f"row, got {added:.3g}"
    )


def refuse_if(complaint: str | None) -> None:
    """Raise NoTheoryError with the objection of a theory, where it has one."""
    if complaint is not None:
        raise NoTheoryError(complaint)


def readout_norm(setting: Setting) -> float:
    """sqrt(p E a_i^2), the norm of a at the start."""
    return math.sqrt(setting.p) * readout_rms(setting.readout_start, setting.p)


def normalised_size(setting: Setting) -> float:
    """eta: the step size for s_p = 1 and |a| = 1; 0 without a step."""
    if setting.steps == 0:
        return 0.0
    return setting.step_size[0] * setting.scale * readout_norm(setting)


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


def learned_step(setting: Setting, size: float | None = None, offset: float = 0.0) -> LearnedStep:
    """The numbers of one step; ``size`` in place of the setting's eta.

    ``offset`` is sum_i a_i for |a| = 1, whose random value shifts the residual where
    ``random_offset`` holds.
    """
    refuse_if(objection(setting))
    eta = normalised_size(setting) if size is None else size
    target, moments = setting.target, setting.activation.moments
    c0, c1 = moments.mean, moments.linear
    # Rounding must not give a direction to a step that has none.
    slope, tilt = (c if abs(c) > VANISHING else 0.0 for c in (moments.slope, moments.tilt))
    own = setting.scale * readout_norm(setting)
    if setting.residual == "labels" or setting.start == "symmetric":
        own = 0.0
    ratio = setting.d / setting.n
    series = target.series
    # Labels with their sign flipped count against the others.
    kept = 1.0 - 2.0 * setting.corruption
    label_mean, linear = kept * float(series.tensor(0)), kept * series.tensor(1)
    label_square = series.square + setting.noise**2
    mean = label_mean - own * c0 * offset
    # R2 = E r^2, f0 = sum_i a_i sigma(w_i.x) having variance E sigma^2 - c_0^2.
    residual_square = label_square - label_mean**2 + mean**2 + own**2 * moments.variance
    c = eta * slope
    strength = float(np.linalg.norm(linear))
    square = c**2 * (strength**2 + (own * c1) ** 2 + ratio * residual_square) - 2 * c * own * c1
    # A step that shortens W^T a more than noise lengthens it leaves the target's part alone: the
    # rest is a direction the label does not see, without weight in the limit.
    shift = math.sqrt(max(square, (c * strength) ** 2))
    overlap = c * linear / shift if shift > 0 else np.zeros(target.r)
    return LearnedStep(
        size=eta,
        shift=shift,
        overlap=overlap[None, :],
        lengthening=eta**2 * ratio * residual_square * moments.slope_variance,
        tilt=eta * mean * tilt,
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


def neuron_types(setting: Setting, step: LearnedStep, prune: bool = False) -> NeuronTypes:
    """Quadrature over neurons: u = cu a + (1 + tilt a) g, s^2 = (1 + tilt a)^2 r^2 + ds a^2.

    a has mean square 1/p here, g ~ N(0, 1/d) is the row's own part along v, r the length of its
    rest: r^2 = 1 - g^2 on the sphere, 1 + N(0, 2/d) for Gaussian rows.  The partners of a symmetric
    start have a and -a with one row: they share r, and move apart by +-sqrt(ds) a.  ``prune`` drops
    types that fewer than a tenth of a neuron would have.
    """
    a, g, length, weights = _grid(setting, readout_rule(setting, outside=prune))
    if prune:
        kept = weights >= 0.1 / setting.p
        a, g, length, weights = a[kept], g[kept], length[kept], weights[kept] / weights[kept].sum()
    readout = np.stack([a, -a], axis=1) if setting.start == "symmetric" else a[:, None]
    entries = readout / math.sqrt(setting.p)
    own = 1.0 + step.tilt * entries
    along = step.shift * entries + own * g[:, None]
    common, apart = own * length[:, None], math.sqrt(step.lengthening) * entries
    if setting.start == "symmetric":
        load = np.stack([common, apart], axis=2)
    else:
        load = np.sqrt(common**2 + apart**2)[:, :, None]
    return NeuronTypes(weights=weights, readout=readout, along=along[:, :, None], load=load)


def _grid(setting: Setting, entries: Rule) -> tuple[Float[np.ndarray, " t"], ...]:
    """a, g, r and weights on the tensor grid."""
    small = gauss_hermite(SPREAD_NODES)
    axes = [entries, small]
    if setting.start == "symmetric":  # (a, -a) and (-a, a) are the same pair
        a, w = axes[0]
        axes[0] = a[a > 0], 2.0 * w[a > 0]
    if setting.start == "gaussian":
        axes.append(small)
    points = [x.ravel() for x in np.meshgrid(*(x for x, _ in axes), indexing="ij")]
    weights = np.prod(np.meshgrid(*(w for _, w in axes), indexing="ij"), axis=0).ravel()
    g = points[1] / math.sqrt(setting.d)
    if setting.start == "gaussian":
        # Mean 1 and variance 2/d to leading order, positive for any d.
        square = np.exp(math.sqrt(2.0 / setting.d) * points[2] - 1.0 / setting.d)
    else:
        square = 1.0 - g**2
    return points[0], g, np.sqrt(square), weights
