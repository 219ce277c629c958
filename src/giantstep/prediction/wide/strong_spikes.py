"""Where growing steps lead: the number of spikes at eta = n^alpha, and the losses they leave.

For eta = n^alpha, alpha < 1/2, the features after one step are F0 + sum_k (eta^k n^(-k/2)) p_k(X v)
(a^k)^T + smaller terms; spike k has strength n^(k alpha - (k-1)/2) and grows without bound for
alpha > (k-1)/(2k) unless the Hermite coefficient c_k of the activation is zero (arXiv 2310.07891).
Infinitely strong spikes project their left vectors p_k out of the resolvent of F0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.rules import gauss_hermite, hermite_values
from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.blocks import Block
from giantstep.prediction.wide.continuation import solve
from giantstep.prediction.wide.limits import STRONG_SPIKES
from giantstep.prediction.wide.neurons import NeuronTypes
from giantstep.prediction.wide.nodes import kappa_rule
from giantstep.prediction.wide.step import learned_step
from giantstep.prediction.wide.system import ClosedSystem, labels_given
from giantstep.problem.activation import Activation
from giantstep.problem.setting import Setting

# The limit of cos and ds/cu^2 for large steps is reached up to terms of order 1/size.
LARGE_SIZE = 1e9


def spike_count(alpha: float, activation: Activation, most: int = 40) -> int:
    """Spikes that grow without bound at eta = n^alpha: k >= 1 with alpha > (k-1)/(2k), c_k != 0.

    Their strength is c_1^k c_k eta^k: without c_1 there are none.
    At alpha >= 1/2 the entries of a step no longer vanish and the expansion does not end: refused.
    The constant, a spike at any alpha for an activation with a mean, is not counted.  Coefficients
    of degrees beyond ``most`` cannot be told from rounding.
    """
    last = most / (2.0 * (most + 1))
    if not alpha < last:
        raise InputError(
            f"alpha must be below {last:.3f}: the theory of one step ends at 1/2, got {alpha:g}"
        )
    # Rounding of alpha must not add a spike at its very threshold.
    growing = [k for k in range(1, most + 1) if alpha > (k - 1) / (2 * k) + 1e-12]
    if not growing:
        return 0
    present = _present(activation, len(growing))[1:]
    return int(np.sum(present)) if present[0] else 0


def _present(activation: Activation, degree: int) -> Float[np.ndarray, " k"]:
    """1 for each degree whose normalised coefficient E[sigma h_k] is not zero."""
    series = activation.coefficients(degree)
    factorials = np.array([math.factorial(k) for k in range(degree + 1)], dtype=float)
    normalised = np.abs(series.values) / np.sqrt(factorials)
    return (normalised > max(VANISHING, 100.0 * series.error / math.sqrt(factorials[-1]))) * 1.0


@dataclass(frozen=True)
class SpikeLimits:
    """Objectives L_0, L_1, .. with spikes of degree 1 .. l infinitely strong, and m1, m2.

    m1 = tr (K + lambda)^-1 / n and m2 = b^T X^T (K + lambda)^-1 X b / n for a unit vector b, with
    K = F0 F0^T / n the features before the step.
    """

    objectives: tuple[float, ...]
    noise_resolvent: float
    linear_resolvent: float


def limiting_losses(
    setting: Setting, ridge: float | None = None, count: int = 2, *, lengthened: bool = True
) -> SpikeLimits:
    """L_l = lambda (y - its part seen by the spikes): projections in the metric of the resolvent.

    The left vector of spike k is p_k(kappa) = E_z (sqrt(Delta) z + kappa)^k, Delta = ds/cu^2: the
    coefficient of a^k in E sigma(u kappa + s z).  In the basis h_j(kappa) the resolvent is
    diag(m1, m2, m1, m1, ..), so L_l = L_0 - lambda g^T G^-1 g with g, G the products of label and
    spikes.  A degree with c_k = 0 adds nothing; a mean of the activation is a spike from L_0 on.
    Without ``lengthened`` Delta = 0, as for a step of rank one, which leaves all rows of equal
    readout equally long: Theorem 4.5 of arXiv 2310.07891.

    docs/derivations/closed_system.md, eq. (15).
    """
    refuse_beyond(STRONG_SPIKES, setting)
    if ridge is None and len(setting.penalties) != 1:
        raise InputError(f"ridge must be one number, got {setting.ridge!r}")
    if count < 0:
        raise InputError(f"count must not be negative, got {count}")
    penalty = (setting.penalties[0] if ridge is None else ridge) / setting.scale**2
    if not penalty > 0:
        raise InputError(f"ridge must be positive, got {ridge:g}")
    step = learned_step(setting, LARGE_SIZE)
    point = solve(_random_features(setting), penalty)
    noise = float(point.damping[0]) / penalty
    linear = noise * float(point.screen.matrices[0, 0, 0])
    points, weights = kappa_rule(1)
    kappa = points[:, 0]
    labels = labels_given(setting, step.overlap, points)
    basis = hermite_values(kappa, count) * weights[:, None]
    seen = labels.mean @ basis
    metric = np.full(count + 1, noise)
    metric[1:2] = linear
    # L_0 with nothing projected: lambda (|T_1|^2 m2 + (E y^2 - |T_1|^2) m1)
    kept = 1.0 - 2.0 * setting.corruption
    first = float(np.sum((kept * setting.target.series.tensor(1)) ** 2))
    power = float(weights @ labels.square)
    total = first * linear + (power - first) * noise
    ratio = step.noise_square / step.shift**2 if lengthened and step.shift > 0 else 0.0
    spikes = (basis.T @ _left_vectors(ratio, kappa, count)).T
    present = _present(setting.activation, count) > 0
    present[1:] &= step.shift > 0
    objectives = []
    for last in range(count + 1):
        chosen = spikes[: last + 1][present[: last + 1]]
        gram = (chosen * metric) @ chosen.T
        reached = chosen @ (metric * seen)
        gone = float(reached @ np.linalg.solve(gram, reached)) if len(chosen) else 0.0
        objectives.append(penalty * (total - gone))
    return SpikeLimits(tuple(objectives), noise, linear)


def _left_vectors(
    ratio: float, kappa: Float[np.ndarray, " m"], count: int
) -> Float[np.ndarray, "m k"]:
    """p_k(kappa) = E_z (sqrt(Delta) z + kappa)^k for k <= count, ratio -> Delta."""
    z, weights = gauss_hermite(count // 2 + 1)
    moved = kappa[:, None, None] + math.sqrt(ratio) * z[:, None]
    return np.sum(weights[:, None] * moved ** np.arange(count + 1), axis=1)


def _random_features(setting: Setting) -> ClosedSystem:
    """The system before any step: one node, one type, means aside.

    Partners of a symmetric start have the same feature: one of twice its power, half as many.
    """
    shared = 2.0 if setting.start.kind.paired else 1.0
    moments = setting.activation.moments
    one = np.ones((1, 1))
    return ClosedSystem(
        n=setting.readout_n,
        groups=setting.p / shared,
        types=NeuronTypes(
            overlap=np.zeros((1, setting.target.r)),
            weights=np.ones(1),
            readout=one,
            along=one[:, :, None],
            shares=np.ones(1),
            load=np.ones((1, 1, 1, 1)),
            drift=np.zeros((0, 1, 1, 1)),
            stretch=np.zeros((0, 1, 1)),
            sideways=np.zeros((0, 0, 1, 1)),
        ),
        kappa=np.zeros((1, 1)),
        radius=np.ones(1),
        weights=np.ones(1),
        means=np.zeros((1, 1, 1, 1)),
        blocks=(Block(setting.d, np.full((1, 1, 1, 1), math.sqrt(shared) * moments.linear)),),
        noise=np.full((1, 1, 1, 1), shared * moments.rest),
    )
