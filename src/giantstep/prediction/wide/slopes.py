"""Slopes of the neurons after some giant steps, as the samples of the next one see them.

The preactivation of neuron u on a sample is kept h + width zeta + R(u).x/sqrt(p), h that at the
start and zeta the noise of the steps; all below are means over h and zeta.  Derivation:
docs/derivations/two_step.md, "What a sample of step 2 sees"; docs/derivations/many_steps.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import SMOOTH_NODES, Piecewise, feature_moments
from giantstep.gaussian.rules import REACH, Rule, gauss_hermite, normal_panels
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.samples import Samples
from giantstep.problem.activation import Activation


def near_kink(scale: float, per_halving: int) -> Float[np.ndarray, " k"]:
    """Distances from a kink at which panels and tables have points, down to a sixteenth of scale.

    The first step moves preactivations by about size_1/sqrt(p): the layer in which they change
    sides must be resolved on that scale.  No finer than 2^-30.
    """
    halvings = math.ceil(np.clip(math.log2(16.0 / max(scale, 1e-30)), 1.0, 30.0))
    return np.exp2(-np.arange(0.0, halvings + 1.0, 1.0 / per_halving))


@dataclass(frozen=True)
class Slopes:
    """Means over the preactivation A after some steps, for each u and each atom of the samples.

    ``value`` -> E sigma(A), ``mean`` -> E sigma'(A), ``square`` -> E sigma'(A)^2, ``on_start`` ->
    E[h sigma'(A)] and ``cross`` -> E[sigma'(h) sigma'(A)], h the preactivation at the start;
    ``curvature`` -> E sigma''(A).
    """

    value: Float[np.ndarray, "q m"]
    mean: Float[np.ndarray, "q m"]
    square: Float[np.ndarray, "q m"]
    on_start: Float[np.ndarray, "q m"]
    cross: Float[np.ndarray, "q m"]
    curvature: Float[np.ndarray, "q m"]


@dataclass(frozen=True)
class FreshSlopes(Slopes):
    """Slopes on new samples, with what the values sigma(A) are beside their mean.

    ``value_variance`` -> Var sigma(A), ``value_on_start`` -> E[h sigma(A)], ``own_pull`` ->
    E[h sigma sigma'] - E sigma E[h sigma'] - E[h sigma] E sigma', all at A.
    """

    value_variance: Float[np.ndarray, "q m"]
    value_on_start: Float[np.ndarray, "q m"]
    own_pull: Float[np.ndarray, "q m"]


def slope_of(activation: Activation) -> Piecewise:
    """sigma' almost everywhere, which may jump at the kinks of sigma."""
    return Piecewise(activation.derivative, activation.kinks)


def product_of(activation: Activation) -> Piecewise:
    """sigma sigma', half the derivative of sigma^2."""

    def product(z: Float[np.ndarray, "*z"]) -> Float[np.ndarray, "*z"]:
        return np.asarray(activation(z)) * np.asarray(activation.derivative(z))

    return Piecewise(product, activation.kinks)


def fresh_slopes(
    network: Network,
    kept: Float[np.ndarray, " q"],
    width: Float[np.ndarray, " q"],
    shift: Float[np.ndarray, "q m"],
    least_width: float = 1e-3,
) -> FreshSlopes:
    """A = kept h + width zeta + shift on a sample that is new to the network.

    ``shift`` -> R(u).x/sqrt(p), what the steps before add.  Smoothing the activation over
    ``least_width`` changes its variance by 1e-6.

    docs/derivations/many_steps.md, eq. (1); docs/derivations/two_step.md, eq. (3).
    """
    scale = np.hypot(np.hypot(kept, width), least_width)
    total = np.broadcast_to(scale[:, None], shift.shape)
    activation = network.inputs.activation
    plain = feature_moments(activation, shift, total)
    slope = feature_moments(slope_of(activation), shift, total)
    curvature = slope.slope / scale[:, None]
    on_start, value_on_start = kept[:, None] * curvature, (kept / scale)[:, None] * plain.slope
    own_pull = np.zeros_like(shift)
    if network.start_feedback > 0:
        product = feature_moments(product_of(activation), shift, total)
        own_pull = (kept / scale)[:, None] * product.slope
        own_pull = own_pull - plain.mean * on_start - value_on_start * slope.mean
    return FreshSlopes(
        value=plain.mean,
        mean=slope.mean,
        square=slope.square,
        on_start=on_start,
        # A new sample shares no h with the first step.
        cross=network.gain * slope.mean,
        curvature=curvature,
        value_variance=plain.square - plain.mean**2,
        value_on_start=value_on_start,
        own_pull=own_pull,
    )


def reused_slopes(
    network: Network,
    samples: Samples,
    kept: Float[np.ndarray, " q"],
    width: Float[np.ndarray, " q"],
    least_width: float = 1e-3,
) -> Slopes:
    """A = kept h + width zeta + (e_1/sqrt p) u (c_1 t + delta r_1 sigma'(h)).

    The sample was in the batch of step 1 and moved every neuron towards itself by delta r_1
    sigma'(h).  The smoothing by zeta is tabulated once for each u.

    docs/derivations/two_step.md, eq. (4).
    """
    activation = network.inputs.activation
    moved_by = network.size(0) / math.sqrt(network.setting.p)
    strength = moved_by * network.readout[0]
    h, weights = start_rule(activation.kinks or (), moved_by)
    slope_h = np.asarray(activation.derivative(h), dtype=float)
    # c_1 t and delta r_1, to be multiplied by sigma'(h)
    base, pull = network.gain * samples.step, network.noise_ratio * samples.residual
    farthest = np.max(np.abs(base)) + np.max(np.abs(pull)) * np.max(np.abs(slope_h))
    names = [field.name for field in fields(Slopes)]
    slopes = Slopes(**{name: np.empty((len(strength), len(base))) for name in names})
    block = max(1, 2**20 // len(h))
    for i, by in enumerate(strength.tolist()):
        table = smoothed(
            activation,
            reach=REACH * abs(kept[i]) + abs(by) * farthest,
            width=max(float(width[i]), least_width * abs(by)),
            near=near_kink(moved_by, 8),
        )
        for begin in range(0, len(base), block):
            part = slice(begin, begin + block)
            at = kept[i] * h + by * (base[part, None] + pull[part, None] * slope_h)
            # Two tables at once, as real and imaginary part: places are searched for once.
            values = np.interp(at, table.grid, table.value + 1j * table.slope)
            squares = np.interp(at, table.grid, table.square + 1j * table.curvature)
            slope, others = values.imag, squares @ weights
            slopes.value[i, part] = values.real @ weights
            slopes.mean[i, part] = slope @ weights
            slopes.square[i, part], slopes.curvature[i, part] = others.real, others.imag
            slopes.on_start[i, part] = slope @ (weights * h)
            slopes.cross[i, part] = slope @ (weights * slope_h)
    return slopes


@dataclass(frozen=True)
class Smoothed:
    """E over zeta of sigma, sigma', sigma'^2 and sigma'' at b + width zeta, for b on a grid."""

    grid: Float[np.ndarray, " b"]
    value: Float[np.ndarray, " b"]
    slope: Float[np.ndarray, " b"]
    square: Float[np.ndarray, " b"]
    curvature: Float[np.ndarray, " b"]


def smoothed(
    activation: Activation,
    *,
    reach: float,
    width: float,
    near: Float[np.ndarray, " k"],
    points: int = 1001,
) -> Smoothed:
    """The table for |b| <= reach, with points at the distances ``near`` from every kink.

    Even points are some 0.03 apart: 1e-4 by linear interpolation.
    """
    grid = _refined(np.linspace(-reach, reach, points), activation.kinks or (), near)
    widths = np.full(len(grid), width)
    slope = feature_moments(slope_of(activation), grid, widths)
    return Smoothed(
        grid=grid,
        value=feature_moments(activation, grid, widths).mean,
        slope=slope.mean,
        square=slope.square,
        # E_zeta sigma''(b + w zeta) = E[zeta sigma'(b + w zeta)]/w.
        curvature=slope.slope / width,
    )


def start_rule(kinks: tuple[float, ...], scale: float = 1.0) -> Rule:
    """Nodes and weights for h ~ N(0, 1), split at the kinks of sigma and near them."""
    if not kinks:
        return gauss_hermite(SMOOTH_NODES)
    grid = np.linspace(-REACH, REACH, round(2 * REACH) + 1)
    # Twelve Gauss-Legendre nodes a panel, at most one wide: 1e-12 for the normal density.
    return normal_panels(_refined(grid, kinks, near_kink(scale, 1)), 12)


def _refined(
    grid: Float[np.ndarray, " m"], kinks: tuple[float, ...], near: Float[np.ndarray, " k"]
) -> Float[np.ndarray, " n"]:
    """The grid with the kinks inside it and points at the given distances on both sides."""
    inner = [kink + near for kink in kinks] + [kink - near for kink in kinks]
    points = np.unique(np.concatenate([grid, np.array(kinks), *inner]))
    return points[(points >= grid[0]) & (points <= grid[-1])]
