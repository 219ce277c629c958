"""Runs drawn from the law of their steps: where a run is far from its mean.

Where what n samples add to the mean of a step is small, the recursion of the means serves
(fresh.py).  Where it is not, means of nonlinear functions (lengths, cosines, the next step) are not
the functions of the means, and states are drawn: every run from its own start, with noise of its
own, on batches of any kind.  Samples are drawn as they are while they are affordable; more are
replaced by points with random weights, so that the cost does not grow with n
(docs/derivations/drawn_runs.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.batch import Gradients, NoisyBatch
from giantstep.prediction.narrow.drawn_readout import Fit, LastBatch, drawn_fit
from giantstep.prediction.narrow.drawn_work import (
    ERROR_POINTS,
    all_known,
    held,
    log2_points_of_step,
    most_samples,
    points_serve,
    row_count,
)
from giantstep.prediction.narrow.evolution import Snapshot, evolution_of
from giantstep.prediction.narrow.fitted_part import FittedPart
from giantstep.prediction.narrow.mean_gradient import mean_gradient
from giantstep.prediction.narrow.noise import Fluctuations, Samples
from giantstep.prediction.narrow.points import Points, Quadrature, points_for
from giantstep.prediction.narrow.readout import errors_after_steps
from giantstep.prediction.narrow.state import State, labels_at, start_of_run
from giantstep.problem.batches import set_of, set_size
from giantstep.problem.network import coefficients, displaced, readout_descent
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Drawing:
    """How the errors of a readout are had: from expected values, or by drawn fits (``by_fits``)."""

    errors: bool = False
    by_fits: bool = False


def predict(
    setting: Setting,
    *,
    drawing: Drawing,
    kind: type[DrawnRun] | None = None,
    draws: int | None = None,
) -> dict[str, Float[np.ndarray, "rows ..."]]:
    """Fields of the record, a row for each drawn run.

    ``kind`` says how a run is drawn; starts are those of the simulated runs in turn.
    """
    kind = kind or DrawnRun
    starts = [kind.start(setting, run) for run in range(setting.runs)]
    drawn = []
    for row in range(row_count(setting, by_fits=drawing.by_fits, draws=draws)):
        start = starts[row % setting.runs]
        quadrature = points_for(setting, row, log2_points_of_step(setting), on_axes=True)
        noise = Samples(row, setting, most_samples(setting), single=True)
        run = kind(setting, start, quadrature, noise)
        snapshots, fits = _followed(run, noise, fitted=drawing.by_fits)
        fields = dict(vars(evolution_of(setting, snapshots, ERROR_POINTS)))
        if drawing.by_fits:
            errors = np.array([(fit.train_error, fit.test_error) for fit in fits])
        elif drawing.errors:
            errors = errors_after_steps(setting, snapshots, seed=row)
        if drawing.errors:
            fields |= {"train_error": errors[:, 0], "test_error": errors[:, 1]}
        drawn.append(fields | {"readout": start.readout})
    return {name: np.stack([fields[name] for fields in drawn]) for name in drawn[0]}


def _followed(run: DrawnRun, noise: Samples, *, fitted: bool) -> tuple[list[Snapshot], list[Fit]]:
    """The states of a run and, if they are drawn, the fits of its readout."""
    setting = run.setting
    snapshots, fits = [], []
    for step in range(setting.steps + 1):
        if step > 0:
            run.step(step - 1)
        snapshots.append(run.snapshot)
        if fitted:
            fits.append(drawn_fit(setting, run.states_of_fit, noise, run.batch))
        if setting.readout_between.kind.fitted:
            run.state = replace(run.state, readout=fits[-1].weights)
    return snapshots, fits


def fresh_states(
    setting: Setting, start: State, quadrature: Quadrature, noise: Fluctuations
) -> Iterator[Snapshot]:
    """States of a run drawn from the law of its steps, on samples that are new at every step."""
    run = DrawnRun(setting, start, quadrature, noise)
    yield run.snapshot
    for step in range(setting.steps):
        run.step(step)
        yield run.snapshot


class DrawnRun:
    """One run: its state in the coordinates of its batch, and as it is seen by new samples."""

    def __init__(
        self, setting: Setting, start: State, quadrature: Quadrature, noise: Fluctuations
    ) -> None:
        self.setting, self.quadrature, self.noise = setting, quadrature, noise
        self.state, self.number = start, -1
        self.batch: LastBatch | None = None
        self.snapshot = Snapshot(start, quadrature(start.rows, 0))

    @staticmethod
    def start(setting: Setting, run: int) -> State:
        """The start of one run as the engine that simulates it draws it."""
        return start_of_run(setting, run, on_axes=True)

    @property
    def states_of_fit(self) -> tuple[State, State]:
        """The network in the coordinates of what its readout is fitted on, and tested on."""
        last = self.setting.readout_on_last and self.batch is not None
        state = self.state if last else self.snapshot.state
        return state, state

    def step(self, step: int) -> None:
        """Take a giant step."""
        setting, number = self.setting, set_of(self.setting.batches, step)
        if number != self.number:
            # Samples that are new see the rows in any coordinates.
            self.state = replace(self.snapshot.state, readout=self.state.readout)
            self.number = number
            self.batch = self._held_batch() if held(setting) else None
        if not isinstance(self.batch, HeldSamples | NoisyBatch):
            gradients = _fresh_gradients(setting, self.state, self.snapshot.points, self.noise)
        else:
            gradients = self.batch.step(self.state)
        self.state = gradients.moved(setting, self.state, setting.step_size[step])
        compact = self.state
        if setting.update.kind.turns:
            compact = compact.compressed(setting.known)
        points = self.quadrature(compact.rows, step + 1)
        self.snapshot = Snapshot(compact, points, gradients.rows)

    def _held_batch(self) -> HeldSamples | NoisyBatch:
        """Samples of a set, or points that stand for them."""
        setting, points, noise = self.setting, self.snapshot.points, self.noise
        count = set_size(setting.batches, setting.n)
        if isinstance(noise, Samples) and count <= noise.most_samples and all_known(setting):
            p, q = self.state.rows.shape
            rows = np.concatenate([self.state.rows, np.zeros((p, setting.d - q))], axis=1)
            self.state = replace(self.state, rows=rows)
            return HeldSamples(setting, noise.samples(count, setting.d), noise)
        batch = noise.batch(points, count)
        corrected = batch.x is points.x and points_serve(setting)
        return NoisyBatch(
            setting,
            batch,
            # Runs that have an opposite see a sample once, and of it what deflation reveals.
            np.column_stack([batch.spare, np.zeros((len(batch.x), setting.p))]),
            noise,
            mean_weights=points.weights if corrected and not noise.opposite else None,
        )


class HeldSamples:
    """Samples of a set with all d coordinates, in single precision as in a simulation."""

    def __init__(self, setting: Setting, samples: Points, noise: Samples) -> None:
        self.setting, self.samples, self.noise = setting, samples, noise
        self.outcomes = labels_at(setting, samples.x, samples.noise)
        self.labels = setting.label_transform(self.outcomes)

    @property
    def data(self) -> Float[np.ndarray, "n d"]:
        return self.samples.x

    def step(self, state: State) -> Gradients:
        """The gradients of a step on all samples, or on those of them that it draws."""
        labels = self.labels - self.fitted_part(self.labels).at(self.data)
        samples, drawn = self.samples, self.setting.n
        if drawn < len(labels):
            chosen = self.noise.key.choice(len(labels), drawn, replace=False)
            samples = replace(samples, x=samples.x[chosen], spare=samples.spare[chosen])
            labels = labels[chosen]
        ahead = state
        if self.setting.lookahead.kind.on_batch:
            shift = self.setting.lookahead.size * _summed(self.setting, state, samples, labels)[0]
            ahead = replace(state, rows=state.rows + shift)
        along, _, descent = _summed(self.setting, ahead, samples, labels)
        return Gradients.used(self.setting, state, along, descent)

    def fitted_part(self, labels: Float[np.ndarray, " n"]) -> FittedPart:
        """What deflation removes from the labels."""
        return FittedPart.of(labels, self.data, self.setting.deflate)


def _fresh_gradients(
    setting: Setting, state: State, points: Points, noise: Fluctuations
) -> Gradients:
    """Gradients of a step on samples that are not seen again (docs/derivations/drawn_runs.md).

    Along the known directions the gradient is its mean and the noise of n samples; outside them it
    is A^(1/2) L/sqrt(n), A = mean c c^T, L Bartlett's.

    docs/derivations/drawn_runs.md, eq. (4).
    """
    along, symmetric, descent = fresh_means(setting, state, points, noise)
    outside = symmetric @ noise.vectors(setting.p, setting.d - state.rows.shape[1])
    rows = np.concatenate([along, outside / math.sqrt(setting.n)], axis=1)
    return Gradients.used(setting, state, rows, descent)


def fresh_means(
    setting: Setting, state: State, points: Points, noise: Fluctuations
) -> tuple[Float[np.ndarray, "p q"], Float[np.ndarray, "p p"], Float[np.ndarray, " p"]]:
    """Means over the samples of a step: of c x, the root of that of c c^T, the readout's gradient.

    docs/derivations/drawn_runs.md, eq. (4).
    """
    batch = noise.batch(points, setting.n)
    labels = setting.label_transform(labels_at(setting, batch.x, batch.noise))
    if setting.deflate == 0:
        labels = labels - batch.weights @ labels
    if batch.x is points.x:  # the error of their own mean, larger than the noise of samples, goes
        inputs, outside = state.preactivations(points.x), points.outside(setting)
        squares = np.sum(points.x**2, axis=1) + outside
        inputs = displaced(setting, inputs, labels, state.readout, lambda: squares)
        c = np.asarray(coefficients(setting, inputs, labels, state.readout))
        along = mean_gradient(setting, state, points, inputs, c)
        along += (c * (batch.weights - points.weights)) @ points.x
        square = (c * batch.weights * outside / max(setting.d - points.x.shape[1], 1)) @ c.T
        descent = readout_descent(setting, inputs, labels, state.readout, counts=batch.weights)
    else:
        along, square, descent = _summed(setting, state, batch, labels)
    values, vectors = np.linalg.eigh(square)
    symmetric = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return along, symmetric, descent


def _square_lengths(
    x: Float[np.ndarray, "n q"], outside: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    return np.sum(x**2, axis=1) + outside


def _summed(
    setting: Setting,
    state: State,
    batch: Points,
    labels: Float[np.ndarray, " n"],
    *,
    numbers: int = 2**18,
) -> tuple[Float[np.ndarray, "p q"], Float[np.ndarray, "p p"], Float[np.ndarray, " p"]]:
    """Means of c x^T, of c c^T, and of the readout's gradient, over pieces of the samples.

    A piece has so many preactivations: what they are made into stays in the cache.  Sums over
    pieces are in float64.
    """
    p, (n, q), dtype = setting.p, batch.x.shape, batch.x.dtype
    along, square, descent = np.zeros((p, q)), np.zeros((p, p)), np.zeros(p)
    rows, biases, readout, outside = (
        each.astype(dtype)
        for each in (state.rows, state.biases[:, None], state.readout, batch.outside(setting))
    )
    share = outside / max(setting.d - q, 1)
    size = max(numbers // p, 1)
    for first in range(0, n, size):
        x, y = batch.x[first : first + size], labels[first : first + size].astype(dtype)
        beyond = outside[first : first + size]
        inputs = rows @ x.T + biases
        inputs = displaced(setting, inputs, y, readout, partial(_square_lengths, x, beyond))
        c = np.asarray(coefficients(setting, inputs, y, readout))
        along += c @ x
        # Neurons whose gradients are opposite leave eigenvalues of rounding, whose roots count.
        exact = c.astype(np.float64)
        square += (exact * share[first : first + size]) @ exact.T
        descent += readout_descent(setting, inputs, y, readout)
    return along / n, square / n, descent / n
