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
from giantstep.prediction.labels import LabelMoments, label_moments
from giantstep.prediction.wide.gradient import gradient_matrix
from giantstep.prediction.wide.neurons import NeuronTypes, kappa_rule, neuron_types
from giantstep.prediction.wide.second_samples import objection as two_step_objection
from giantstep.prediction.wide.second_types import two_steps
from giantstep.prediction.wide.step import TYPICAL, Draw, learned_step, refuse_if
from giantstep.prediction.wide.step import objection as step_objection
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class ClosedSystem:
    """Moments of a setting on the nodes: types t, nodes m, neurons b of a group, directions j.

    ``overlap`` -> v_k.w*_r of the learned directions, ``kappa`` -> the coordinates along them.
    ``means`` holds, on blocks of nodes x, what is coherent over neurons: mu0, the part along
    |x|^2, and the slopes along each special direction; k = 0 for all neurons of a type, k > 0 for
    its modes.  ``slopes`` -> mu1 along each omega_j of the classes q, ``rest`` the covariance S of
    what is left.
    """

    n: int
    d: int
    groups: float
    overlap: Float[np.ndarray, "k r"]
    types: NeuronTypes
    kappa: Float[np.ndarray, "m k"]
    weights: Float[np.ndarray, " m"]
    means: Float[np.ndarray, "x t l b"]
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
    """Why the closed system does not cover a setting: its steps, or its readout; or None."""
    steps = two_step_objection if setting.steps == 2 else step_objection
    return steps(setting) or readout_objection(setting)


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
    """Moments of the features of a setting, ``size`` in place of the size of its one step.

    ``draw`` as in ``learned_step``.  ``prune`` drops nodes that fewer than a tenth of a sample or
    a neuron would reach: they would move the edge of the spectrum to where no sample is.
    """
    refuse_if(objection(setting))
    if setting.steps == 2:
        both = two_steps(setting, draw, prune)
        overlap, types = both.overlap, both.types
    else:
        step = learned_step(setting, size, draw)
        matrix = gradient_matrix(setting, step, draw)
        overlap, types = step.overlap, neuron_types(setting, step, matrix, prune)
    kappa, weights = kappa_rule(len(overlap), 0.1 / setting.readout_n if prune else 0.0)
    shift = np.einsum("mk,tbk->mtb", kappa, types.along)
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
        overlap=overlap,
        types=types,
        kappa=kappa,
        weights=weights,
        means=_coherent(setting.d, types, kappa, found),
        slopes=slopes,
        rest=rest,
    )


def _coherent(
    d: int, types: NeuronTypes, kappa: Float[np.ndarray, "m k"], found: FeatureMoments
) -> Float[np.ndarray, "x t l b"]:
    """The field ``means``: features averaged over all but a mode, and their change by a mode.

    d mu0/du = kappa mu1/s and d mu0/d(s^2) = mu2/(2 s^2); He2 of a row has overlap 1/sqrt(2d) with
    the normalised mode |x|^2 - d.
    """
    slope, curve = found.slope / types.spread, found.curve / (2.0 * types.spread**2)
    moved = np.einsum("mk,mtb,ltbk->mtlb", kappa, slope, types.drift)
    moved += np.einsum("mtb,ltb->mtlb", curve, types.stretch)
    aside = np.einsum("mtb,eltb->emtlb", slope, types.sideways)
    none = np.zeros_like(moved)
    modes = np.concatenate([moved, none, *aside]) / math.sqrt(d)
    everywhere = np.zeros((len(modes), *found.mean.shape[1:]))
    everywhere[: 2 * len(kappa)] = np.concatenate([found.mean, found.curve / math.sqrt(2.0 * d)])
    return np.concatenate([everywhere[:, :, None], modes], axis=2)


def labels_given(
    setting: Setting, overlap: Float[np.ndarray, "k r"], kappa: Float[np.ndarray, "m k"]
) -> LabelMoments:
    """Moments of the label given kappa; flipped signs leave their share of mean and slope."""
    found = label_moments(setting.target, setting.noise, overlap, kappa)
    kept = 1.0 - 2.0 * setting.corruption
    return replace(found, mean=kept * found.mean, slope=kept * found.slope)
