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

from giantstep.prediction.labels import outside_of
from giantstep.prediction.wide.neurons import NeuronTypes, entries
from giantstep.prediction.wide.second_directions import between, directions_of
from giantstep.prediction.wide.second_kernel import RowUpdate, second_update
from giantstep.prediction.wide.second_samples import Network
from giantstep.prediction.wide.step import TYPICAL, Draw
from giantstep.problem.setting import Setting

MOST_DIRECTIONS = 3
"""Learned directions whose coordinates are kept: the nodes grow as their power."""

WEAK = 0.1
"""Squared strength of a direction, in p/d, up to which it counts as noise: rows at the start have
p/d along any direction."""


def noise_added(setting: Setting) -> float:
    """Square length that the noise of two steps adds to the rows, in what they keep of theirs."""
    network = Network(setting)
    update, weights = second_update(network), network.readout[1]
    return float(weights @ update.spread) / float(weights @ update.kept**2)


@dataclass(frozen=True)
class TwoSteps:
    """What two steps did: overlaps of the learned directions with the target, and the neurons."""

    overlap: Float[np.ndarray, "k r"]
    types: NeuronTypes


def two_steps(setting: Setting, draw: Draw = TYPICAL, prune: bool = False) -> TwoSteps:
    """Types of neurons, a value of u each: along = R(u).v/sqrt(p), modes N(0, 1/d) beside it.

    A mode is the part of kept w_i, or of the noise, along a learned direction, or along one that
    the label knows beside them; the partners of a symmetric start share the first, and the second
    up to its sign.  ``prune``, for spectra, drops types that fewer than a tenth of a neuron would
    have, and directions of the label.
    """
    network = Network(setting, draw)
    update = effective_update(network)
    nodes, weights = network.readout
    found = directions_of(update, weights)
    strong = weights @ found.along**2 > WEAK * setting.p / setting.d
    k = max(1, min(int(np.sum(strong)), MOST_DIRECTIONS))
    overlap = found.target[:k]
    spread = update.spread + np.sum(found.along[:, k:] ** 2, axis=1) / setting.p
    u, shares = entries(setting, prune)
    readout = np.stack([u, -u], axis=1) if network.paired else u[:, None]
    # Row by row: R(u).v, kept, and the variance of the noise
    values = np.column_stack([found.along[:, :k], update.kept, spread])
    at = between(nodes, values, readout.ravel()).reshape(*readout.shape, k + 2)
    kept, noise = at[..., k], np.maximum(at[..., k + 1], 0.0)
    apart = np.sign(readout) * np.sqrt(noise)
    load = [kept, apart] if network.paired else [np.hypot(kept, apart)]
    special = k if prune else k + len(outside_of(overlap))
    each = np.eye(special)
    length = np.zeros((special, 1, *kept.shape))
    own, other = (np.multiply.outer(each, part) for part in (kept, apart))
    components = np.concatenate([own, other, length], axis=1)
    stretch = np.zeros(components.shape[1:])
    # A normal vector of square length l in d directions has 2 l^2/d for the variance of l.
    square = noise**2 + (kept**4 if setting.start == "gaussian" else 0.0)
    stretch[-1] = np.sqrt(2.0 * square)
    types = NeuronTypes(
        weights=shares,
        readout=readout,
        along=at[..., :k] / math.sqrt(setting.p),
        shares=np.ones(1),
        load=np.stack(load, axis=2)[None],
        drift=np.moveaxis(components[:k], 0, -1),
        stretch=stretch,
        sideways=components[k:],
    )
    return TwoSteps(overlap, types)


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
