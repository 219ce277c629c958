"""What the fresh samples of a giant step see of the steps before it, at linear width.

After some steps row i is kept(u_i) w_i + R(u_i)/sqrt(p) + noise.  On a new input x the rows know
kappa_k = v_k.x along the directions v_k of R, and

    A = kept h + width zeta + R(u).x/sqrt(p),    R(u).x = sum_k theta_k phi_k(u) kappa_k,

is the preactivation of a neuron, h and zeta normal.  The residual of the step is
r = y - s f, f = M(kappa) + a fluctuation that is linear in g.x but for a Gaussian rest, and
M = sqrt(p) E_u[u sigma(A)].  (kappa, z, g.x) is Gaussian.
Derivation: docs/derivations/many_steps.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.rules import gauss_hermite
from giantstep.prediction.labels import (
    coordinate_rule,
    label_grid,
    outside_of,
    parts_of,
    split_pairs,
    up_to_pairs,
)
from giantstep.prediction.wide.directions import Directions, directions_of
from giantstep.prediction.wide.network import COARSE_SPACING, SAMPLE_SPACING, Network
from giantstep.prediction.wide.samples import Masses, batch_samples
from giantstep.prediction.wide.slopes import FreshSlopes, Slopes, fresh_slopes, reused_slopes

COORDINATE_NODES: tuple[tuple[int, ...], ...] = ((), (24,), (24, 12), (20, 10, 6))
"""Gauss-Hermite nodes along the directions of the steps before, strongest first."""

PAIR_NODES = (24, 24)
"""Gauss-Hermite nodes of the start and of the noise of two paired neurons."""


@dataclass(frozen=True)
class OwnOutput:
    """The network's output beside s M on atoms of kappa: offset + pull g.x + Gaussian rest.

    ``variance`` -> that of the rest.  All are 0 where the residual is the label.  Paired rows have
    the rest alone, and that only after a step.

    docs/derivations/many_steps.md, eqs. (3) and (8).
    """

    offset: Float[np.ndarray, " m"]
    pull: Float[np.ndarray, " m"]
    variance: Float[np.ndarray, " m"]

    @classmethod
    def of(cls, network: Network, slopes: FreshSlopes) -> OwnOutput:
        """With E over u: offset = s total E[u^2 sigma], pull = s E[u^2 h sigma]."""
        u, weights = network.readout
        scale, squares = network.start_feedback, weights * u**2
        pull = scale * (squares @ slopes.value_on_start)
        return cls(
            offset=scale * network.statistics.total * (squares @ slopes.value),
            pull=pull,
            variance=np.maximum(scale**2 * (squares @ slopes.value_variance) - pull**2, 0.0),
        )

    @classmethod
    def of_pairs(
        cls,
        network: Network,
        kept: Float[np.ndarray, " q"],
        width: Float[np.ndarray, " q"],
        shift: Float[np.ndarray, "q m"],
    ) -> OwnOutput:
        """(s^2/2) E[u^2 Var(sigma(A) - sigma(A'))], A' of the neuron that started with (w, -u).

        The two share their start and have opposite noise: A = kept h + width zeta + shift has
        A' = kept' h - width' zeta + shift'.

        docs/derivations/many_steps.md, eq. (8).
        """
        u, weights = network.readout
        half = len(u) // 2  # the second half of the nodes has u > 0, mirrored to the first
        (h, of_h), (zeta, of_zeta) = (gauss_hermite(nodes) for nodes in PAIR_NODES)
        shares = np.outer(of_h, of_zeta)
        variance = np.zeros(shift.shape[1])
        for at in range(half, len(u)):
            values = []
            for node, sign in ((at, 1.0), (len(u) - 1 - at, -1.0)):
                random = kept[node] * h[:, None] + sign * width[node] * zeta
                preactivation = shift[node, :, None, None] + random
                values.append(np.asarray(network.inputs.activation(preactivation), dtype=float))
            gap = values[0] - values[1]
            mean = np.sum(shares * gap, axis=(1, 2), keepdims=True)
            spread = np.sum(shares * (gap - mean) ** 2, axis=(1, 2))
            # Both nodes of the pair have this variance: twice the weight of one.
            variance += network.feedback**2 * weights[at] * u[at] ** 2 * spread
        none = np.zeros_like(variance)
        return cls(none, none, variance)

    @classmethod
    def at_start(cls, network: Network, atoms: int) -> OwnOutput:
        """Of the network before the first step."""
        scale, moments, ones = network.start_feedback, network.moments, np.ones(atoms)
        rest = scale**2 * moments.rest
        return cls(network.offset * ones, scale * moments.linear * ones, rest * ones)


@dataclass(frozen=True)
class Batch:
    """The samples of one step, on atoms of what the slopes of the neurons depend on.

    ``coordinates`` -> of each atom.  ``gram`` -> the Gram matrix of the known directions, those of
    R, then w*_1 .. w*_r and g; ``loading`` -> R(u) of the steps before, along each of them.
    ``slopes`` -> of the neurons.  ``mass``, ``mean`` and ``square`` -> masses of 1, r and r^2;
    ``along`` -> masses of r times the known coordinates of a sample; ``target_mass``,
    ``target_mean`` and ``target_square`` -> of z z^T, r z z^T and r^2 z z^T.
    ``answer`` -> s M at the atoms, ``own`` -> what the network's output has beside it, ``own_pull``
    -> how a neuron's own part of that pulls it back, 0 for used samples.  Of samples
    that the first step had as well, ``crossed`` -> masses of r_1 r_2 and ``target_crossed`` -> of
    r_1 r_2 z z^T; None for new samples.
    """

    coordinates: Float[np.ndarray, "m k"]
    gram: Float[np.ndarray, "c c"]
    loading: Float[np.ndarray, "q c"]
    slopes: Slopes
    mass: Float[np.ndarray, " m"]
    mean: Float[np.ndarray, " m"]
    square: Float[np.ndarray, " m"]
    along: Float[np.ndarray, "m c"]
    target_mass: Float[np.ndarray, "m r r"]
    target_mean: Float[np.ndarray, "m r r"]
    target_square: Float[np.ndarray, "m r r"]
    answer: Float[np.ndarray, " m"]
    own: OwnOutput
    own_pull: Float[np.ndarray, " q"]
    crossed: Float[np.ndarray, " m"] | None = None
    target_crossed: Float[np.ndarray, "m r r"] | None = None


def fresh_batch(
    network: Network,
    kernel: Float[np.ndarray, "q q"],
    known: Float[np.ndarray, "q c"],
    kept: Float[np.ndarray, " q"],
    spread: Float[np.ndarray, " q"],
    *,
    least: float = 1e-6,
) -> Batch:
    """What a step on new samples sees: ``kernel`` -> R.R', ``known`` -> R.(w*, g) before it.

    Directions whose part of a preactivation has a variance below ``least``, and those beyond the
    third, count as noise of each neuron alone.  The strongest one never does: however small it is
    in a neuron, the output of all neurons may be made of it.

    docs/derivations/many_steps.md, eqs. (2), (3) and (4).
    """
    p = network.setting.p
    every = directions_of(kernel, known, network.readout[1])
    there = int(np.sum(every.squares > least * p)) or int(np.sum(every.squares[:1] > VANISHING))
    count = min(there, len(COORDINATE_NODES) - 1)
    strong, weak = every.first(count), every.along[:, count:]
    kappa, shares = coordinate_rule(COORDINATE_NODES[count], 1e-12)
    width = np.sqrt(spread + np.sum(weak**2, axis=1) / p)
    shift = strong.along @ kappa.T / math.sqrt(p)
    slopes = fresh_slopes(network, kept, width, shift)
    if network.paired and network.feedback > 0:
        own = OwnOutput.of_pairs(network, kept, width, shift)
    else:
        own = OwnOutput.of(network, slopes)
    return _batch(
        network,
        label_masses(network, strong, own, kappa, shares),
        slopes,
        own=own,
        own_pull=network.start_feedback * (slopes.own_pull @ shares),
        coordinates=kappa,
        learned=kappa,
        gram=np.block(
            [[np.eye(count), strong.overlap], [strong.overlap.T, np.eye(known.shape[1])]]
        ),
        loading=np.column_stack([strong.along, known]),
    )


def reused_batch(
    network: Network, kept: Float[np.ndarray, " q"], spread: Float[np.ndarray, " q"]
) -> Batch:
    """What step 2 sees on the samples of step 1, whose direction is beta: atoms of (beta.x, r_1).

    docs/derivations/two_step.md, eq. (4).
    """
    samples = batch_samples(network)
    batch = _batch(
        network,
        samples,
        reused_slopes(network, samples, kept, np.sqrt(spread)),
        own=OwnOutput.at_start(network, len(samples.mass)),
        own_pull=np.zeros(len(kept)),
        coordinates=np.column_stack([samples.step, samples.residual]),
        learned=samples.step[:, None],
        gram=network.gram,
        loading=np.outer(network.size(0) * network.gain * network.readout[0], network.gram[0]),
    )
    back = batch.answer
    return replace(
        batch,
        crossed=samples.square - back * samples.mean,
        target_crossed=samples.second[:, 2] - back[:, None, None] * samples.second[:, 1],
    )


def _batch(
    network: Network,
    masses: Masses,
    slopes: Slopes,
    *,
    own: OwnOutput,
    own_pull: Float[np.ndarray, " q"],
    coordinates: Float[np.ndarray, "m l"],
    learned: Float[np.ndarray, "m k"],
    gram: Float[np.ndarray, "c c"],
    loading: Float[np.ndarray, "q c"],
) -> Batch:
    """r - s M has the same M at all of an atom: its masses follow from those of r."""
    u, weights = network.readout
    # s M = s sqrt(p) E_u[u sigma(A)]
    answer = network.feedback * math.sqrt(network.setting.p) * ((weights * u) @ slopes.value)
    mean = masses.mean - answer * masses.mass
    first = masses.first[:, 1] - answer[:, None] * masses.first[:, 0]
    shift = answer[:, None, None]
    plain, once, twice = (masses.second[:, k] for k in range(3))
    return Batch(
        coordinates=coordinates,
        gram=gram,
        loading=loading,
        slopes=slopes,
        mass=masses.mass,
        mean=mean,
        square=masses.square - 2.0 * answer * masses.mean + answer**2 * masses.mass,
        along=np.column_stack([learned * mean[:, None], first]),
        target_mass=plain,
        target_mean=once - shift * plain,
        target_square=twice - 2.0 * shift * once + shift**2 * plain,
        answer=answer,
        own=own,
        own_pull=own_pull,
    )


def label_masses(
    network: Network,
    directions: Directions,
    own: OwnOutput,
    kappa: Float[np.ndarray, "m k"],
    shares: Float[np.ndarray, " m"],
) -> Masses:
    """Masses of r = y less the own output: given kappa, (z, g.x) is Gaussian.

    With k flipped labels of ten, y counts by 1 - 2 k/10, and y^2 by one.

    docs/derivations/many_steps.md, eq. (2).
    """
    r, overlap = network.setting.target.r, directions.overlap
    beside = -overlap[:, :r].T @ overlap[:, r]  # Cov(z, g.x | kappa)
    outside = outside_of(overlap[:, :r])
    # z = overlap^T kappa + outside^T xi, and g.x = its mean + on_label.xi + a rest
    on_label = np.linalg.pinv(outside.T) @ beside if len(outside) else np.zeros(0)
    left = max(1.0 - float(overlap[:, r] @ overlap[:, r]) - float(on_label @ on_label), 0.0)
    variance = own.pull**2 * left + own.variance + network.setting.noise**2
    spacing = SAMPLE_SPACING if kappa.shape[1] < 2 else COARSE_SPACING
    points, weights = label_grid(len(outside), spacing)
    flipped = 1.0 - 2.0 * network.setting.corruption
    spread = np.column_stack([points @ outside, points @ on_label])
    weighted, centres = weights[:, None] * up_to_pairs(spread), kappa @ overlap
    sums = np.empty((3, len(kappa), weighted.shape[1]))
    sums[0] = weighted.sum(axis=0)
    for part in parts_of(len(kappa), len(points)):
        at = centres[part, None] + spread
        output = own.offset[part, None] + own.pull[part, None] * at[..., r]
        y = network.label_at(at[..., :r].reshape(-1, r)).reshape(output.shape)
        sums[1, part] = (flipped * y - output) @ weighted
        squares = y**2 - 2.0 * flipped * y * output + output**2 + variance[part, None]
        sums[2, part] = squares @ weighted
    # (1, r, r^2) times 1, (z, g.x) and their pairs, first less their centres
    total, linear, pairs = split_pairs(shares[:, None] * sums, r + 1)
    first = total[:2, :, None] * centres + linear[:2]
    first[1, :, r] -= own.pull * left * shares
    mixed = centres[:, :, None] * linear[:, :, None]
    square = total[..., None, None] * (centres[:, :, None] * centres[:, None])
    second = (square + mixed + mixed.swapaxes(2, 3) + pairs)[..., :r, :r]
    return Masses(
        shares, total[1], total[2], first=np.moveaxis(first, 0, 1), second=np.moveaxis(second, 0, 1)
    )
