"""The last step as its own samples see it: nodes over them, and what each neuron takes of them.

A row after the step holds each sample mu of the step.  With mu left out of the row, which is then
independent of x_mu, the preactivation before the step is A, after it that of a new sample plus

    e u_i/sqrt(p) (d/n) r_mu sigma'(A)

(docs/derivations/own_batch.md, eqs. (1) and (9)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import gauss_hermite
from giantstep.prediction.labels import outside_of, tensor_rule
from giantstep.prediction.wide.batch_nodes import BatchNodes, Slice, batch_nodes, nodes_of
from giantstep.prediction.wide.both_steps import (
    Learned,
    kappa_given_label,
    second_coordinate,
    second_samples,
)
from giantstep.prediction.wide.network import COARSE_SPACING, Network, between
from giantstep.prediction.wide.neurons import NeuronTypes
from giantstep.prediction.wide.row_law import learned_by_two
from giantstep.prediction.wide.samples import given_step
from giantstep.prediction.wide.step import LearnedStep, learned_step
from giantstep.prediction.wide.update import batch_of, carried_noise, update_after

BEFORE = 6
"""Nodes over what a sample of step 2 shows of step 1."""

CELLS_OF_SECOND = (10, 8, 6)
"""Of the residual at each of them, by the number of learned directions."""

COUNTS_OF_SECOND = ((3,), (4, 2), (3, 2, 1))
"""Nodes along the learned directions in each cell, most along the least known."""

NORMAL_NODES = ((7,), (7, 3), (5, 3, 2))
"""Nodes over what kappa has beside t and the label, most along the least known."""


@dataclass(frozen=True)
class LastStep:
    """Preactivations before and after the last step, on one of its samples that the row left out.

    A = shift + before q and B = along.kappa + start q + apart g, with q and g normal; ``size`` ->
    e u/sqrt(p) d/n, and ``direction`` -> q along the start and the noise of a row.

    docs/derivations/own_batch.md, eqs. (3) and (11).
    """

    size: Float[np.ndarray, "t b"]
    shift: Float[np.ndarray, "m t b"]
    before: Float[np.ndarray, "t b"]
    start: Float[np.ndarray, "t b"]
    direction: Float[np.ndarray, "t b two"]


def nodes_of_step(network: Network, types: NeuronTypes) -> tuple[BatchNodes, LastStep]:
    """The samples of the last step, and what they have of the neurons."""
    if network.setting.steps > 1:
        return _second(network, types)
    step = learned_step(network.setting, statistics=network.statistics)
    nodes = batch_nodes(network, step, outside_of(types.overlap))
    return nodes, _first(network, step, types, len(nodes.weights))


def _first(network: Network, step: LearnedStep, types: NeuronTypes, count: int) -> LastStep:
    """A is the preactivation of the start."""
    entry = types.readout / math.sqrt(network.setting.p)
    ones = np.ones(entry.shape)
    return LastStep(
        size=step.size * network.noise_ratio * entry,
        shift=np.zeros((count, *entry.shape)),
        before=ones,
        start=step.kept(entry),
        direction=np.stack([ones, 0.0 * ones], axis=-1),
    )


def _second(network: Network, types: NeuronTypes) -> tuple[BatchNodes, LastStep]:
    """A = kept_1 h + width_1 zeta + e_1 c_1 u t/sqrt(p), t as on a new sample.

    docs/derivations/own_batch.md, eq. (11).
    """
    learned = learned_by_two(network, len(types.overlap))
    beyond = len(learned.overlap) - 1
    nodes = nodes_of(_slices(network, learned), CELLS_OF_SECOND[beyond], COUNTS_OF_SECOND[beyond])
    first, last = update_after(network.with_steps(1)), update_after(network)
    u, root = types.readout, math.sqrt(network.setting.p)
    columns = [
        first.kept,
        first.spread,
        last.kept,
        last.spread,
        carried_noise(network, batch_of(network)),
    ]
    at = between(network.readout[0], np.column_stack(columns), u.ravel()).reshape(*u.shape, -1)
    kept, square, kept_after, square_after, carried = (at[..., j] for j in range(5))
    before = np.sqrt(kept**2 + square)
    common = carried * square
    alone = np.sign(u) * common / np.sqrt(np.maximum(square_after, common**2 / square))
    step = LastStep(
        size=network.size(1) * network.noise_ratio / root * u,
        shift=network.size(0) * network.gain / root * np.multiply.outer(nodes.before, u),
        before=before,
        start=(kept * kept_after + common) / before,
        direction=np.stack([kept, alone], axis=-1) / before[..., None],
    )
    return nodes, step


def _slices(network: Network, learned: Learned) -> list[Slice]:
    """The samples of step 2 at Gauss-Hermite nodes of t, their kappa spread by what is left.

    docs/derivations/own_batch.md, eqs. (10), (12) and (13).
    """
    from scipy.interpolate import CubicSpline

    batch, coordinate = batch_of(network), second_coordinate(network)
    x, weights = gauss_hermite(BEFORE)
    t = x * math.sqrt(network.gram[0, 0])
    at = np.argsort(coordinate)
    values = np.column_stack([batch.answer, learned.of_second.T])
    answers = CubicSpline(coordinate[at], values[at])(t)
    root, normal, shares = _left_of_kappa(network, learned)
    solved = np.linalg.pinv(outside_of(learned.overlap))
    on_special = np.hstack([np.eye(len(learned.overlap)), -learned.overlap @ solved])
    slices = []
    for j, weight in enumerate(weights.tolist()):
        sample = second_samples(
            network,
            learned,
            t=float(t[j]),
            answer=float(answers[j, 0]),
            of_second=answers[j, 1:],
            nodes=5 if given_step(network).width > 0 else 1,
            spacing=COARSE_SPACING,
        )
        kappa = sample.kappa[:, :, None] + normal @ root.T
        xi = (sample.z[:, :, None] - kappa @ learned.overlap) @ solved
        mass = np.multiply.outer(weight * sample.mass, shares)
        slices.append(
            Slice(
                mass.ravel(),
                np.broadcast_to(sample.residual[..., None], mass.shape).ravel(),
                kappa.reshape(mass.size, -1),
                np.concatenate([kappa, xi], axis=-1).reshape(mass.size, -1),
                echo=network.noise_ratio * answers[j, 1:],
                known=math.sqrt(network.noise_ratio) * answers[j, 1:] @ on_special,
                before=float(t[j]),
                answer=float(answers[j, 0]) + network.offset,
            )
        )
    return slices


def _left_of_kappa(
    network: Network, learned: Learned
) -> tuple[Float[np.ndarray, "k k"], Float[np.ndarray, "m k"], Float[np.ndarray, " m"]]:
    """A root of the covariance of kappa given t and the label, and a rule for its normals."""
    values, vectors = np.linalg.eigh(kappa_given_label(network, learned)[1])
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    counts = NORMAL_NODES[len(values) - 1]
    rules = [
        gauss_hermite(count if value > 1e-8 else 1)
        for value, count in zip(values, counts, strict=True)
    ]
    return vectors * np.sqrt(values), *tensor_rule(rules, 1e-8)
