"""What giant steps add to the weights: a part of low rank, and the variances of the rows' noise.

Row i of W after the steps is kept(u_i) w_i + R(u_i)/sqrt(p) + noise, R(u) a vector that depends on
the neuron through its readout u only; K(u, u') = R(u).R(u').  A step takes this law to the same law
after it, whatever their number (docs/derivations/many_steps.md); a second step on the batch of the
first has terms of its own (docs/derivations/two_step.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.batch import Batch, fresh_batch, reused_batch
from giantstep.prediction.wide.network import Network


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

    @property
    def known(self) -> Float[np.ndarray, "q c"]:
        """R(u).(w*_1, .., w*_r, g)."""
        return np.column_stack([self.target, self.network])

    def noise_added(self, weights: Float[np.ndarray, " q"]) -> float:
        """Square length of the noise in the rows, in what they keep of theirs."""
        return float(weights @ self.spread) / float(weights @ self.kept**2)

    def moved(self, weights: Float[np.ndarray, " q"], p: int) -> float:
        """By how many of their lengths the steps move the rows, root mean square."""
        return math.sqrt(float(weights @ np.diag(self.kernel)) / p)


def start_update(network: Network) -> RowUpdate:
    """Before any step."""
    q, r = len(network.readout[0]), network.setting.target.r
    none = np.zeros(q)
    return RowUpdate(
        np.zeros((q, q)), np.zeros((q, r)), none, np.ones(q), none, np.zeros((q, r, r))
    )


def updates_of(network: Network) -> list[RowUpdate]:
    """The update after each step of the setting."""
    return [update_after(each) for each in networks_of(network)]


def networks_of(network: Network) -> list[Network]:
    """The network with the first step of its setting alone, with the first two, .., with all."""
    return [network.with_steps(steps) for steps in range(1, network.setting.steps + 1)]


@lru_cache(maxsize=64)
def update_after(network: Network) -> RowUpdate:
    """The update after the last step of the setting; kept, for each step takes the one before."""
    if network.setting.steps == 0:
        return start_update(network)
    update = next_update(network, _before(network), batch_of(network))
    return of_weights(network, update) if network.setting.steps == 1 else update


@lru_cache(maxsize=64)
def batch_of(network: Network) -> Batch:
    """What the last step of the setting sees on its batch; kept, for the bulk asks for it too."""
    before = _before(network)
    if network.reused and network.setting.steps == 2:
        return reused_batch(network, before.kept, before.spread)
    return fresh_batch(network, before.kernel, before.known, before.kept, before.spread)


def _before(network: Network) -> RowUpdate:
    """The update before the last step of the setting."""
    return update_after(network.with_steps(network.setting.steps - 1))


def of_weights(network: Network, update: RowUpdate) -> RowUpdate:
    """The update of one step for inputs in blocks, from that for normals: Sigma^(1/2) times R(u).

    beta = f_1 - s c_1 Sigma^(1/2) g + noise, f_1 along the target, and R(u) is along beta.  What a
    row keeps of its start differs from block to block: the mean is kept, the rest counts as noise.

    docs/derivations/wide_blocks.md, eqs. (4) and (8).
    """
    inputs, linear, turned = network.inputs, network.label[2], network.inputs.target_deviations
    own_pull = (network.start_feedback * network.moments.linear) ** 2
    noise = network.noise_ratio * network.residual_square
    square = float(linear @ linear) + own_pull + noise
    longer = linear**2 @ (inputs.along_target(2) / inputs.along_target(1)) + noise
    longer += own_pull * inputs.moment(2)
    uneven = (update.kept - 1.0) ** 2 * (inputs.moment(2) - 1.0)
    along = turned[:, None] * update.target_spread * turned
    return RowUpdate(
        kernel=update.kernel * (longer / square if square > 0 else 1.0),
        target=update.target * turned,
        network=update.network,
        kept=update.kept,
        spread=update.spread + uneven,
        target_spread=along + np.multiply.outer(uneven, np.eye(len(turned))),
    )


def next_update(network: Network, before: RowUpdate, batch: Batch) -> RowUpdate:
    """R(u) + e Q(u), Q(u) = mean of u sigma'(A) r x over the samples, and what a row keeps.

    docs/derivations/many_steps.md, eqs. (5), (6) and (7).
    """
    size, gradient = network.size(network.setting.steps - 1), gradient_of(network, batch)
    # K' = K + e (Q.R' + R.Q') + e^2 Q.Q'
    mixed = size * gradient.on_update
    kernel = before.kernel + mixed + mixed.T + size**2 * gradient.inner
    overlaps = before.known + size * gradient.on_target
    spread, target_spread = _spread(network, before, batch)
    # kept' = kept + (e/sqrt p) u E[r h sigma'(A)]
    #        - (e/p) u^2 (what the row's own part of the residual takes)
    kept = before.kept + _per_row(network) * (batch.slopes.on_start @ batch.mean)
    kept = kept - size / network.setting.p * batch.own_pull * network.readout[0] ** 2
    return RowUpdate(
        kernel=0.5 * (kernel + kernel.T),
        target=overlaps[:, :-1],
        network=overlaps[:, -1],
        kept=kept,
        spread=spread,
        target_spread=target_spread,
    )


def self_pull(
    delta: float, psi: Float[np.ndarray, "q m"], crossed: Float[np.ndarray, " m"]
) -> Float[np.ndarray, " q"]:
    """delta E[psi r_1 r_2]: a sample is part of the beta it is projected on, by delta r_1."""
    return delta * (psi @ crossed)


@dataclass(frozen=True)
class Gradient:
    """Inner products of Q(u): ``inner`` Q.Q', ``on_update`` Q.R', ``on_target`` Q.(w*, g)."""

    inner: Float[np.ndarray, "q q"]
    on_update: Float[np.ndarray, "q q"]
    on_target: Float[np.ndarray, "q c"]


def gradient_of(network: Network, batch: Batch) -> Gradient:
    """With F = u m(u) r, G the Gram matrix of the known directions b and delta = d/n,

    pop = G^-1 E[F b.x], Q.Q' = pop.G pop' + delta E[F F'], Q.R' = pop.(b.R'), and on the batch of
    step 1 B = delta E[F r_1], a sample's pull on itself: Q.beta += B,
    Q.Q' += B pop_beta' + pop_beta B'.

    docs/derivations/many_steps.md, eqs. (5) and (6); docs/derivations/two_step.md, eq. (5).
    """
    delta, u = network.noise_ratio, network.readout[0]
    psi = u[:, None] * batch.slopes.mean
    # E[F b.x] = G pop
    projected = psi @ batch.along
    population = np.linalg.solve(batch.gram, projected.T).T
    inner = population @ projected.T + delta * (psi * batch.square) @ psi.T
    on_update = population @ batch.loading.T
    if batch.crossed is not None:
        pull = self_pull(delta, psi, batch.crossed)
        inner = inner + np.outer(pull, population[:, 0]) + np.outer(population[:, 0], pull)
        on_update = on_update + np.outer(pull, network.size(0) * network.gain * u)
    return Gradient(inner, on_update, projected[:, -1 - network.setting.target.r :])


def _per_row(network: Network) -> Float[np.ndarray, " q"]:
    """(e/sqrt p) u: what the gradient of the last step is multiplied by in a row."""
    size = network.size(network.setting.steps - 1)
    return size / math.sqrt(network.setting.p) * network.readout[0]


def added_beside(network: Network, batch: Batch) -> Float[np.ndarray, " q"]:
    """Square length of what the last step adds to a row beside R(u): noise, and some of its start.

    (delta u^2/p) e^2 E[r^2 Var sigma'(A)] + ((e/sqrt p) u E[r h sigma'(A)])^2.
    """
    variance = batch.slopes.square - batch.slopes.mean**2
    noise = network.noise_ratio * (variance @ batch.square)
    return _per_row(network) ** 2 * (noise + (batch.slopes.on_start @ batch.mean) ** 2)


def carried_noise(network: Network, batch: Batch) -> Float[np.ndarray, " q"]:
    """1 + (e/sqrt p) u E[r sigma''(A)]: what the last step makes of the noise a row has."""
    return 1.0 + _per_row(network) * (batch.slopes.curvature @ batch.mean)


def _spread(
    network: Network, before: RowUpdate, batch: Batch
) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "q r r"]]:
    """Variances of the rows' noise after the step, on average and along the target.

    spread' = carried^2 spread + (delta u^2/p) E[e^2 r^2 Var sigma'(A)]
              + (reused) (delta u^2/p) 2 e_1 e_2 carried E[r_1 r_2 Cov(sigma'(h), sigma'(A))],
    carried = 1 + (e/sqrt p) u E[r sigma''(A)]: a step also moves a row along the noise that it
    has.  Along the target z z^T stands beside the residuals.

    docs/derivations/many_steps.md, eq. (7); docs/derivations/two_step.md, eq. (7).
    """
    slopes, size = batch.slopes, network.size(network.setting.steps - 1)
    carried = carried_noise(network, batch)
    variance = size**2 * (slopes.square - slopes.mean**2)
    total = variance @ batch.square
    along = np.tensordot(variance, batch.target_square, axes=1)
    if batch.crossed is not None and batch.target_crossed is not None:
        covariance = 2.0 * network.size(0) * size * (slopes.cross - network.gain * slopes.mean)
        covariance = carried[:, None] * covariance
        total = total + covariance @ batch.crossed
        along = along + np.tensordot(covariance, batch.target_crossed, axes=1)
    share = network.noise_ratio * network.readout[0] ** 2 / network.setting.p
    return (
        carried**2 * before.spread + share * total,
        (carried**2)[:, None, None] * before.target_spread + share[:, None, None] * along,
    )


def orthonormal_powers(
    u: Float[np.ndarray, " q"], root: Float[np.ndarray, " q"], count: int
) -> Float[np.ndarray, "q count"]:
    """u, u^2, .. times the root of their weights, made orthonormal in this order."""
    return np.linalg.qr(root[:, None] * u[:, None] ** np.arange(1, count + 1))[0]
