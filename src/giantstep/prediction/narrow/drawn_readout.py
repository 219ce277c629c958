"""The ridge readout of a drawn run, fitted on samples that are drawn.

Where the expansion in 1/readout_n (readout.py) does not serve, because the samples are few, their
labels are deflated, they are those of the last step, or the fit is what the next step uses, the
readout is fitted as a run fits it, on samples of the drawn run (docs/derivations/drawn_runs.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.fitted_part import FittedPart
from giantstep.prediction.narrow.noise import Samples
from giantstep.prediction.narrow.points import Points
from giantstep.prediction.narrow.state import State, labels_at
from giantstep.problem.setting import Setting
from giantstep.simulation.readout import fit_readout
from giantstep.simulation.table import FeatureTable

TEST_SAMPLES = 2**11
"""Samples that a drawn readout is tested on: a squared error is known to some percent, and its mean
over the drawn runs to less than the runs themselves differ by."""


@dataclass(frozen=True)
class Fit:
    """A fitted readout, its mean squared error on its samples, and on new ones."""

    weights: Float[np.ndarray, " p"]
    train_error: float
    test_error: float


@runtime_checkable
class LastBatch(Protocol):
    """Samples of the last step: known coordinates, labels, and the part that deflation fits."""

    outcomes: Float[np.ndarray, " n"]

    @property
    def data(self) -> Float[np.ndarray, "n q"]: ...
    def fitted_part(self, labels: Float[np.ndarray, " n"]) -> FittedPart: ...


def drawn_fit(
    setting: Setting, states: tuple[State, State], noise: Samples, batch: LastBatch | None
) -> Fit:
    """The readout after a step, on new samples or on those of the ``batch`` of the last step.

    ``states`` -> the network in the coordinates of what it is fitted on, and of what tests it.
    """
    state, tested = states
    if setting.readout_on_last and batch is not None:
        fitted, data = batch.fitted_part(batch.outcomes), batch.data
        labels = batch.outcomes - fitted.at(data)
    else:
        q = setting.d if setting.deflate == 2 else state.rows.shape[1]
        points = noise.samples(setting.readout_n, q)
        data = points.x
        labels, fitted = _deflated(setting, points, noise)
    fit = fit_readout(FeatureTable(_features(setting, state, data), labels), setting)
    weights = fit.weights[fit.chosen]
    testing = noise.samples(TEST_SAMPLES, max(tested.rows.shape[1], len(fitted.beta)))
    outcomes = labels_at(setting, testing.x, testing.noise) - fitted.at(testing.x)
    answers = setting.scale * _features(setting, tested, testing.x) @ weights
    test = float(np.mean((outcomes - answers) ** 2)) + fitted.outside**2
    return Fit(weights, float(fit.train_errors[fit.chosen]), test)


def _features(
    setting: Setting, state: State, x: Float[np.ndarray, "n q"]
) -> Float[np.ndarray, "n p"]:
    """Features of the readout on samples, which may have more coordinates than the rows."""
    inputs = x[:, : state.rows.shape[1]] @ state.rows.T + state.readout_biases
    return np.asarray(setting.activation(inputs), dtype=float)


def _deflated(
    setting: Setting, points: Points, noise: Samples
) -> tuple[Float[np.ndarray, " n"], FittedPart]:
    """Labels of new samples without their fitted part, and that part.

    Outside the known directions beta has the length |v| L/n, L a chi variable, v the centred
    labels, and a sample the component u (L - u.e) + e along it, u = v/|v| and e normal.

    docs/derivations/deferred.md, eq. (5).
    """
    n, q = points.x.shape
    labels = labels_at(setting, points.x, points.noise)
    part = FittedPart.of(labels, points.x, setting.deflate)
    along, centred = labels - part.at(points.x), labels - part.mean
    size = float(np.linalg.norm(centred))
    if setting.deflate < 1 or size == 0.0 or q == setting.d:
        return along, part
    unit, e = centred / size, noise.normals(n)
    length = math.sqrt(noise.key.chisquare(setting.d - q))
    component = unit * (length - unit @ e) + e
    outside = size * length / n
    return along - outside * component, replace(part, outside=outside)
