"""Nodes over the learned coordinates kappa: as many on each axis as features and label need.

A feature whose row lies mostly along a learned direction is steep in kappa, and so is a label such
as tanh(2 x1) once its direction is learned.  Moments of both over kappa tell whether an axis has
enough nodes: they must not change when it gets half as many more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import feature_moments
from giantstep.gaussian.rules import Rule, gauss_hermite
from giantstep.prediction.labels import label_moments, tensor_rule
from giantstep.prediction.wide.neurons import NeuronTypes
from giantstep.prediction.wide.seen_inputs import seen_inputs
from giantstep.problem.setting import Setting

LEAST_NODES = {1: (40,), 2: (12, 8), 3: (10, 7, 5)}
"""Nodes along so many directions, strongest first: errors of a smooth label to 5e-4 of rules with
twice as many, on one direction to 3e-6."""

NODES_OF_OUTLIERS = {1: (40,), 2: (24, 16), 3: (18, 12, 9)}
"""For outliers, good to 1e-3, there are more nodes, of which most are too light for a sample."""

MOST_NODES, MOST_ON_AN_AXIS = 800, 96
"""Nodes beyond which no axis gets more: a solution takes about two seconds."""

SETTLED = 5e-4
"""Change of a moment, relative to the mean square of feature or label, that counts as none."""

Moments = Callable[[Sequence[int]], Float[np.ndarray, " m"]]


def kappa_rule(
    k: int, least: float = 0.0, counts: Sequence[int] | None = None
) -> tuple[Float[np.ndarray, "m k"], Float[np.ndarray, " m"]]:
    """Tensor rule over the coordinates along k directions, without nodes lighter than ``least``.

    ``counts`` -> nodes along each direction, by default those of a smooth label.  An axis with more
    than those has an even grid, whose error falls faster for steep functions than Gauss-Hermite's.
    """
    usual = (NODES_OF_OUTLIERS if least > 0 else LEAST_NODES)[k]
    rules = _axis_rules(usual if counts is None else counts, usual)
    # Weights below 1e-14 are beyond 7.6, where powers of a label reach 1e9 at most.
    return tensor_rule(rules, max(least, 1e-14))


def _axis_rules(counts: Sequence[int], usual: Sequence[int]) -> list[Rule]:
    """A rule for each axis: Gauss-Hermite's up to the usual number of nodes, then an even grid."""
    return [
        gauss_hermite(count) if count <= enough else _even_grid(count)
        for count, enough in zip(counts, usual, strict=True)
    ]


def _even_grid(count: int, farthest: float = 6.5) -> Rule:
    """An even number of points between -farthest and farthest, with weights of N(0, 1).

    The density outside is 1e-10; no point lies in the origin, where many labels jump.
    """
    spacing = 2.0 * farthest / count
    x = (np.arange(count) - 0.5 * (count - 1)) * spacing
    weights = np.exp(-0.5 * x**2)
    return x, weights / weights.sum()


def node_counts(setting: Setting, types: NeuronTypes, *, prune: bool = False) -> tuple[int, ...]:
    """Nodes along each learned direction at which moments of features and label have settled.

    ``prune``, for spectra, which do not know the label, asks for those of the features alone.
    """
    usual = (NODES_OF_OUTLIERS if prune else LEAST_NODES)[len(types.overlap)]
    counts = settled_counts(usual, _feature_squares(setting, types, usual))
    if prune or seen_inputs(setting).target.label_power(2) is not None:
        return counts  # a polynomial, which Gauss-Hermite integrates exactly
    return settled_counts(counts, _label_squares(setting, types.overlap))


def settled_counts(counts: Sequence[int], moments: Moments) -> tuple[int, ...]:
    """Half as many nodes more on every axis on which the moments change by more than SETTLED."""
    counts = tuple(counts)
    values = moments(counts)
    for axis in range(len(counts)):
        while True:
            finer = (*counts[:axis], 2 * math.ceil(0.75 * counts[axis]), *counts[axis + 1 :])
            if math.prod(finer) > MOST_NODES or finer[axis] > MOST_ON_AN_AXIS:
                break
            before, values = values, moments(finer)
            if np.all(np.abs(values - before) <= SETTLED):
                break
            counts = finer
    return counts


def _feature_squares(setting: Setting, types: NeuronTypes, usual: Sequence[int]) -> Moments:
    """E mu0^2 over each axis by itself, relative to E sigma^2, averaged over the types."""
    length, weights = types.length, types.weights / types.along.shape[1]
    activation = seen_inputs(setting).activation

    def squares(rule: Rule, along: Float[np.ndarray, "t b"]) -> float:
        kappa, shares = rule
        moments = feature_moments(
            activation, along[..., None] * kappa, length[..., None] + 0.0 * kappa
        )
        square = moments.mean**2 + moments.slope**2 + moments.rest
        return float(weights @ np.sum(moments.mean**2 @ shares, axis=1)) / float(
            weights @ np.sum(square @ shares, axis=1)
        )

    def moments(counts: Sequence[int]) -> Float[np.ndarray, " m"]:
        rules = _axis_rules(counts, usual)
        return np.array([squares(rule, types.along[..., j]) for j, rule in enumerate(rules)])

    return moments


def _label_squares(setting: Setting, overlap: Float[np.ndarray, "k r"]) -> Moments:
    """E h0^2, E |h1|^2 and E y^2 over kappa, relative to the exact E y^2."""
    target = seen_inputs(setting).target

    def moments(counts: Sequence[int]) -> Float[np.ndarray, " m"]:
        kappa, weights = kappa_rule(len(overlap), counts=counts)
        label = label_moments(target, setting.noise, overlap, kappa)
        slope = np.sum(label.slope**2, axis=1)
        squares = np.stack([label.mean**2, slope, label.square]) @ weights
        return squares / (target.series.square + setting.noise**2)

    return moments
