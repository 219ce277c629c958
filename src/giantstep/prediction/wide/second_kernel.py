"""Slopes of the neurons after one giant step, and the kernel of the total update after two.

Row i of W_2 - W_0 is R(u_i)/sqrt(p) plus a part that belongs to the bulk, R(u) a vector that
depends on the neuron through its readout u only; K(u, u') = R(u).R(u').
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import REACH, SMOOTH_NODES, feature_moments
from giantstep.gaussian.rules import Rule, gauss_hermite, legendre
from giantstep.prediction.wide.second_samples import (
    LEAST_WIDTH,
    Network,
    Samples,
    second_samples,
    slope_of,
)

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


def fresh_slopes(network: Network, samples: Samples) -> Slopes:
    """A = kept h + width zeta + (size_1/sqrt p) u c_1 t: the sample is new to the network."""
    u = network.readout[0]
    kept, width = network.widths(u)
    strength = network.size(0) / math.sqrt(network.setting.p) * network.gain * u
    shift = strength[:, None] * samples.step
    scale = np.hypot(np.hypot(kept, width), LEAST_WIDTH)
    total = np.broadcast_to(scale[:, None], shift.shape)
    plain = feature_moments(network.setting.activation, shift, total)
    slope = feature_moments(slope_of(network.setting.activation), shift, total)
    curvature = slope.slope / scale[:, None]
    tilt = kept[:, None] * curvature
    # A new sample shares no h with the first step.
    cross = network.gain * slope.mean
    return Slopes(plain.mean, slope.mean, slope.square, tilt, cross, curvature)


def reused_slopes(network: Network, samples: Samples) -> Slopes:
    """A = kept h + width zeta + (size_1/sqrt p) u (c_1 t + delta r_1 sigma'(h)).

    The sample was in the batch of step 1 and moved every neuron towards itself by delta r_1
    sigma'(h).  The smoothing by zeta is tabulated once for each u.
    """
    activation = network.setting.activation
    u = network.readout[0]
    kept, width = network.widths(u)
    strength = network.size(0) / math.sqrt(network.setting.p) * u
    kinks = activation.kinks or ()
    moved_by = network.size(0) / math.sqrt(network.setting.p)
    fine = near_kink(moved_by, 8)
    h, weights = start_rule(kinks, moved_by)
    slope_h = np.asarray(activation.derivative(h), dtype=float)
    own = network.noise_ratio * samples.residual
    derivative = slope_of(activation)
    found = np.empty((6, len(u), len(samples.step)))
    block = max(1, 2**20 // len(h))
    for i in range(len(u)):
        base, pull = network.gain * samples.step, own
        reach = REACH * abs(kept[i]) + abs(strength[i]) * (
            np.max(np.abs(base)) + np.max(np.abs(pull)) * np.max(np.abs(slope_h))
        )
        grid = _refined(np.linspace(-reach, reach, TABLE_POINTS), kinks, fine)
        smoothing = np.full(len(grid), max(float(width[i]), LEAST_WIDTH * abs(strength[i])))
        plain = feature_moments(activation, grid, smoothing).mean
        slope = feature_moments(derivative, grid, smoothing)
        for begin in range(0, len(base), block):
            part = slice(begin, begin + block)
            moved = base[part, None] + pull[part, None] * slope_h
            argument = kept[i] * h + strength[i] * moved
            slopes = np.interp(argument, grid, slope.mean)
            found[0, i, part] = np.interp(argument, grid, plain) @ weights
            found[1, i, part] = slopes @ weights
            found[2, i, part] = np.interp(argument, grid, slope.square) @ weights
            found[3, i, part] = slopes @ (weights * h)
            found[4, i, part] = slopes @ (weights * slope_h)
            # E_zeta sigma''(b + w zeta) = E[zeta sigma'(b + w zeta)]/w.
            found[5, i, part] = np.interp(argument, grid, slope.slope / smoothing) @ weights
    return Slopes(*found)


def start_rule(kinks: tuple[float, ...], scale: float = 1.0) -> Rule:
    """Nodes and weights for h ~ N(0, 1), split at the kinks of sigma and near them."""
    if not kinks:
        return gauss_hermite(SMOOTH_NODES)
    whole = np.linspace(-REACH, REACH, round(2 * REACH) + 1)
    edges = _refined(whole, kinks, near_kink(scale, 1))
    x, w = legendre(PANEL_NODES)
    half = 0.5 * np.diff(edges)[:, None]
    h = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * x).ravel()
    density = np.exp(-0.5 * h**2) / math.sqrt(2.0 * math.pi)
    return h, (half * w).ravel() * density


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
        kernel, overlaps[:, :-1], overlaps[:, -1], kept, width**2, _first_spread(network, width)
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
    """After step 2: R(u) = size_1 c_1 u beta + size_2 Q(u), Q(u) = mean of u sigma'(A) r_2 x.

    With F = u m(u) r_2, G the Gram matrix of (beta, w*, g) and delta = d/n,
    pop = G^-1 E[F (t, z, g.x)], Q.Q' = pop.G pop' + delta E[F F'], and for reused batches
    own = delta E[F r_1]: Q.beta += own, Q.Q' += own pop_beta' + pop_beta own'.
    """
    setting, gram = network.setting, network.gram
    u = network.readout[0]
    reused = setting.batches == "reused"
    samples = second_samples(network)
    slopes = (reused_slopes if reused else fresh_slopes)(network, samples)
    back = network.feedback * response(network, slopes)
    residual = samples.mean - back * samples.mass  # masses of r_2
    square = samples.square - 2.0 * back * samples.mean + back**2 * samples.mass
    crossed = samples.square - back * samples.mean  # masses of r_1 r_2
    moments = np.column_stack(
        [samples.step * residual, samples.first[:, 1] - back[:, None] * samples.first[:, 0]]
    )
    psi = u[:, None] * slopes.mean
    projected = psi @ moments
    population = np.linalg.solve(gram, projected.T).T
    delta = network.noise_ratio
    inner = population @ projected.T + delta * (psi * square) @ psi.T
    on_step = projected[:, 0].copy()
    if reused:
        own = own_pull(delta, psi, crossed)
        inner += np.outer(own, population[:, 0]) + np.outer(population[:, 0], own)
        on_step += own
    one, two = network.size(0) * network.gain, network.size(1)
    mixed = one * two * np.outer(u, on_step)
    kernel = two**2 * inner + mixed + mixed.T + one**2 * gram[0, 0] * np.outer(u, u)
    overlaps = two * projected[:, 1:] + one * np.outer(u, gram[0, 1:])
    root = math.sqrt(setting.p)
    kept, width = network.widths(u)
    kept = kept + two / root * u * (slopes.tilt @ residual)
    # The second gradient also moves a row along the noise of the first.
    carried = 1.0 + two / root * u * (slopes.curvature @ residual)
    # Variances of the slopes, times e2^2 r2^2 and, where h is shared, times 2 e1 e2 r1 r2.
    pair = back[:, None, None]
    plain, once, twice = (samples.second[:, k] for k in range(3))
    noise = two**2 * (slopes.square - slopes.mean**2)
    variance = noise @ square
    along = np.tensordot(noise, twice - 2.0 * pair * once + pair**2 * plain, axes=1)
    if reused:
        covariance = 2.0 * network.size(0) * two * (slopes.cross - network.gain * slopes.mean)
        covariance *= carried[:, None]
        variance += covariance @ crossed
        along += np.tensordot(covariance, twice - pair * once, axes=1)
    share = delta * u**2 / setting.p
    first = carried * width
    return RowUpdate(
        kernel=0.5 * (kernel + kernel.T),
        target=overlaps[:, :-1],
        network=overlaps[:, -1],
        kept=kept,
        spread=first**2 + share * variance,
        target_spread=_first_spread(network, first) + share[:, None, None] * along,
    )
