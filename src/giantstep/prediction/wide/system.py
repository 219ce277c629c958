"""Moments of the features after giant steps, on nodes over kappa and over types of neurons.

Given kappa = <v, x> along the learned direction v, a feature behaves as
mu0 + parts of degree 1 and 2 outside v + noise of covariance S within its group: the conditional
Gaussian equivalence of arXiv 2305.18270, by one degree more (giantstep.prediction.wide.degrees).
Special directions e, which the label or the step knows, count one by one, with the modes of
giantstep.prediction.wide.neurons.  See docs/derivations/closed_system.md and quadratic.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from giantstep.prediction.labels import LabelMoments, label_moments
from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.blocks import Block, Stack
from giantstep.prediction.wide.degrees import features_by_degree, radius_rule
from giantstep.prediction.wide.limits import CLOSED_SYSTEM
from giantstep.prediction.wide.network import TYPICAL, ReadoutStatistics
from giantstep.prediction.wide.neurons import NeuronTypes, neuron_types
from giantstep.prediction.wide.nodes import kappa_rule, node_counts
from giantstep.prediction.wide.seen_inputs import seen_inputs
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Coupled:
    """Layers of nodes that modes connect, and ``means`` of these layers along these modes."""

    layers: Bool[np.ndarray, " y"]
    means: Float[np.ndarray, "x t l b"]


@dataclass(frozen=True)
class ClosedSystem:
    """Moments of a setting on the nodes: types t, nodes m, neurons b of a group, directions j.

    ``kappa`` -> the coordinates along the learned directions, ``radius`` -> |x|^2/d outside them.
    ``means`` holds, on layers of nodes x, what is coherent over neurons: mu0, and the slopes along
    each special direction; l = 0 for all neurons of a type, l > 0 for its modes.  ``blocks`` are
    the parts of degree 1, one for each class of directions, and of degree 2, the last; ``noise`` is
    the covariance S of what is left.
    """

    n: int
    groups: float
    types: NeuronTypes
    kappa: Float[np.ndarray, "m k"]
    radius: Float[np.ndarray, " m"]
    weights: Float[np.ndarray, " m"]
    means: Float[np.ndarray, "x t l b"]
    blocks: tuple[Block, ...]
    noise: Float[np.ndarray, "m t b b"]

    @property
    def overlap(self) -> Float[np.ndarray, "k r"]:
        """v_k.w*_r of the learned directions."""
        return self.types.overlap

    @cached_property
    def neurons(self) -> Float[np.ndarray, " t"]:
        """Groups of each type, p_t times their number."""
        return self.groups * self.types.weights

    @cached_property
    def feature_square(self) -> float:
        """E phi^2, the mean over inputs and neurons: the mean eigenvalue of E[phi phi^T]."""
        square = np.sum(self.means[: len(self.kappa)] ** 2, axis=(2, 3))
        square = square + np.sum([block.power for block in self.blocks], axis=0)
        square = square + np.trace(self.noise, axis1=2, axis2=3)
        size = self.noise.shape[-1]
        return float(self.weights @ square @ self.types.weights) / size

    @cached_property
    def stack(self) -> Stack:
        """The blocks on one axis."""
        return Stack.of(self.blocks)

    @property
    def layers(self) -> int:
        """Of nodes in ``means``."""
        return len(self.means) // len(self.kappa)

    @cached_property
    def coupled(self) -> tuple[Coupled, ...]:
        """Sets of layers that no mode connects."""
        from scipy.sparse.csgraph import connected_components

        means = self.means.reshape(self.layers, -1, *self.means.shape[1:])
        there = np.any(means != 0, axis=(1, 2, 4))
        count, member = connected_components(there.astype(int) @ there.T, directed=False)
        parts = [member == k for k in range(count)]
        modes = [np.any(there[part], axis=0) for part in parts]
        return tuple(
            Coupled(part, np.concatenate(means[part][:, :, :, used]))
            for part, used in zip(parts, modes, strict=True)
        )

    @cached_property
    def symmetric(self) -> Float[np.ndarray, "e b b"]:
        """Symmetric matrices: the coordinates in which Q varies."""
        if self.noise.shape[-1] == 1:
            return np.ones((1, 1, 1))
        first, second, mixed = np.zeros((3, 2, 2))
        first[0, 0] = second[1, 1] = mixed[0, 1] = mixed[1, 0] = 1.0
        return np.stack([first, second, mixed])


def closed_system(
    setting: Setting,
    size: float | None = None,
    statistics: ReadoutStatistics = TYPICAL,
    *,
    prune: bool = False,
    even: bool = False,
) -> ClosedSystem:
    """Moments of the features of a setting, ``size`` in place of the size of its one step.

    ``statistics`` -> of a run's readout.  ``prune`` drops nodes that fewer than a tenth of a sample
    or a neuron would reach, and labels that fewer than one sample of the step would have: they
    would move the edge and outliers to where no sample is.  ``even`` counts the noise of the step
    as the same in all directions.

    docs/derivations/closed_system.md, eq. (10).
    """
    refuse_beyond(CLOSED_SYSTEM, setting)
    types = neuron_types(setting, size, statistics, prune=prune)
    types = types.even if even else types
    kappa, weights = kappa_rule(
        len(types.overlap),
        0.1 / setting.readout_n if prune else 0.0,
        node_counts(setting, types, prune=prune),
    )
    squares, shares = radius_rule(types.freedom(setting.d))
    activation = seen_inputs(setting).activation
    degrees = features_by_degree(activation, types, kappa, setting.d)
    return ClosedSystem(
        n=setting.readout_n,
        groups=setting.p / types.along.shape[1],
        types=types,
        kappa=np.tile(kappa, (len(squares), 1)),
        radius=np.repeat(squares, len(kappa)),
        weights=np.outer(shares, weights).ravel(),
        means=degrees.means,
        blocks=degrees.blocks,
        noise=degrees.noise,
    )


def labels_given(
    setting: Setting, overlap: Float[np.ndarray, "k r"], kappa: Float[np.ndarray, "m k"]
) -> LabelMoments:
    """Moments of the label given kappa; flipped signs leave their share of mean and slope."""
    # Nodes of different radius have the same kappa.
    different, at = np.unique(kappa, axis=0, return_inverse=True)
    clean = label_moments(seen_inputs(setting).target, setting.noise, overlap, different)
    kept = 1.0 - 2.0 * setting.corruption
    return replace(
        clean,
        mean=kept * clean.mean[at],
        slope=kept * clean.slope[at],
        curve=kept * clean.curve[at],
        square=clean.square[at],
    )
