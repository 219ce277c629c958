"""Slopes of the neurons after one giant step, and the kernel of the total update after two.

Row i of W_2 - W_0 is R(u_i)/sqrt(p) plus a part that belongs to the bulk, R(u) a vector that
depends on the neuron through its readout u only; K(u, u') = R(u).R(u').
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import SMOOTH_NODES, Piecewise, feature_moments
from giantstep.gaussian.rules import REACH, Rule, gauss_hermite, normal_panels
from giantstep.prediction.wide.second_samples import (
    LEAST_WIDTH,
    Network,
    Samples,
    second_samples,
)
from giantstep.problem.activation import Activation

PANEL_NODES = 12
"""Gauss-Legendre nodes a panel of h, at most one wide: 1e-12 for the normal density."""

TABLE_POINTS = 1001
"""Even points of the table of the smoothed activation, some 0.03 apart: 1e-4 by interpolation."""


def near_kink(scale: float, per_halving: int) -> Float[np.ndarray, " k"]:
    """Distances from a kink at which panels and tables have points, down to a sixteenth of scale.

    The first step moves preactivations by about size_1/sqrt(p): the layer in which they change
    sides must be resolved on that scale.  No finer than 2^-30.
    """
    halvings = math.ceil(np.clip(math.log2(16.0 / max(scale, 1e-30)), 1.0, 30.0))
    return np.exp2(-np.arange(0.0, halvings + 1.0, 1.0 / per_halving))


@dataclass(frozen=True)
class Slopes:
    """E over the rest of the preactivation A after step 1, for each u and each atom.

    ``value`` -> E sigma(A), ``mean`` -> E sigma'(A), ``square`` -> E sigma'(A)^2, ``tilt`` ->
    E[h sigma'(A)] and ``cross`` -> E[sigma'(h) sigma'(A)], h the preactivation at the start;
    ``curvature`` -> E sigma''(A).
    """

    value: Float[np.ndarray, "q m"]
    mean: Float[np.ndarray, "q m"]
    square: Float[np.ndarray, "q m"]
    tilt: Float[np.ndarray, "q m"]
    cross: Float[np.ndarray, "q m"]
    curvature: Float[np.ndarray, "q m"]


def slope_of(activation: Activation) -> Piecewise:
    """sigma' almost everywhere, which may jump at the kinks of sigma."""
    return Piecewise(activation.derivative, activation.kinks)


def fresh_slopes(network: Network, samples: Samples) -> Slopes:
    """A = kept h + width zeta + (size_1/sqrt p) u c_1 t: the sample is new to the network."""
    u = network.readout[0]
    kept, width = network.widths(u)
    strength = network.size(0) / math.sqrt(network.setting.p) * network.gain * u
    shift = strength[:, None] * samples.step
    scale = np.hypot(np.hypot(kept, width), LEAST_WIDTH)
    total = np.broadcast_to(scale[:, None], shift.shape)
    activation = network.setting.activation
    plain = feature_moments(activation, shift, total)
    slope = feature_moments(slope_of(activation), shift, total)
    curvature = slope.slope / scale[:, None]
    tilt = kept[:, None] * curvature
    # A new sample shares no h with the first step.
    cross = network.gain * slope.mean
    return Slopes(
        value=plain.mean,
        mean=slope.mean,
        square=slope.square,
        tilt=tilt,
        cross=cross,
        curvature=curvature,
    )


def reused_slopes(network: Network, samples: Samples) -> Slopes:
    """A = kept h + width zeta + (size_1/sqrt p) u (c_1 t + delta r_1 sigma'(h)).

    The sample was in the batch of step 1 and moved every neuron towards itself by delta r_1
    sigma'(h).  The smoothing by zeta is tabulated once for each u.
    """
    activation = network.setting.activation
    kept, width = network.widths(network.readout[0])
    moved_by = network.size(0) / math.sqrt(network.setting.p)
    strength = moved_by * network.readout[0]
    h, weights = start_rule(activation.kinks or (), moved_by)
    slope_h = np.asarray(activation.derivative(h), dtype=float)
    # c_1 t and delta r_1, to be multiplied by sigma'(h)
    base, pull = network.gain * samples.step, network.noise_ratio * samples.residual
    farthest = np.max(np.abs(base)) + np.max(np.abs(pull)) * np.max(np.abs(slope_h))
    names = [field.name for field in fields(Slopes)]
    found = Slopes(**{name: np.empty((len(strength), len(base))) for name in names})
    block = max(1, 2**20 // len(h))
    for i, by in enumerate(strength.tolist()):
        table = smoothed(
            activation,
            reach=REACH * abs(kept[i]) + abs(by) * farthest,
            width=max(float(width[i]), LEAST_WIDTH * abs(by)),
            near=near_kink(moved_by, 8),
        )
        for begin in range(0, len(base), block):
            part = slice(begin, begin + block)
            at = kept[i] * h + by * (base[part, None] + pull[part, None] * slope_h)
            # Two tables at once, as real and imaginary part: places are searched for once.
            values = np.interp(at, table.grid, table.value + 1j * table.slope)
            squares = np.interp(at, table.grid, table.square + 1j * table.curvature)
            slopes, others = values.imag, squares @ weights
            found.value[i, part] = values.real @ weights
            found.mean[i, part] = slopes @ weights
            found.square[i, part], found.curvature[i, part] = others.real, others.imag
            found.tilt[i, part] = slopes @ (weights * h)
            found.cross[i, part] = slopes @ (weights * slope_h)
    return found


@dataclass(frozen=True)
class Smoothed:
    """E over zeta of sigma, sigma', sigma'^2 and sigma'' at b + width zeta, for b on a grid."""

    grid: Float[np.ndarray, " b"]
    value: Float[np.ndarray, " b"]
    slope: Float[np.ndarray, " b"]
    square: Float[np.ndarray, " b"]
    curvature: Float[np.ndarray, " b"]


def smoothed(
    activation: Activation, *, reach: float, width: float, near: Float[np.ndarray, " k"]
) -> Smoothed:
    """The table for |b| <= reach, with points at the distances ``near`` from every kink."""
    grid = _refined(np.linspace(-reach, reach, TABLE_POINTS), activation.kinks or (), near)
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


@lru_cache(maxsize=8)
def second_batch(network: Network) -> tuple[Samples, Slopes]:
    """What step 2 sees on its batch; kept, for the kernel and the bulk both ask for it."""
    samples = second_samples(network)
    reused = network.setting.batches == "reused"
    return samples, (reused_slopes if reused else fresh_slopes)(network, samples)


def start_rule(kinks: tuple[float, ...], scale: float = 1.0) -> Rule:
    """Nodes and weights for h ~ N(0, 1), split at the kinks of sigma and near them."""
    if not kinks:
        return gauss_hermite(SMOOTH_NODES)
    whole = np.linspace(-REACH, REACH, round(2 * REACH) + 1)
    return normal_panels(_refined(whole, kinks, near_kink(scale, 1)), PANEL_NODES)


def _refined(
    grid: Float[np.ndarray, " m"], kinks: tuple[float, ...], near: Float[np.ndarray, " k"]
) -> Float[np.ndarray, " n"]:
    """The grid with the kinks inside it and points at the given distances on both sides."""
    inner = [kink + near for kink in kinks] + [kink - near for kink in kinks]
    points = np.unique(np.concatenate([grid, np.array(kinks), *inner]))
    return points[(points >= grid[0]) & (points <= grid[-1])]


@dataclass(frozen=True)
class RowUpdate:
    """The low-rank part of W - W_0 and the variances of the rows of the rest.

    ``kernel`` -> R(u).R(u'); ``target`` -> R(u).w*_k; ``network`` -> R(u).g; ``kept`` the factor
    of row w_i(0) and ``spread`` d times the variance of the new noise in an entry of the row,
    ``target_spread`` the same along the target directions, where labels make it another.
    """

    kernel: Float[np.ndarray, "q q"]
    target: Float[np.ndarray, "q r"]
    network: Float[np.ndarray, " q"]
    kept: Float[np.ndarray, " q"]
    spread: Float[np.ndarray, " q"]
    target_spread: Float[np.ndarray, "q r r"]


def first_update(network: Network) -> RowUpdate:
    """After step 1: R(u) = size_1 c_1 u beta."""
    u = network.readout[0]
    left = network.size(0) * network.gain * u
    kept, width = network.widths(u)
    overlaps = np.outer(left, network.gram[0, 1:])
    kernel = network.gram[0, 0] * np.outer(left, left)
    return RowUpdate(
        kernel=kernel,
        target=overlaps[:, :-1],
        network=overlaps[:, -1],
        kept=kept,
        spread=width**2,
        target_spread=_first_spread(network, width),
    )


def _first_spread(network: Network, width: Float[np.ndarray, " q"]) -> Float[np.ndarray, "q r r"]:
    """Noise of step 1 along the target: r_1^2 weighted by z z^T."""
    return width[:, None, None] ** 2 * network.target_squares / network.residual_square


def response(network: Network, slopes: Slopes) -> Float[np.ndarray, " m"]:
    """What step 1 adds to the network: f_1 = f_0 + sqrt(p) E_u[u sigma(A)], times the scale."""
    u, weights = network.readout
    return math.sqrt(network.setting.p) * ((weights * u) @ slopes.value)


def own_pull(
    delta: float, psi: Float[np.ndarray, "q m"], crossed: Float[np.ndarray, " m"]
) -> Float[np.ndarray, " q"]:
    """delta E[psi r_1 r_2]: a sample is part of the beta it is projected on, by delta r_1."""
    return delta * (psi @ crossed)


def weight_updates(network: Network) -> list[RowUpdate]:
    """The update after each step of the setting."""
    updates = [first_update(network)]
    if network.setting.steps == 2:
        updates.append(second_update(network))
    return updates


def second_update(network: Network) -> RowUpdate:
    """After step 2: R(u) = size_1 c_1 u beta + size_2 Q(u), Q(u) = mean of u sigma'(A) r_2 x."""
    samples, slopes = second_batch(network)
    residual = second_residual(network, samples, slopes)
    gradient = second_gradient(network, slopes, residual)
    u = network.readout[0]
    one, two = network.size(0) * network.gain, network.size(1)
    # K = e_2^2 Q.Q' + e_1 e_2 c_1 (u Q'.beta + u' Q.beta) + (e_1 c_1)^2 b2 u u'
    mixed = one * two * np.outer(u, gradient.on_step)
    first = one**2 * network.gram[0, 0] * np.outer(u, u)
    kernel = two**2 * gradient.inner + mixed + mixed.T + first
    # R.(w*, g) = e_1 c_1 u beta.(w*, g) + e_2 Q.(w*, g)
    overlaps = two * gradient.on_known + one * np.outer(u, network.gram[0, 1:])
    spread, target_spread = _second_spread(network, slopes, residual)
    # kept' = kept + (e_2/sqrt p) u E[r_2 h sigma'(A)]
    kept = network.widths(u)[0] + _per_row(network) * (slopes.tilt @ residual.mean)
    return RowUpdate(
        kernel=0.5 * (kernel + kernel.T),
        target=overlaps[:, :-1],
        network=overlaps[:, -1],
        kept=kept,
        spread=spread,
        target_spread=target_spread,
    )


@dataclass(frozen=True)
class SecondResidual:
    """Masses on the atoms of r_2 = r - scale M, M what step 1 added to the network.

    ``mean``, ``square`` and ``crossed`` -> of r_2, r_2^2 and r_1 r_2; ``known`` -> of r_2 (t, z,
    g.x); ``target_square`` and ``target_crossed`` -> of z z^T times r_2^2 and r_1 r_2.
    """

    mean: Float[np.ndarray, " m"]
    square: Float[np.ndarray, " m"]
    crossed: Float[np.ndarray, " m"]
    known: Float[np.ndarray, "m c"]
    target_square: Float[np.ndarray, "m r r"]
    target_crossed: Float[np.ndarray, "m r r"]


def second_residual(network: Network, samples: Samples, slopes: Slopes) -> SecondResidual:
    """r - scale M has the same M at all of an atom: its masses follow from those of r."""
    back = network.feedback * response(network, slopes)
    mean = samples.mean - back * samples.mass
    first = samples.first[:, 1] - back[:, None] * samples.first[:, 0]
    shift = back[:, None, None]
    plain, once, twice = (samples.second[:, k] for k in range(3))
    return SecondResidual(
        mean=mean,
        square=samples.square - 2.0 * back * samples.mean + back**2 * samples.mass,
        crossed=samples.square - back * samples.mean,
        known=np.column_stack([samples.step * mean, first]),
        target_square=twice - 2.0 * shift * once + shift**2 * plain,
        target_crossed=twice - shift * once,
    )


@dataclass(frozen=True)
class SecondGradient:
    """Inner products of Q(u): ``inner`` Q.Q', ``on_step`` Q.beta, ``on_known`` Q.(w*, g)."""

    inner: Float[np.ndarray, "q q"]
    on_step: Float[np.ndarray, " q"]
    on_known: Float[np.ndarray, "q k"]


def second_gradient(network: Network, slopes: Slopes, residual: SecondResidual) -> SecondGradient:
    """With F = u m(u) r_2, G the Gram matrix of (beta, w*, g) and delta = d/n,

    pop = G^-1 E[F (t, z, g.x)], Q.Q' = pop.G pop' + delta E[F F'], and for reused batches
    own = delta E[F r_1]: Q.beta += own, Q.Q' += own pop_beta' + pop_beta own'.
    """
    delta = network.noise_ratio
    psi = network.readout[0][:, None] * slopes.mean
    # E[F (t, z, g.x)] = G pop
    projected = psi @ residual.known
    population = np.linalg.solve(network.gram, projected.T).T
    inner = population @ projected.T + delta * (psi * residual.square) @ psi.T
    on_step = projected[:, 0]
    if network.setting.batches == "reused":
        own = own_pull(delta, psi, residual.crossed)
        inner = inner + np.outer(own, population[:, 0]) + np.outer(population[:, 0], own)
        on_step = on_step + own
    return SecondGradient(inner=inner, on_step=on_step, on_known=projected[:, 1:])


def _per_row(network: Network) -> Float[np.ndarray, " q"]:
    """(e_2/sqrt p) u: what the gradient of step 2 is multiplied by in a row."""
    return network.size(1) / math.sqrt(network.setting.p) * network.readout[0]


def own_rows(network: Network, slopes: Slopes, residual: SecondResidual) -> Float[np.ndarray, " q"]:
    """Square length of what step 2 adds to a row beside R(u): its noise, and the row's own start.

    (delta u^2/p) e_2^2 E[r_2^2 Var sigma'(A)] + ((e_2/sqrt p) u E[r_2 h sigma'(A)])^2.
    """
    variance = network.size(1) ** 2 * (slopes.square - slopes.mean**2)
    noise = network.noise_ratio * network.readout[0] ** 2 / network.setting.p
    return (
        noise * (variance @ residual.square)
        + (_per_row(network) * (slopes.tilt @ residual.mean)) ** 2
    )


def _second_spread(
    network: Network, slopes: Slopes, residual: SecondResidual
) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "q r r"]]:
    """Variances of the rows' noise after step 2, on average and along the target.

    spread = carried^2 width^2 + (delta u^2/p) E[e_2^2 r_2^2 Var sigma'(A)]
             + (reused) (delta u^2/p) 2 e_1 e_2 carried E[r_1 r_2 Cov(sigma'(h), sigma'(A))],
    carried = 1 + (e_2/sqrt p) u E[r_2 sigma''(A)]: step 2 also moves a row along the noise of
    step 1.  Along the target z z^T stands beside the residuals.
    """
    u, (one, two) = network.readout[0], (network.size(0), network.size(1))
    carried = 1.0 + _per_row(network) * (slopes.curvature @ residual.mean)
    variance = two**2 * (slopes.square - slopes.mean**2)
    total = variance @ residual.square
    along = np.tensordot(variance, residual.target_square, axes=1)
    if network.setting.batches == "reused":
        covariance = 2.0 * one * two * (slopes.cross - network.gain * slopes.mean)
        covariance = carried[:, None] * covariance
        total = total + covariance @ residual.crossed
        along = along + np.tensordot(covariance, residual.target_crossed, axes=1)
    share = network.noise_ratio * u**2 / network.setting.p
    first = carried * network.widths(u)[1]
    return (
        first**2 + share * total,
        _first_spread(network, first) + share[:, None, None] * along,
    )
