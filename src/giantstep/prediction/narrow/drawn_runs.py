"""Runs drawn from the law of their steps: where a run is far from its mean.

Where what n samples add to the mean of a step is small, the recursion of the means serves
(fresh.py).  Where it is not, means of nonlinear functions (lengths, cosines, the next step) are not
the functions of the means, and states are drawn: every run from its own start, with noise of its
own.  At most as many samples as there are points are drawn as they are; more are replaced by
points with random weights, so that the cost does not grow with n (docs/derivations/drawn_runs.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import compressed
from giantstep.prediction.narrow.batch import Gradients, NoisyBatch
from giantstep.prediction.narrow.evolution import Snapshot, evolution_of
from giantstep.prediction.narrow.mean_gradient import mean_gradient
from giantstep.prediction.narrow.noise import Fluctuations, Samples
from giantstep.prediction.narrow.points import Points, Quadrature, points_for
from giantstep.prediction.narrow.readout import errors_after_steps
from giantstep.prediction.narrow.state import State, labels_at, start_of_run
from giantstep.problem.network import coefficients, readout_descent
from giantstep.problem.setting import Setting


def log2_points_of_step(
    setting: Setting, *, a_neuron: int = 16, least: int = 11, most: int = 14
) -> int:
    """Points of a step, as a power of two; the p x p matrix A has relative noise sqrt(p/N)."""
    return min(max(math.ceil(math.log2(a_neuron * setting.p)), least), most)


def row_coordinates(setting: Setting) -> int:
    """Coordinates of a row in the span of the rows and of the known directions."""
    return min(setting.d, setting.p + setting.known)


def predict(
    setting: Setting,
    *,
    fitted: bool,
    draft: bool = False,
    rows: tuple[int, int] = (24, 96),
    work: int = 2**32,
) -> dict[str, Float[np.ndarray, "rows ..."]]:
    """Fields of the record, a row for each drawn run; ``fitted`` -> whether errors of a readout.

    There are at least and at most so many ``rows`` unless more are simulated, and a ``draft`` has
    as few as may be; their starts are those of the simulated runs in turn.  The mean of 24 is off
    by a fifth of what one run differs by, that of 96 by a tenth.  ``work`` are products of points
    with neurons and with their coordinates in all drawn runs: some seconds.
    """
    points = 2 ** log2_points_of_step(setting)
    points = points if fitted else min(points, setting.n)
    a_run = points * setting.p * (row_coordinates(setting) + setting.p) * (setting.steps + 1)
    wanted = rows[0] if draft else min(max(work // a_run, rows[0]), rows[1])
    starts = [start_of_run(setting, run) for run in range(setting.runs)]
    drawn = []
    for row in range(setting.runs * math.ceil(wanted / setting.runs)):
        start = starts[row % setting.runs]
        quadrature = points_for(setting, row, log2_points_of_step(setting))
        snapshots = list(fresh_states(setting, start, quadrature, Samples(row, setting)))
        fields = dict(vars(evolution_of(setting, snapshots)))
        if fitted:
            errors = errors_after_steps(setting, snapshots, seed=row)
            fields |= {"train_error": errors[:, 0], "test_error": errors[:, 1]}
        drawn.append(fields | {"readout": start.readout})
    return {name: np.stack([fields[name] for fields in drawn]) for name in drawn[0]}


def fresh_states(
    setting: Setting, start: State, quadrature: Quadrature, noise: Fluctuations
) -> Iterator[Snapshot]:
    """States of a run drawn from the law of its steps, on samples that are new at every step."""
    state, points = start, quadrature(start.rows, 0)
    yield Snapshot(state, points)
    for step, size in enumerate(setting.step_size):
        if setting.deflate == 1:
            # Only what deflation reveals is looked at again before the samples are new.
            batch = noise.batch(points, setting.n)
            spare = np.column_stack([batch.spare, np.zeros((len(batch.x), setting.p))])
            gradients = NoisyBatch(setting, batch, spare, noise).step(state)
        else:
            gradients = _fresh_gradients(setting, state, points, noise)
        moved = gradients.moved(setting, state, size)
        state = replace(moved, rows=compressed(moved.rows, setting.known))
        points = quadrature(state.rows, step + 1)
        yield Snapshot(state, points, gradients.rows)


def _fresh_gradients(
    setting: Setting, state: State, points: Points, noise: Fluctuations
) -> Gradients:
    """Gradients of a step on samples that are not seen again (docs/derivations/drawn_runs.md).

    Along the known directions the gradient is its mean and the noise of n samples; outside them it
    is A^(1/2) L/sqrt(n), A = mean c c^T, L Bartlett's.

    docs/derivations/drawn_runs.md, eq. (4).
    """
    batch = noise.batch(points, setting.n)
    labels = setting.label_transform(labels_at(setting, batch.x, batch.noise))
    if setting.deflate == 0:
        labels = labels - batch.weights @ labels
    inputs = state.preactivations(batch.x)
    c = np.asarray(coefficients(setting, inputs, labels, state.readout))
    values, vectors = np.linalg.eigh((c * batch.weights) @ c.T)
    symmetric = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    outside = symmetric @ noise.vectors(setting.p, setting.d - state.rows.shape[1])
    if batch.x is points.x:  # the error of their own mean, larger than the noise of samples, goes
        along = mean_gradient(setting, state, points, inputs, c)
        along += (c * (batch.weights - points.weights)) @ points.x
    else:
        along = (c * batch.weights) @ batch.x
    return Gradients(
        np.concatenate([along, outside / math.sqrt(setting.n)], axis=1),
        readout_descent(setting, inputs, labels, state.readout, counts=batch.weights),
    )
