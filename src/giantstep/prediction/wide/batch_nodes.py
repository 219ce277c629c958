"""Nodes over what a sample of the last step knows: its residual r and its learned coordinates.

On a sample of the step itself <v, x> = kappa + echo r, kappa as on a new sample and r the residual
of the step (docs/derivations/own_batch.md, eq. (2)).  The residual falls into a few cells; in each
of them Gauss's rule stands for the law of <v, x>.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.rules import Rule, gauss_hermite
from giantstep.prediction.labels import tensor_rule
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.step import LearnedStep

CELLS = 20
"""Of the residual: errors change by less than 5e-3 with twice as many."""

NODES = 8
"""Over <v, x> in each cell: errors change by less than 1e-3 with 12."""


@dataclass(frozen=True)
class BatchNodes:
    """Nodes m over the samples of a step: ``residual`` -> r, ``label`` -> y, ``kappa`` -> <v_k, x>.

    ``echo`` -> the share of kappa that is the sample's own, and ``before`` -> t, what the sample
    shows of the steps before.  ``special`` and ``special_variance`` are the mean and the variance
    of <v_k, x> and of the label's coordinates outside v at a node.  ``known`` -> functions rho such
    that other directions have fewer samples by rho rho^T: sum_mu rho_mu x_mu is known there.

    docs/derivations/own_batch.md, eqs. (4) and (12).
    """

    weights: Float[np.ndarray, " m"]
    residual: Float[np.ndarray, " m"]
    label: Float[np.ndarray, " m"]
    before: Float[np.ndarray, " m"]
    kappa: Float[np.ndarray, "m k"]
    echo: Float[np.ndarray, "m k"]
    special: Float[np.ndarray, "m z"]
    special_variance: Float[np.ndarray, "m z"]
    known: Float[np.ndarray, "m z"]


@dataclass(frozen=True)
class Slice:
    """Atoms of the law of samples with one value ``before`` of t, and ``answer`` of y - r.

    ``kappa`` -> the coordinates that features know, ``special`` -> <v_k, x> and the coordinates
    outside v; ``echo`` and ``known`` -> what kappa has of the sample, and rho, over its residual.
    """

    mass: Float[np.ndarray, " a"]
    residual: Float[np.ndarray, " a"]
    kappa: Float[np.ndarray, "a k"]
    special: Float[np.ndarray, "a z"]
    echo: Float[np.ndarray, " k"]
    known: Float[np.ndarray, " z"]
    before: float = 0.0
    answer: float = 0.0


def batch_nodes(
    network: Network, step: LearnedStep, outside: Float[np.ndarray, "q r"]
) -> BatchNodes:
    """The nodes of one step; ``outside`` -> the rows that give z = overlap kappa + outside xi."""
    return nodes_of([_one_step(network, step, outside)], CELLS, (NODES,))


def nodes_of(slices: Sequence[Slice], cells: int, counts: Sequence[int]) -> BatchNodes:
    """Nodes of all slices: ``cells`` of the residual in each, in a cell ``counts`` along kappa."""
    parts = [_nodes_of_slice(each, cells, counts) for each in slices]
    return BatchNodes(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def _nodes_of_slice(
    atoms: Slice, cells: int, counts: Sequence[int]
) -> tuple[Float[np.ndarray, "m ..."], ...]:
    """Fields of ``BatchNodes`` at the nodes of a slice."""
    cell = cells_of(atoms.residual, atoms.mass, cells)
    parts = [_nodes_of_cell(atoms, cell == c, counts) for c in range(cell.max() + 1)]
    weights, means, *others = (np.concatenate(field) for field in zip(*parts, strict=True))
    residual = _widened(means, weights, atoms)
    before = np.full(len(weights), atoms.before)
    kappa, special, variance = others
    label = residual + atoms.answer
    echo, known = (residual[:, None] * part for part in (atoms.echo, atoms.known))
    return weights, residual, label, before, kappa, echo, special, variance, known


def _widened(
    residual: Float[np.ndarray, " m"], weights: Float[np.ndarray, " m"], atoms: Slice
) -> Float[np.ndarray, " m"]:
    """Means of cells, spread so that their variance is that of the residual.

    What varies inside a cell is echoed as the rest, and would count as noise: train errors with 20
    cells would be 2 % too high.
    """
    mean = float(weights @ residual / weights.sum())
    inside = float(atoms.mass @ (atoms.residual - mean) ** 2)
    between = float(weights @ (residual - mean) ** 2)
    return mean + (residual - mean) * math.sqrt(inside / between) if between > 0 else residual


def _one_step(network: Network, step: LearnedStep, outside: Float[np.ndarray, "q r"]) -> Slice:
    """kappa = overlap.z + echo E[r | y] + deviation g, with g normal and independent."""
    points, weights, signs = network.label_points
    noise, shares = gauss_hermite(5 if network.setting.noise > 0 else 1)
    normal, normal_shares = gauss_hermite(9)
    axes = np.ix_(np.arange(len(points)), noise, normal)
    label = (signs * network.label_at(points))[axes[0]] + network.setting.noise * axes[1]
    residual = label - network.offset
    square = max(kappa_square(network, step, on_batch=True), 0.0)
    deviation = math.sqrt(square) / step.shift if step.shift > 0 else 1.0
    on_target = (points @ step.overlap[0])[axes[0]]
    # c delta/cu: what v has of a sample, over its residual.
    echo = step.size * network.moments.slope * network.noise_ratio
    held = echo / step.shift if step.shift > 0 else 0.0
    kappa = on_target + held * residual + deviation * axes[2]
    # Outside the target v lies along the noise of the mean gradient, of squared length delta R2.
    beside, rho = math.sqrt(max(1.0 - step.cosine**2, 0.0)), 1.0 / math.sqrt(step.residual_square)
    along = on_target + beside * (axes[2] + math.sqrt(network.noise_ratio) * rho * residual)
    mass = np.einsum("a,b,c->abc", weights, shares, normal_shares)
    z = np.repeat(points, mass[0].size, axis=0)
    flat, on_kappa, on_v = (
        np.broadcast_to(part, mass.shape).ravel() for part in (residual, kappa, along)
    )
    solved = np.linalg.pinv(outside)
    special = np.column_stack([on_v, (z - on_v[:, None] * step.overlap[0]) @ solved])
    return Slice(
        mass.ravel(),
        flat,
        on_kappa[:, None],
        special,
        echo=np.array([held]),
        known=beside * rho * np.concatenate([[1.0], -step.overlap[0] @ solved]),
        answer=network.offset,
    )


def kappa_square(network: Network, step: LearnedStep, *, on_batch: bool) -> float:
    """Variance of shift <v, x> given the target's coordinates, on the batch and elsewhere.

    The network's own output in the residual shortens what rows have along the readout, and on the
    batch what a sample has there, its linear part and its noise.  Below 0, it shortens them by more
    than the noise of the mean gradient adds.

    docs/derivations/own_batch.md, eq. (5).
    """
    moments = network.moments
    ratio = network.noise_ratio if on_batch else 0.0
    c = step.size * moments.slope
    pull = c * network.start_feedback * moments.linear
    square = c**2 * network.noise_ratio * step.residual_square
    square += (1.0 - (1.0 + ratio) * pull) ** 2 - 1.0
    if pull != 0.0:
        square += moments.rest / moments.linear**2 * ((1.0 - ratio * pull) ** 2 - 1.0)
    return square


def cells_of(
    values: Float[np.ndarray, " a"], mass: Float[np.ndarray, " a"], most: int, rounds: int = 40
) -> Int[np.ndarray, " a"]:
    """Cells of an interval each, few values one by one, else with a small variance inside.

    Lloyd's rounds move borders to the middle between the means of two cells.
    """
    different, at = np.unique(values, return_inverse=True)
    if len(different) <= most:
        return at
    share = np.bincount(at, mass)
    # An optimal quantiser has cells in proportion to the cube root of the density.
    reach = np.cumsum(share * np.abs(different - different @ share) ** (2.0 / 3.0))
    centres = np.interp((np.arange(most) + 0.5) / most * reach[-1], reach, different)
    for _ in range(rounds):
        index = np.searchsorted(0.5 * (centres[1:] + centres[:-1]), different)
        count = np.bincount(index, share, most)
        sums = np.bincount(index, share * different, most)
        centres = np.sort(np.where(count > 0, sums / np.where(count > 0, count, 1.0), centres))
    index = np.searchsorted(0.5 * (centres[1:] + centres[:-1]), different)
    return np.unique(index, return_inverse=True)[1][at]


def _nodes_of_cell(
    atoms: Slice, inside: np.ndarray, counts: Sequence[int]
) -> tuple[Float[np.ndarray, "m ..."], ...]:
    """Weights, residuals, kappa, special coordinates and variances at the nodes of one cell.

    Along each principal direction of kappa Gauss's rule of its law, most nodes for the longest;
    special coordinates follow by their regression on kappa.
    """
    mass, kappa = atoms.mass[inside], atoms.kappa[inside]
    total = float(mass.sum())
    share = mass / total
    mean, centre = share @ kappa, share @ atoms.special[inside]
    apart, beside = kappa - mean, atoms.special[inside] - centre
    squares, turned = np.linalg.eigh((apart * share[:, None]).T @ apart)
    squares, turned = squares[::-1], turned[:, ::-1]
    principal = apart @ turned
    rules = [
        gauss_rule(along, share, count) for along, count in zip(principal.T, counts, strict=True)
    ]
    nodes, weights = tensor_rule(rules, 0.0)
    across = (principal * share[:, None]).T @ beside
    slope = np.where(squares > 0, 1.0 / np.where(squares > 0, squares, 1.0), 0.0)[:, None] * across
    left = share @ beside**2 - np.sum(slope * across, axis=0)
    ones = np.ones(len(nodes))
    return (
        total * weights,
        float(share @ atoms.residual[inside]) * ones,
        mean + nodes @ turned.T,
        centre + nodes @ slope,
        np.outer(ones, np.maximum(left, 0.0)),
    )


def gauss_rule(x: Float[np.ndarray, " a"], mass: Float[np.ndarray, " a"], nodes: int) -> Rule:
    """Gauss's rule of a discrete law by Stieltjes' recurrence, with fewer nodes if it has fewer."""
    diagonal, beside = [], []
    before, polynomial = np.zeros_like(x), np.ones_like(x)
    off = 0.0
    for _ in range(nodes):
        diagonal.append(float(mass @ (x * polynomial**2)))
        following = (x - diagonal[-1]) * polynomial - off * before
        off = math.sqrt(float(mass @ following**2))
        # A law on so many points has no further polynomial: what follows is rounding.
        if off < 1e-8 * max(1.0, abs(diagonal[-1])):
            break
        before, polynomial = polynomial, following / off
        beside.append(off)
    size = len(diagonal)
    jacobi = np.diag(diagonal) + np.diag(beside[: size - 1], 1) + np.diag(beside[: size - 1], -1)
    values, vectors = np.linalg.eigh(jacobi)
    return values, vectors[0] ** 2
