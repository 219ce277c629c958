"""The readout fitted on the samples of the last step: two laws of features on one set of nodes.

A row after the step holds each sample of the step, which moves the preactivations of this sample
(giantstep.prediction.wide.last_step).  The mean of sigma' moves <v, x>; what is left of it is an
echo of each neuron alone.  Besides, inputs outside v have sum_mu r_mu x_mu = 0.  Samples of the
batch and new samples are nodes of one closed system, the latter without weight.

The derivation is docs/derivations/own_batch.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.rules import gauss_hermite
from giantstep.prediction.wide.batch_nodes import BatchNodes
from giantstep.prediction.wide.degrees import Degrees, features_by_degree, radius_rule
from giantstep.prediction.wide.last_step import LastStep, nodes_of_step
from giantstep.prediction.wide.network import TYPICAL, Network, ReadoutStatistics
from giantstep.prediction.wide.neurons import NeuronTypes, neuron_types
from giantstep.prediction.wide.nodes import kappa_rule, node_counts
from giantstep.prediction.wide.quantities import own_pull
from giantstep.prediction.wide.readout_samples import ReadoutSamples, labelled
from giantstep.prediction.wide.system import ClosedSystem
from giantstep.problem.activation import Activation
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Echo:
    """Changes of a feature's moments by the echo of the neuron alone, on nodes of the batch.

    ``mean`` -> of mu0, ``slope`` -> of E d phi/d(preactivation), ``start_slope`` -> of
    E d phi/d(w.x), ``square`` -> of the second moments in a group.

    docs/derivations/own_batch.md, eq. (3).
    """

    mean: Float[np.ndarray, "m t b"]
    slope: Float[np.ndarray, "m t b"]
    start_slope: Float[np.ndarray, "m t b"]
    square: Float[np.ndarray, "m t b b"]


def batch_samples(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> ReadoutSamples:
    """The batch of the last step, on which the readout is fitted, and new samples to test it.

    docs/derivations/own_batch.md, eqs. (2), (4) and (6).
    """
    if (own_pull(setting) or 0.0) > 0.0:
        # A pull within its limit, which noise does not make up for, is left out.
        setting = setting.vary(residual="labels")
    types = neuron_types(setting, statistics=statistics, split=True)
    batch, last = nodes_of_step(Network(setting, statistics), types)
    k = batch.kappa.shape[1]
    fresh, weights = kappa_rule(k, counts=node_counts(setting, types))
    squares, shares = radius_rule(types.freedom(setting.d))
    degrees = features_by_degree(
        setting.activation,
        types,
        np.concatenate([batch.kappa, fresh]),
        setting.d,
        np.concatenate([batch.special[:, :k], fresh]),
    )
    count, nodes = len(batch.kappa), len(batch.kappa) + len(fresh)
    # Nodes of the batch, for one radius after the other.
    inside = np.add.outer(nodes * np.arange(len(squares)), np.arange(count)).ravel()
    echo = neuron_echo(setting.activation, types, batch, last)
    degrees = _with_echo(degrees, types, echo, inside, last)
    _move_special(
        degrees.means.reshape(-1, len(squares) * nodes, *degrees.means.shape[1:]), batch, inside
    )
    system = ClosedSystem(
        n=setting.n,
        groups=setting.p / types.along.shape[1],
        types=types,
        kappa=np.tile(np.concatenate([batch.kappa, fresh]), (len(squares), 1)),
        radius=np.repeat(squares, nodes),
        weights=np.outer(shares, np.concatenate([batch.weights, 0.0 * weights])).ravel(),
        means=degrees.means,
        blocks=degrees.blocks,
        noise=degrees.noise,
    )
    tests = np.outer(shares, np.concatenate([0.0 * batch.weights, weights])).ravel()
    samples = replace(labelled(setting, system), test_weights=tests)
    return _with_batch_labels(samples, batch, inside)


def neuron_echo(
    activation: Activation, types: NeuronTypes, batch: BatchNodes, last: LastStep
) -> Echo:
    """Moments with the echo less those without, by one rule over (q, g) for both.

    docs/derivations/own_batch.md, eqs. (3) and (11).
    """
    apart = np.sqrt(np.maximum(types.length**2 - last.start**2, 0.0))
    apart = np.copysign(apart, types.readout)
    shift = np.einsum("mk,tbk->mtb", batch.kappa, types.along)
    # The share in kappa is not that of the neuron alone.
    shared = np.einsum("mk,tbk->mtb", batch.echo, types.along)
    size = batch.residual[:, None, None] * last.size
    nodes = zip(last.shift, shift, size, shared, strict=True)
    parts = [_change(activation, *node, last, apart) for node in nodes]
    return Echo(*(np.array(part) for part in zip(*parts, strict=True)))


def _change(
    activation: Activation,
    before: Float[np.ndarray, "t b"],
    shift: Float[np.ndarray, "t b"],
    size: Float[np.ndarray, "t b"],
    shared: Float[np.ndarray, "t b"],
    last: LastStep,
    apart: Float[np.ndarray, "t b"],
    *,
    grid: int = 96,
    reach: float = 6.5,
    nodes: int = 9,
) -> tuple[Float[np.ndarray, "..."], ...]:
    """The four changes at one node: an even grid over q, without 0, and few nodes over the noise.

    sigma' may jump at A = 0, for one step at q = 0, and a jump midway between points of the grid
    costs its spacing squared.  Partners of a pair have one q: their noise before the step is small.
    """
    x = (np.arange(grid) - 0.5 * (grid - 1)) * (2.0 * reach / grid)
    z, shares = gauss_hermite(nodes)
    q, g = (part.ravel() for part in np.meshgrid(x, z, indexing="ij"))
    mass = np.outer(np.exp(-0.5 * x**2), shares).ravel()
    mass /= mass.sum()
    slope = activation.derivative(before[..., None] + last.before[..., None] * q)
    echo = size[..., None] * np.asarray(slope, dtype=float) - shared[..., None]
    after = shift[..., None] + last.start[..., None] * q + apart[..., None] * g
    quiet = np.asarray(activation(after), dtype=float)
    heard = np.asarray(activation(after + echo), dtype=float)
    change = (heard - quiet) * mass
    along = change @ g
    slope = np.divide(along, apart, out=np.zeros_like(along), where=apart != 0)
    square = np.einsum("tbx,tcx->tbc", heard * mass, heard)
    square -= np.einsum("tbx,tcx->tbc", quiet * mass, quiet)
    return change.sum(axis=-1), slope, change @ q - last.start * slope, square


def _with_echo(
    degrees: Degrees,
    types: NeuronTypes,
    echo: Echo,
    inside: Int[np.ndarray, " i"],
    last: LastStep,
) -> Degrees:
    """The moments with the echo on the nodes ``inside``, those of the batch."""
    radii = len(inside) // len(echo.mean)
    mean, slope, start_slope, square = (
        np.tile(part, (radii, *[1] * (part.ndim - 1))) for part in vars(echo).values()
    )
    means, noise = degrees.means.copy(), degrees.noise.copy()
    before = means[inside, :, 0]
    means[inside, :, 0] += mean
    # S = E[phi phi^T] - mu0 mu0^T - mu1 mu1^T
    change = square - _outer(means[inside, :, 0]) + _outer(before)
    blocks = []
    for block, load in zip(degrees.blocks[:-1], types.load, strict=True):
        parts = block.parts.copy()
        old = parts[inside]
        new = old + np.einsum("mtb,tbj->mtjb", slope, load)
        new += np.einsum("mtb,tbj->mtjb", start_slope, last.direction)
        parts[inside] = new
        for j in range(new.shape[2]):
            change += block.share * (_outer(old[:, :, j]) - _outer(new[:, :, j]))
        blocks.append(replace(block, parts=parts))
    noise[inside] += change
    return Degrees(means, (*blocks, degrees.blocks[-1]), noise)


def _outer(vectors: Float[np.ndarray, "m t b"]) -> Float[np.ndarray, "m t b b"]:
    return vectors[..., :, None] * vectors[..., None, :]


def _move_special(
    layers: Float[np.ndarray, "y m t l b"], batch: BatchNodes, inside: Int[np.ndarray, " i"]
) -> None:
    """The mean of xi on a node goes to the first layer, its deviation stays on that of xi."""
    radii = len(inside) // len(batch.kappa)
    k = batch.kappa.shape[1]
    for e in range(1, batch.special.shape[1] - k + 1):
        mean, variance = (
            np.tile(part[:, k - 1 + e], radii)[:, None, None, None]
            for part in (batch.special, batch.special_variance)
        )
        layers[0, inside] += mean * layers[e, inside]
        layers[e, inside] *= np.sqrt(variance)


def _with_batch_labels(
    samples: ReadoutSamples, batch: BatchNodes, inside: Int[np.ndarray, " i"]
) -> ReadoutSamples:
    """On the nodes of the batch the label is known: r, and the mean of the network."""
    radii = len(inside) // len(batch.kappa)
    label, curve, remaining = samples.label.copy(), samples.curve.copy(), samples.remaining.copy()
    label[:, inside] = 0.0
    label[0, inside] = np.tile(batch.label, radii)
    curve[inside] = 0.0
    remaining[inside] = 0.0
    known = np.zeros((batch.known.shape[1], len(remaining)))
    known[:, inside] = np.tile(batch.known.T, radii)
    return replace(samples, label=label, curve=curve, remaining=remaining, known=known)
