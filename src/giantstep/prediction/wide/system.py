"""Moments of the features after one giant step, on nodes over kappa and over types of neurons.

Given kappa = <v, x> along the learned direction v, a feature behaves as
mu0 + sum_j mu1_j <omega_j, x> + mu2 (|x|^2 - d)/(2d) + noise of covariance S within its group: the
conditional Gaussian equivalence of arXiv 2305.18270.  Special directions e, which the label or the
step knows, count one by one, with the modes of giantstep.prediction.wide.neurons.  See
docs/derivations/closed_system.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import FeatureMoments, feature_moments
from giantstep.gaussian.pairs import pair_product
from giantstep.gaussian.rules import gauss_hermite
from giantstep.prediction.labels import LabelMoments, label_moments
from giantstep.prediction.wide.gradient import gradient_matrix
from giantstep.prediction.wide.neurons import NeuronTypes, neuron_types
from giantstep.prediction.wide.step import TYPICAL, Draw, LearnedStep, learned_step, refuse_if
from giantstep.prediction.wide.step import objection as step_objection
from giantstep.problem.setting import Setting

KAPPA_NODES = 40
"""Gauss-Hermite nodes over kappa; 30 and 60 give the same losses to 3e-6, outliers to 5e-4."""


@dataclass(frozen=True)
class ClosedSystem:
    """Moments of a setting on the nodes: types t, nodes m, neurons b of a group, directions j.

    ``means`` holds, on blocks of nodes x, what is coherent over neurons: mu0, the part along
    |x|^2, and the slopes along each special direction; k = 0 for all neurons of a type, k > 0 for
    its modes.  ``slopes`` -> mu1 along each omega_j of the classes q, ``rest`` the covariance S of
    what is left.
    """

    n: int
    d: int
    groups: float
    step: LearnedStep
    types: NeuronTypes
    kappa: Float[np.ndarray, " m"]
    weights: Float[np.ndarray, " m"]
    means: Float[np.ndarray, "x t k b"]
    slopes: Float[np.ndarray, "q m t j b"]
    rest: Float[np.ndarray, "m t b b"]

    @cached_property
    def neurons(self) -> Float[np.ndarray, " t"]:
        """Groups of each type, p_t times their number."""
        return self.groups * self.types.weights

    @property
    def shares(self) -> Float[np.ndarray, " q"]:
        """Of the classes of directions."""
        return self.types.shares

    @property
    def blocks(self) -> int:
        """Of nodes in ``means``."""
        return len(self.means) // len(self.kappa)

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
    return None


def closed_system(
    setting: Setting, size: float | None = None, draw: Draw = TYPICAL, prune: bool = False
) -> ClosedSystem:
    """Moments of the features of a setting, ``size`` in place of its normalised step size.

    ``draw`` as in ``learned_step``.  ``prune`` drops nodes that fewer than a tenth of a sample or
    a neuron would reach: they would move the edge of the spectrum to where no sample is.
    """
    refuse_if(objection(setting))
    step = learned_step(setting, size, draw)
    types = neuron_types(setting, step, gradient_matrix(setting, step, draw), prune)
    kappa, weights = gauss_hermite(KAPPA_NODES)
    if prune:
        kept = weights >= 0.1 / setting.readout_n
        kappa, weights = kappa[kept], weights[kept] / weights[kept].sum()
    shift = kappa[:, None, None] * types.along
    scale = np.broadcast_to(types.spread, shift.shape)
    found = feature_moments(setting.activation, shift, scale)
    unit = types.load / types.spread[:, :, None]
    slopes = np.einsum("mtb,qtbj->qmtjb", found.slope, unit)
    size_of_group = shift.shape[2]
    rest = found.rest[..., None] * np.eye(size_of_group)
    if size_of_group == 2:
        correlation = np.broadcast_to(
            np.einsum("q,qtj,qtj->t", types.shares, unit[:, :, 0], unit[:, :, 1]), shift.shape[:2]
        )
        product = pair_product(setting.activation, shift, scale, correlation)
        product -= np.prod(found.mean, axis=2) + correlation * np.prod(found.slope, axis=2)
        rest[..., 0, 1] = rest[..., 1, 0] = product
    return ClosedSystem(
        n=setting.readout_n,
        d=setting.d,
        groups=setting.p / size_of_group,
        step=step,
        types=types,
        kappa=kappa,
        weights=weights,
        means=_coherent(setting.d, types, kappa, found),
        slopes=slopes,
        rest=rest,
    )


def _coherent(
    d: int, types: NeuronTypes, kappa: Float[np.ndarray, " m"], found: FeatureMoments
) -> Float[np.ndarray, "x t k b"]:
    """The field ``means``: features averaged over all but a mode, and their change by a mode.

    d mu0/du = kappa mu1/s and d mu0/d(s^2) = mu2/(2 s^2); He2 of a row has overlap 1/sqrt(2d) with
    the normalised mode |x|^2 - d.
    """
    slope, curve = found.slope / types.spread, found.curve / (2.0 * types.spread**2)
    moved = np.einsum("m,mtb,ktb->mtkb", kappa, slope, types.drift)
    moved += np.einsum("mtb,ktb->mtkb", curve, types.stretch)
    aside = np.einsum("mtb,ektb->emtkb", slope, types.sideways)
    none = np.zeros_like(moved)
    modes = np.concatenate([moved, none, *aside]) / math.sqrt(d)
    everywhere = np.zeros((len(modes), *found.mean.shape[1:]))
    everywhere[: 2 * len(kappa)] = np.concatenate([found.mean, found.curve / math.sqrt(2.0 * d)])
    return np.concatenate([everywhere[:, :, None], modes], axis=2)


def labels_given(
    setting: Setting, step: LearnedStep, kappa: Float[np.ndarray, " m"]
) -> LabelMoments:
    """Moments of the label given kappa; flipped signs leave their share of mean and slope."""
    found = label_moments(setting.target, setting.noise, step.overlap, kappa[:, None])
    kept = 1.0 - 2.0 * setting.corruption
    return replace(found, mean=kept * found.mean, slope=kept * found.slope)
