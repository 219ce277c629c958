"""Runs drawn from the Gaussian law of their steps: where a run is far from its mean.

Given the rows before a step, the mean of the step is exact, and what n samples add to it is nearly
normal with a covariance that is exact too.  Where that noise is small the recursion of the means
serves (fresh.py); where it is not, means of nonlinear functions (lengths, cosines, the next step)
are not the functions of the means, and states are drawn: every run from its own start, with noise
of its own.  The cost does not depend on n.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.draws import (
    Samples,
    Visited,
    drawn_states,
    fitted_errors_of,
)
from giantstep.prediction.narrow.points import points_for
from giantstep.prediction.narrow.start import Start, labels_at, squared_error, start_of_run
from giantstep.problem.network import network_output
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import span_factor

ROWS = (24, 96)
"""Drawn runs at least, and at most unless more are simulated; their starts are those of the
simulated runs in turn.  The mean of 24 is off by a fifth of what one run differs by, that of 96 by
a tenth."""

WORK = 2**32
"""Products of points with neurons and with their coordinates, in all drawn runs: some seconds."""

POINTS_A_NEURON, LOG2_POINTS = 16, (11, 14)
"""Points of a step over the neurons, and their number as a power of two, at least and at most: the
p x p matrix of mean squares has relative noise sqrt(p/N)."""


def log2_points(setting: Setting) -> int:
    """Points of a step, as a power of two."""
    low, high = LOG2_POINTS
    return min(max(math.ceil(math.log2(POINTS_A_NEURON * setting.p)), low), high)


def predict(setting: Setting, *, fitted: bool, draft: bool = False) -> dict[str, Any]:
    """Fields of the record, a row for each drawn run; ``fitted`` -> whether errors of a readout.

    A ``draft`` has as few rows as may be.
    """
    coordinates = min(setting.d, setting.p + setting.known)
    points = 2 ** log2_points(setting)
    points = points if fitted else min(points, setting.n)
    a_run = points * setting.p * (coordinates + setting.p) * (setting.steps + 1)
    least, most = ROWS
    rows_wanted = least if draft else min(max(WORK // a_run, least), most)
    count = setting.runs * math.ceil(rows_wanted / setting.runs)
    starts = [start_of_run(setting, run) for run in range(setting.runs)]
    rows = []
    for row in range(count):
        start = starts[row % setting.runs]
        quadrature = points_for(setting, row, log2_points(setting))
        states = list(drawn_states(setting, start, quadrature, Samples(row, setting)))
        fields = _observed(setting, start, states)
        if fitted:
            errors = fitted_errors_of(setting, start, states, seed=row)
            fields |= {"train_error": errors[:, 0], "test_error": errors[:, 1]}
        rows.append(fields | {"readout": start.readout})
    arrays: dict[str, Any] = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    arrays["overlap_deviation"] = np.zeros_like(arrays["overlap"])
    return arrays


def _observed(
    setting: Setting, start: Start, states: list[Visited]
) -> dict[str, Float[np.ndarray, "t ..."]]:
    """Overlaps, lengths, Gram matrices, spans and errors after each step of one drawn run."""
    r = setting.target.r
    overlap = np.stack([state.rows[:, :r] for state in states])
    gram = np.stack([state.rows @ state.rows.T for state in states])
    cosines = [_cosine(state.gradient, r) for state in states if state.gradient is not None]
    return {
        "overlap": overlap,
        "gram": gram,
        "norms": np.sqrt(np.diagonal(gram, axis1=1, axis2=2)),
        "span": np.stack([span_factor(m, q) for m, q in zip(overlap, gram, strict=True)]),
        "gradient_cosine": np.stack(cosines) if cosines else np.zeros((0, setting.p, r)),
        "network_error": np.array([_network_error(setting, start, state) for state in states]),
    }


def _cosine(gradient: Float[np.ndarray, "p k"], r: int) -> Float[np.ndarray, "p r"]:
    """Cosines with the target directions; a neuron without a gradient has cosine 0."""
    lengths = np.linalg.norm(gradient, axis=1, keepdims=True)
    along = gradient[:, :r]
    return np.divide(along, lengths, where=lengths > 0, out=np.zeros_like(along))


def _network_error(setting: Setting, start: Start, state: Visited) -> float:
    """The error of the network with the readout of its steps."""
    points = state.points
    inputs = state.rows @ points.x.T + start.biases[:, None]
    output = network_output(setting, np.asarray(setting.activation(inputs)), state.readout)
    labels = labels_at(setting, points.x, points.noise)
    return squared_error(setting, labels, output, points.weights)
