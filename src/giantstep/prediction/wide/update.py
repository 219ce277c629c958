"""What giant steps add to the weights: a part of low rank, and the variances of the rows' noise.

Row i of W after the steps is kept(u_i) w_i + R(u_i)/sqrt(p) + noise, R(u) a vector that depends on
the neuron through its readout u only; K(u, u') = R(u).R(u').  Derivation:
docs/derivations/two_step.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.samples import Samples
from giantstep.prediction.wide.slopes import Slopes, rows_after_first, second_batch


@dataclass(frozen=True)
class RowUpdate:
    """The part of low rank of W - W_0, what rows keep of their start, and their noise.

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

    def noise_added(self, weights: Float[np.ndarray, " q"]) -> float:
        """Square length of the noise in the rows, in what they keep of theirs."""
        return float(weights @ self.spread) / float(weights @ self.kept**2)

    def moved(self, weights: Float[np.ndarray, " q"], p: int) -> float:
        """By how many of their lengths the steps move the rows, root mean square."""
        return math.sqrt(float(weights @ np.diag(self.kernel)) / p)


def first_update(network: Network) -> RowUpdate:
    """After step 1: R(u) = size_1 c_1 u beta."""
    u = network.readout[0]
    left = network.size(0) * network.gain * u
    kept, width = rows_after_first(network)
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


def self_pull(
    delta: float, psi: Float[np.ndarray, "q m"], crossed: Float[np.ndarray, " m"]
) -> Float[np.ndarray, " q"]:
    """delta E[psi r_1 r_2]: a sample is part of the beta it is projected on, by delta r_1."""
    return delta * (psi @ crossed)


def updates_of(network: Network) -> list[RowUpdate]:
    """The update after each step of the setting, one or two."""
    return [
        first_update(network),
        *([second_update(network)] if network.setting.steps == 2 else []),
    ]


def second_update(network: Network) -> RowUpdate:
    """After step 2: R(u) = size_1 c_1 u beta + size_2 Q(u), Q(u) = mean of u sigma'(A) r_2 x.

    docs/derivations/two_step.md, eq. (6).
    """
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
    overlaps = two * gradient.on_target + one * np.outer(u, network.gram[0, 1:])
    spread, target_spread = _second_spread(network, slopes, residual)
    # kept' = kept + (e_2/sqrt p) u E[r_2 h sigma'(A)]
    kept = rows_after_first(network)[0] + _per_row(network) * (slopes.on_start @ residual.mean)
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

    ``mean``, ``square`` and ``crossed`` -> of r_2, r_2^2 and r_1 r_2; ``along`` -> of r_2 (t, z,
    g.x); ``target_square`` and ``target_crossed`` -> of z z^T times r_2^2 and r_1 r_2.
    """

    mean: Float[np.ndarray, " m"]
    square: Float[np.ndarray, " m"]
    crossed: Float[np.ndarray, " m"]
    along: Float[np.ndarray, "m c"]
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
        along=np.column_stack([samples.step * mean, first]),
        target_square=twice - 2.0 * shift * once + shift**2 * plain,
        target_crossed=twice - shift * once,
    )


@dataclass(frozen=True)
class SecondGradient:
    """Inner products of Q(u): ``inner`` Q.Q', ``on_step`` Q.beta, ``on_target`` Q.(w*, g)."""

    inner: Float[np.ndarray, "q q"]
    on_step: Float[np.ndarray, " q"]
    on_target: Float[np.ndarray, "q k"]


def second_gradient(network: Network, slopes: Slopes, residual: SecondResidual) -> SecondGradient:
    """With F = u m(u) r_2, G the Gram matrix of (beta, w*, g) and delta = d/n,

    pop = G^-1 E[F (t, z, g.x)], Q.Q' = pop.G pop' + delta E[F F'], and for reused batches
    B = delta E[F r_1], a sample's pull on itself: Q.beta += B, Q.Q' += B pop_beta' + pop_beta B'.

    docs/derivations/two_step.md, eq. (5).
    """
    delta = network.noise_ratio
    psi = network.readout[0][:, None] * slopes.mean
    # E[F (t, z, g.x)] = G pop
    projected = psi @ residual.along
    population = np.linalg.solve(network.gram, projected.T).T
    inner = population @ projected.T + delta * (psi * residual.square) @ psi.T
    on_step = projected[:, 0]
    if network.reused:
        pull = self_pull(delta, psi, residual.crossed)
        inner = inner + np.outer(pull, population[:, 0]) + np.outer(population[:, 0], pull)
        on_step = on_step + pull
    return SecondGradient(inner=inner, on_step=on_step, on_target=projected[:, 1:])


def _per_row(network: Network) -> Float[np.ndarray, " q"]:
    """(e_2/sqrt p) u: what the gradient of step 2 is multiplied by in a row."""
    return network.size(1) / math.sqrt(network.setting.p) * network.readout[0]


def added_beside(
    network: Network, slopes: Slopes, residual: SecondResidual
) -> Float[np.ndarray, " q"]:
    """Square length of what step 2 adds to a row beside R(u): noise, and a multiple of its start.

    (delta u^2/p) e_2^2 E[r_2^2 Var sigma'(A)] + ((e_2/sqrt p) u E[r_2 h sigma'(A)])^2.
    """
    variance = network.size(1) ** 2 * (slopes.square - slopes.mean**2)
    noise = network.noise_ratio * network.readout[0] ** 2 / network.setting.p
    return (
        noise * (variance @ residual.square)
        + (_per_row(network) * (slopes.on_start @ residual.mean)) ** 2
    )


def _second_spread(
    network: Network, slopes: Slopes, residual: SecondResidual
) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "q r r"]]:
    """Variances of the rows' noise after step 2, on average and along the target.

    spread = carried^2 width^2 + (delta u^2/p) E[e_2^2 r_2^2 Var sigma'(A)]
             + (reused) (delta u^2/p) 2 e_1 e_2 carried E[r_1 r_2 Cov(sigma'(h), sigma'(A))],
    carried = 1 + (e_2/sqrt p) u E[r_2 sigma''(A)]: step 2 also moves a row along the noise of
    step 1.  Along the target z z^T stands beside the residuals.

    docs/derivations/two_step.md, eq. (7).
    """
    u, (one, two) = network.readout[0], (network.size(0), network.size(1))
    carried = 1.0 + _per_row(network) * (slopes.curvature @ residual.mean)
    variance = two**2 * (slopes.square - slopes.mean**2)
    total = variance @ residual.square
    along = np.tensordot(variance, residual.target_square, axes=1)
    if network.reused:
        covariance = 2.0 * one * two * (slopes.cross - network.gain * slopes.mean)
        covariance = carried[:, None] * covariance
        total = total + covariance @ residual.crossed
        along = along + np.tensordot(covariance, residual.target_crossed, axes=1)
    share = network.noise_ratio * u**2 / network.setting.p
    first = carried * rows_after_first(network)[1]
    return (
        first**2 + share * total,
        _first_spread(network, first) + share[:, None, None] * along,
    )


def orthonormal_powers(
    u: Float[np.ndarray, " q"], root: Float[np.ndarray, " q"], count: int
) -> Float[np.ndarray, "q count"]:
    """u, u^2, .. times the root of their weights, made orthonormal in this order."""
    return np.linalg.qr(root[:, None] * u[:, None] ** np.arange(1, count + 1))[0]
