"""The ridge readout of a drawn run, fitted on samples that are drawn.

Where the expansion in 1/readout_n (readout.py) does not serve, because the samples are few, their
labels are deflated, they are those of the last step, or the fit is what the next step uses, the
readout is fitted as a run fits it, on samples of the drawn run (docs/derivations/drawn_runs.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

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


@dataclass(frozen=True)
class LinearPart:
    """What deflation subtracts from labels, mean + <beta, x>; ``outside`` is |beta| elsewhere."""

    mean: float
    beta: Float[np.ndarray, " q"]
    outside: float = 0.0


@runtime_checkable
class LastBatch(Protocol):
    """Samples of the last step: known coordinates, labels, and the part that deflation fits."""

    outcomes: Float[np.ndarray, " n"]

    @property
    def data(self) -> Float[np.ndarray, "n q"]: ...
    def fitted_part(
        self, labels: Float[np.ndarray, " n"]
    ) -> tuple[float, Float[np.ndarray, " q"]]: ...


def drawn_fit(setting: Setting, state: State, noise: Samples, batch: LastBatch | None) -> Fit:
    """The readout after a step, on new samples or on those of the ``batch`` of the last step."""
    if setting.readout_on_last and batch is not None:
        fitted = LinearPart(*batch.fitted_part(batch.outcomes))
        data = batch.data
        labels = batch.outcomes - fitted.mean - data @ fitted.beta
    else:
        points = noise.samples(setting.readout_n, state.rows.shape[1])
        data = points.x
        labels, fitted = _deflated(setting, points, noise)
    fit = fit_readout(FeatureTable(_features(setting, state, data), labels), setting)
    weights = fit.weights[fit.chosen]
    testing = noise.samples(TEST_SAMPLES, data.shape[1])
    outcomes = labels_at(setting, testing.x, testing.noise) - fitted.mean
    outcomes = outcomes - testing.x @ fitted.beta
    answers = setting.scale * _features(setting, state, testing.x) @ weights
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
) -> tuple[Float[np.ndarray, " n"], LinearPart]:
    """Labels of new samples without their fitted part, and that part.

    Outside the known directions beta has the length |v| L/n, L a chi variable, v the centred
    labels, and a sample the component u (L - u.e) + e along it, u = v/|v| and e normal.

    docs/derivations/deferred.md, eq. (5).
    """
    n, q = points.x.shape
    labels = labels_at(setting, points.x, points.noise)
    mean = float(labels.mean()) if setting.deflate >= 0 else 0.0
    labels = labels - mean
    if setting.deflate < 1:
        return labels, LinearPart(mean, np.zeros(q))
    beta, size = labels @ points.x / n, float(np.linalg.norm(labels))
    part, along = LinearPart(mean, beta), labels - points.x @ beta
    if size == 0.0 or q == setting.d:
        return along, part
    unit, e = labels / size, noise.normals(n)
    length = math.sqrt(noise.key.chisquare(setting.d - q))
    component = unit * (length - unit @ e) + e
    outside = size * length / n
    return along - outside * component, LinearPart(mean, beta, outside)
