"""Neurons after two giant steps: types for the closed system, and the directions they have learned.

Row i is kept(u_i) w_i + R(u_i)/sqrt(p) + noise of squared length spread(u_i), u_i = sqrt(p) a_i.
The network's own linear part g = W0^T u/sqrt(p) is in R, rho = R.g, and made of the rows: with them
independent of the learned directions, the kernel of the update is

    K_eff(u, u') = R.R' + kept(u) u rho(u') + rho(u) kept(u') u'.

Its leading eigenfunctions theta_k phi_k(u) are the parts of the rows along v_1 .. v_k; what is left
of it counts as noise.  See docs/derivations/two_step.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import gauss_hermite
from giantstep.prediction.wide.second_directions import between, directions_of
from giantstep.prediction.wide.second_kernel import RowUpdate, second_update
from giantstep.prediction.wide.second_samples import Network
from giantstep.prediction.wide.step import (
    MOST_LENGTHENING,
    NeuronTypes,
    readout_rule,
)
from giantstep.problem.setting import Setting

MOST_DIRECTIONS = 3
"""Learned directions whose coordinates are kept: the nodes grow as their power."""

WEAK = 0.1
"""Squared strength of a direction, in p/d, up to which it counts as noise: rows at the start have
p/d along any direction."""

KAPPA_NODES = {1: (40,), 2: (12, 8), 3: (10, 7, 5)}
"""Gauss-Hermite nodes over the coordinates along so many directions, strongest first: errors to
5e-4 of rules with twice as many, on one direction to 3e-6."""

SPECTRUM_NODES = {1: (40,), 2: (24, 16), 3: (18, 12, 9)}
"""The same for outliers, which are good to 1e-3; most are too light for a sample and dropped."""


def noise_added(setting: Setting) -> float:
    """Square length that the noise of two steps adds to the rows, in what they keep of theirs."""
    network = Network(setting)
    update, weights = second_update(network), network.readout[1]
    return float(weights @ update.spread) / float(weights @ update.kept**2)


def objection(setting: Setting) -> str | None:
    """Why features after two steps are not those of independent rows, in one sentence, or None."""
    added = noise_added(setting)
    if added <= MOST_LENGTHENING:
        return None
    return (
        f"the noise of the steps must add at most {MOST_LENGTHENING:g} to the square length of a "
        f"row, got {added:.3g}"
    )


@dataclass(frozen=True)
class TwoSteps:
    """What two steps did: overlaps of the learned directions with the target, and the neurons."""

    overlap: Float[np.ndarray, "k r"]
    types: NeuronTypes


def two_steps(setting: Setting, readout_sum: float = 0.0, prune: bool = False) -> TwoSteps:
    """Types of neurons: along = R(u).v/sqrt(p) + own parts N(0, v(u)/d), v = kept^2 + spread.

    The partners of a symmetric start share kept w_i, and of the noise sqrt(spread) up to its sign.
    ``readout_sum`` -> sum_i a_i for |a| = 1; ``prune`` drops types that fewer than a tenth of a
    neuron would have.
    """
    network = Network(setting, readout_sum)
    update = effective_update(network)
    nodes, weights = network.readout
    found = directions_of(update, weights)
    strong = weights @ found.along**2 > WEAK * setting.p / setting.d
    k = max(1, min(int(np.sum(strong)), MOST_DIRECTIONS))
    spread = update.spread + np.sum(found.along[:, k:] ** 2, axis=1) / setting.p
    u, shares = readout_rule(setting, outside=prune)
    if network.paired:  # (u, -u) and (-u, u) are the same pair
        u, shares = u[u > 0], 2.0 * shares[u > 0]
    own, length, star = _own_parts(setting, k)
    shares = np.outer(shares, star).ravel()
    each, point = (axis.ravel() for axis in np.indices((len(u), len(star))))
    if prune:
        there = shares >= 0.1 / setting.p
        each, point, shares = each[there], point[there], shares[there] / shares[there].sum()
    readout = np.stack([u, -u], axis=1)[each] if network.paired else u[each][:, None]
    # Row by row: R(u).v, kept, and the variance of the noise
    values = np.column_stack([found.along[:, :k], update.kept, spread])
    at = between(nodes, values, readout.ravel()).reshape(*readout.shape, k + 2)
    kept, noise = at[..., k], np.maximum(at[..., k + 1], 0.0)
    start, apart = kept * np.sqrt(length[point])[:, None], np.sign(readout) * np.sqrt(noise)
    if network.paired:
        deviation, load = kept, np.stack([start, apart], axis=2)
    else:
        deviation, load = np.sqrt(kept**2 + noise), np.hypot(start, apart)[:, :, None]
    along = at[..., :k] / math.sqrt(setting.p)
    along = along + deviation[:, :, None] * own[point][:, None] / math.sqrt(setting.d)
    types = NeuronTypes(weights=shares, readout=readout, along=along, load=load)
    return TwoSteps(found.target[:k], types)


def _own_parts(
    setting: Setting, k: int
) -> tuple[Float[np.ndarray, "s k"], Float[np.ndarray, " s"], Float[np.ndarray, " s"]]:
    """A row's own parts along v (times sqrt d), its square length beside them, and weights.

    Both are of order d^(-1/2) and count to second order: a star of three points an axis, exact to
    degree 5 on each axis, serves.
    """
    axes = k + (setting.start == "gaussian")
    star = np.concatenate([np.zeros((1, axes)), math.sqrt(3.0) * _both_ways(axes)])
    weights = np.concatenate([[1.0 - axes / 3.0], np.full(2 * axes, 1.0 / 6.0)])
    own = star[:, :k]
    if setting.start == "gaussian":
        # Mean 1 and variance 2/d to leading order, positive for any d.
        length = np.exp(math.sqrt(2.0 / setting.d) * star[:, k] - 1.0 / setting.d)
    else:
        length = 1.0 - np.sum(own**2, axis=1) / setting.d
    return own, length, weights


def _both_ways(axes: int) -> Float[np.ndarray, "s k"]:
    return np.concatenate([np.eye(axes), -np.eye(axes)])


def kappa_rule(
    k: int, least: float = 0.0
) -> tuple[Float[np.ndarray, "m k"], Float[np.ndarray, " m"]]:
    """Tensor rule over the coordinates along k directions, without nodes lighter than ``least``."""
    counts = (SPECTRUM_NODES if least > 0 else KAPPA_NODES)[k]
    rules = [gauss_hermite(nodes) for nodes in counts]
    axes = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    weights = np.prod(np.meshgrid(*(w for _, w in rules), indexing="ij"), axis=0).ravel()
    kept = weights >= least
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    return points[kept], weights[kept] / weights[kept].sum()


def effective_update(network: Network) -> RowUpdate:
    """The update of two steps, with its kernel that of rows independent of the directions.

    Along the target rows are independent as they are; a deficit, where the part of K_eff beside it
    is negative, is one direction that the label does not see, without weight in the limit.
    """
    update = second_update(network)
    u, weights = network.readout
    start = update.kept * u
    beside = update.kernel - update.target @ update.target.T
    beside += np.outer(start, update.network) + np.outer(update.network, start)
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, None] * beside * root)
    factors = vectors * np.sqrt(np.maximum(values, 0.0)) / root[:, None]
    kernel = factors @ factors.T + update.target @ update.target.T
    return replace(update, kernel=kernel)
