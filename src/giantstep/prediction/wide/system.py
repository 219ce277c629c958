"""Moments of the features after one giant step, on nodes over kappa and over types of neurons.

Given kappa = <v, x> along the learned direction v, a feature behaves as
mu0 + mu1 <omega, x> + a part of degree 2 + noise of covariance S within its group: the conditional
Gaussian equivalence of arXiv 2305.18270, by one degree more (giantstep.prediction.wide.degrees).
See docs/derivations/closed_system.md and docs/derivations/quadratic.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import gauss_hermite
from giantstep.prediction.labels import LabelMoments, label_moments
from giantstep.prediction.wide.blocks import Block
from giantstep.prediction.wide.degrees import LEAST_D, features_by_degree, radius_rule
from giantstep.prediction.wide.step import (
    LearnedStep,
    NeuronTypes,
    learned_step,
    neuron_types,
    refuse_if,
)
from giantstep.prediction.wide.step import objection as step_objection
from giantstep.problem.setting import Setting

KAPPA_NODES = 40
"""Gauss-Hermite nodes over kappa; 30 and 60 give the same losses to 3e-6, outliers to 5e-4."""


@dataclass(frozen=True)
class ClosedSystem:
    """Moments of a setting on the nodes: types t, nodes m, neurons b of a group, directions j.

    ``radius`` is |x|^2/d outside v; ``means`` holds mu0, ``blocks`` the parts of degree 1 and 2
    along each direction of a group, ``rest`` the covariance S of what is left.
    """

    n: int
    groups: float
    step: LearnedStep
    types: NeuronTypes
    kappa: Float[np.ndarray, " m"]
    radius: Float[np.ndarray, " m"]
    weights: Float[np.ndarray, " m"]
    means: Float[np.ndarray, "m t b"]
    blocks: tuple[Block, ...]
    rest: Float[np.ndarray, "m t b b"]

    @cached_property
    def neurons(self) -> Float[np.ndarray, " t"]:
        """Groups of each type, p_t times their number."""
        return self.groups * self.types.weights

    @cached_property
    def symmetric(self) -> Float[np.ndarray, "e b b"]:
        """Symmetric matrices: the coordinates in which Q varies."""
        if self.rest.shape[-1] == 1:
            return np.ones((1, 1, 1))
        first, second, mixed = np.zeros((3, 2, 2))
        first[0, 0] = second[1, 1] = mixed[0, 1] = mixed[1, 0] = 1.0
        return np.stack([first, second, mixed])


def objection(setting: Setting) -> str | None:
    """Why the closed system does not cover a setting: its step, or its readout; None if it does."""
    return step_objection(setting) or readout_objection(setting)


def readout_objection(setting: Setting) -> str | None:
    """Why the closed system does not cover the samples of the readout, None if it does."""
    if setting.readout_batch == "last" and setting.steps:
        return "readout_batch must be fresh for the closed system, got 'last'"
    if setting.readout_n == 0:
        return "readout_n must be positive for the closed system, got 0"
    if setting.d < LEAST_D:
        return f"d must be at least {LEAST_D} for the closed system, got {setting.d}"
    return None


def closed_system(
    setting: Setting, size: float | None = None, offset: float = 0.0, prune: bool = False
) -> ClosedSystem:
    """Moments of the features of a setting, ``size`` in place of its normalised step size.

    ``offset`` as in ``learned_step``.  ``prune`` drops nodes that fewer than a tenth of a sample or
    a neuron would reach: they would move the edge of the spectrum to where no sample is.
    """
    refuse_if(objection(setting))
    step = learned_step(setting, size, offset)
    types = neuron_types(setting, step, prune)
    kappa, weights = gauss_hermite(KAPPA_NODES)
    if prune:
        kept = weights >= 0.1 / setting.readout_n
        kappa, weights = kappa[kept], weights[kept] / weights[kept].sum()
    squares, shares = radius_rule(setting.d)
    found = features_by_degree(setting.activation, types, kappa, setting.d)
    return ClosedSystem(
        n=setting.readout_n,
        groups=setting.p / types.along.shape[1],
        step=step,
        types=types,
        kappa=np.tile(kappa, len(squares)),
        radius=np.repeat(squares, len(kappa)),
        weights=np.outer(shares, weights).ravel(),
        means=found.means,
        blocks=found.blocks,
        rest=found.rest,
    )


def labels_given(
    setting: Setting, step: LearnedStep, kappa: Float[np.ndarray, " m"]
) -> LabelMoments:
    """Moments of the label given kappa; flipped signs leave their share of mean and slope."""
    found = label_moments(setting.target, setting.noise, step.overlap, kappa[:, None])
    kept = 1.0 - 2.0 * setting.corruption
    return replace(
        found, mean=kept * found.mean, slope=kept * found.slope, curve=kept * found.curve
    )
