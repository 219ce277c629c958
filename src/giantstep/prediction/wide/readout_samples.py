"""Samples that a readout is fitted on and those it is tested on: their labels on the nodes.

Fresh samples have the law of the test samples.  The batch of the step itself has another one
(giantstep.prediction.wide.own_batch).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.degrees import labels_by_degree
from giantstep.prediction.wide.network import TYPICAL, ReadoutStatistics
from giantstep.prediction.wide.system import ClosedSystem, closed_system, labels_given
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class ReadoutSamples:
    """A closed system, the labels on its nodes, and the weights of the nodes of test samples.

    ``label`` -> the label's mean and slopes on layers of nodes, ``curve`` its degree 2, and
    ``remaining`` the power that no node resolves.  ``known`` -> functions rho on samples of the
    last step, 0 on others: the sums of rho_mu x_mu are part of the learned directions, so that the
    label is less along others.
    """

    system: ClosedSystem
    label: Float[np.ndarray, "y m"]
    curve: Float[np.ndarray, "m s"]
    remaining: Float[np.ndarray, " m"]
    known: Float[np.ndarray, "c m"]
    test_weights: Float[np.ndarray, " m"]


def labelled(setting: Setting, system: ClosedSystem) -> ReadoutSamples:
    """The samples of a system, all fresh, with their labels by degree."""
    labels = labels_given(setting, system.overlap, system.kappa)
    freedom = system.types.freedom(round(system.blocks[0].dimension) + 1)
    degrees = labels_by_degree(labels, system.radius, freedom, system.types.metric)
    slope, curve = degrees.parts
    label = np.zeros((system.layers, len(system.weights)))
    label[0], label[1 : 1 + slope.shape[1]] = degrees.mean, slope.T
    return ReadoutSamples(
        system=system,
        label=label,
        curve=curve,
        remaining=degrees.remaining,
        known=np.zeros((0, len(system.weights))),
        test_weights=system.weights,
    )


def fresh_samples(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> ReadoutSamples:
    """Samples that no step has seen."""
    return labelled(setting, closed_system(setting, statistics=statistics))
