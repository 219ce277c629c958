"""Nodes over what a sample of the last step knows: its residual r and its learned coordinates.

On a sample of the step itself <v, x> = kappa + echo r, kappa as on a new sample and r the residual
of the step (docs/derivations/own_batch.md, eq. (2)).  The residual falls into a few cells; in each
of them Gauss's rule stands for the law of <v, x>.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.rules import Rule, gauss_hermite
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.step import LearnedStep

CELLS = 20
"""Of the residual: errors change by less than 5e-3 with twice as many."""

NODES = 8
"""Over <v, x> in each cell: errors change by less than 1e-3 with 12."""


@dataclass(frozen=True)
class BatchNodes:
    """Nodes m over the samples of a step: ``residual`` -> r and ``kappa`` -> <v, x>.

    The label is r but for a constant.  ``special`` and ``special_variance`` are the mean and the
    variance of <v, x> and of the label's coordinates outside v at a node.
    """

    weights: Float[np.ndarray, " m"]
    residual: Float[np.ndarray, " m"]
    kappa: Float[np.ndarray, " m"]
    special: Float[np.ndarray, "m z"]
    special_variance: Float[np.ndarray, "m z"]


@dataclass(frozen=True)
class _Atoms:
    """Atoms of the law of a sample: masses, residuals, target coordinates, kappa and <v, x>."""

    mass: Float[np.ndarray, " a"]
    residual: Float[np.ndarray, " a"]
    z: Float[np.ndarray, "a r"]
    kappa: Float[np.ndarray, " a"]
    along: Float[np.ndarray, " a"]


def batch_nodes(
    network: Network, step: LearnedStep, outside: Float[np.ndarray, "q r"]
) -> BatchNodes:
    """The nodes of one step; ``outside`` -> the rows that give z = overlap kappa + outside xi."""
    atoms = _atoms(network, step)
    solved = np.linalg.pinv(outside)
    xi = (atoms.z - atoms.along[:, None] * step.overlap[0]) @ solved
    cell = cells_of(atoms.residual, atoms.mass, CELLS)
    special = np.column_stack([atoms.along, xi])
    parts = [_nodes_of_cell(atoms, special, cell == c) for c in range(cell.max() + 1)]
    weights, residual, *others = (np.concatenate(field) for field in zip(*parts, strict=True))
    return BatchNodes(weights, _widened(residual, weights, atoms), *others)


def _widened(
    residual: Float[np.ndarray, " m"], weights: Float[np.ndarray, " m"], atoms: _Atoms
) -> Float[np.ndarray, " m"]:
    """Means of cells, spread so that their variance is that of the residual.

    What varies inside a cell is echoed as the rest, and would count as noise: train errors with 20
    cells would be 2 % too high.
    """
    mean = float(weights @ residual)
    inside = float(atoms.mass @ (atoms.residual - mean) ** 2)
    between = float(weights @ (residual - mean) ** 2)
    return mean + (residual - mean) * math.sqrt(inside / between) if between > 0 else residual


def _atoms(network: Network, step: LearnedStep) -> _Atoms:
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
    noise_part = axes[2] + math.sqrt(network.noise_ratio / step.residual_square) * residual
    along = on_target + math.sqrt(max(1.0 - step.cosine**2, 0.0)) * noise_part
    mass = np.einsum("a,b,c->abc", weights, shares, normal_shares)
    z = np.repeat(points, mass[0].size, axis=0)
    flat = [np.broadcast_to(part, mass.shape).ravel() for part in (residual, kappa, along)]
    return _Atoms(mass.ravel(), flat[0], z, flat[1], flat[2])


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
    atoms: _Atoms, special: Float[np.ndarray, "a z"], inside: np.ndarray
) -> tuple[Float[np.ndarray, "..."], ...]:
    """Fields of the nodes of one cell; special coordinates given kappa by their regression."""
    mass, kappa = atoms.mass[inside], atoms.kappa[inside]
    total = float(mass.sum())
    share = mass / total
    nodes, weights = gauss_rule(kappa, share, NODES)
    residual = share @ atoms.residual[inside]
    mean, centre = share @ kappa, share @ special[inside]
    spread = share @ (kappa - mean) ** 2
    slope = (share * (kappa - mean)) @ special[inside] / spread if spread > 0 else 0.0 * centre
    coordinates = centre + np.outer(nodes - mean, slope)
    left = share @ (special[inside] - centre) ** 2 - spread * slope**2
    ones = np.ones(len(nodes))
    return (
        total * weights,
        residual * ones,
        nodes,
        coordinates,
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
