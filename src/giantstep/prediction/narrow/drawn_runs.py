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

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.batch import Gradients, NoisyBatch
from giantstep.prediction.narrow.drawn_readout import Fit, drawn_fit
from giantstep.prediction.narrow.evolution import Snapshot, evolution_of
from giantstep.prediction.narrow.mean_gradient import mean_gradient, stein_applies
from giantstep.prediction.narrow.noise import Fluctuations, Samples
from giantstep.prediction.narrow.points import Points, Quadrature, points_for
from giantstep.prediction.narrow.readout import errors_after_steps
from giantstep.prediction.narrow.state import State, labels_at, start_of_run
from giantstep.problem.batches import set_of, set_size
from giantstep.problem.network import coefficients, readout_descent
from giantstep.problem.penalties import penalties_of
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.deferred import directions_revealed

ROWS = (24, 96)
"""Drawn runs, at least and at most: the mean of 24 is off by a fifth of what one run differs by,
that of 96 by a tenth."""


def log2_points_of_step(
    setting: Setting, *, a_neuron: int = 16, least: int = 11, most: int = 14
) -> int:
    """Points of a step, as a power of two; the p x p matrix A has relative noise sqrt(p/N).

    Points that are held in place of samples are as many as are affordable: what was seen of them,
    m coordinates, has the share m/N of each, where it is m/n of a sample.
    """
    if held(setting) and set_size(setting.batches, setting.n) > most_samples(setting):
        return int(math.log2(most_samples(setting)))
    return min(max(math.ceil(math.log2(a_neuron * setting.p)), least), most)


def row_coordinates(setting: Setting) -> int:
    """Coordinates of a row in the span of rows, velocities and known directions, or along axes."""
    if not setting.update.kind.turns:
        return setting.d
    return min(setting.d, setting.moving + setting.known)


def points_serve(setting: Setting) -> bool:
    """Whether points may stand for samples: their mean gradient is replaced by the true one."""
    return stein_applies(setting) and setting.deflate < 1 and not setting.readout_on_last


def held(setting: Setting) -> bool:
    """Whether samples are held: to be seen again, to deflate their labels, or for the readout."""
    return setting.seen_again or setting.deflate == 1 or setting.readout_on_last


@dataclass(frozen=True)
class Cost:
    """Products that a step of one run takes for each sample, and the coordinates it holds."""

    products: int
    columns: int


def _cost(setting: Setting, columns: int, *, of_activation: int = 32, of_normal: int = 8) -> Cost:
    """The cost of samples that are known by so many coordinates from the start.

    A neuron takes its coordinates twice, a row of A, and ``of_activation`` for its nonlinear
    function; a coordinate is a random number.
    """
    a_neuron = 2 * columns + setting.p + of_activation
    return Cost(setting.p * a_neuron + of_normal * columns, columns)


def _deferred_cost(setting: Setting, *, of_orthogonal: int = 12) -> Cost:
    """The cost of held samples that gain coordinates, and are made orthogonal to what was used."""
    revealed = directions_revealed(setting)
    plain = _cost(setting, min(setting.d, row_coordinates(setting) + revealed))
    orthogonal = of_orthogonal * setting.p * (setting.p + revealed)
    return Cost(plain.products + orthogonal, plain.columns + revealed)


def all_known(setting: Setting) -> bool:
    """Whether held samples have all d coordinates from the start, which is cheaper or asked for."""
    if not setting.update.kind.turns:
        return True
    return _cost(setting, setting.d).products <= _deferred_cost(setting).products


def cost_of_samples(setting: Setting) -> Cost:
    """The cost of the samples of a step as a drawn run takes them."""
    if not held(setting):
        return _cost(setting, row_coordinates(setting))
    return _cost(setting, setting.d) if all_known(setting) else _deferred_cost(setting)


def most_samples(setting: Setting, *, work: int = 2**35, numbers: int = 2**24) -> int:
    """Samples of a step that a drawn run takes as they are: points stand for more.

    ``work`` are the products of all steps of the least number of runs, some seconds on one core,
    and ``numbers`` the coordinates of the samples at once.  Where no points can stand for samples
    all of them are taken that fit.
    """
    cost = cost_of_samples(setting)
    fitting = max(numbers // cost.columns, 2**11)
    if not points_serve(setting):
        return fitting
    a_sample = cost.products * max(setting.steps, 1) * max(ROWS[0], setting.runs)
    return min(max(work // a_sample, 2**11), fitting)


def needs_samples(setting: Setting) -> bool:
    """Whether a readout is fitted on drawn samples: between steps, or on those of the last step."""
    between = setting.readout_between.kind.fitted
    return between or (setting.readout_n > 0 and setting.readout_on_last and setting.steps > 0)


def expected_seconds(
    setting: Setting, *, fits: bool | None = None, products_a_second: float = 4e9
) -> float:
    """Seconds that the least number of drawn runs take on one core, about.

    ``fits``: whether their readouts are fitted on drawn samples; None where only they tell.
    """
    fitted = needs_samples(setting) if fits is None else fits
    products = _products_of_run(setting) + fitted * _products_of_fits(setting)
    return max(ROWS[0], setting.runs) * products / products_a_second


def _products_of_run(setting: Setting) -> int:
    """Products that a drawn run takes: its steps, and its error on points after each."""
    points = 2 ** log2_points_of_step(setting)
    samples = set_size(setting.batches, setting.n)
    samples = samples if samples <= most_samples(setting) else points
    measured = points * setting.p * (row_coordinates(setting) + setting.p)
    steps = setting.steps * samples * cost_of_samples(setting).products
    return steps + (setting.steps + 1) * measured


def _products_of_fits(setting: Setting, *, a_penalty: int = 2) -> int:
    """Products that the readouts of a drawn run take, leave-one-out errors included."""
    penalties = len(penalties_of(setting.ridge))
    a_feature = row_coordinates(setting) + setting.p + a_penalty * penalties * (penalties > 1)
    return (setting.steps + 1) * setting.readout_n * setting.p * a_feature


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
    work: int = 2**32,
    error_points: int = 2**11,
) -> dict[str, Float[np.ndarray, "rows ..."]]:
    """Fields of the record, a row for each drawn run.

    ``kind`` says how a run is drawn.  There are at least and at most so many rows (ROWS) unless
    more are simulated, or ``draws`` of them; their starts are those of the simulated runs in turn.
    ``work`` are products of samples with neurons and with their coordinates in all drawn runs: some
    seconds.  Errors of the network
    are means over ``error_points`` points: a run is off by one or two per cent, the mean of 24 by
    less than a third of that.
    """
    kind = kind or DrawnRun
    affordable = work // max(_products_of_run(setting), 1)
    wanted = draws or min(max(affordable, ROWS[0]), ROWS[1])
    starts = [kind.start(setting, run) for run in range(setting.runs)]
    drawn = []
    for row in range(setting.runs * math.ceil(wanted / setting.runs)):
        start = starts[row % setting.runs]
        quadrature = points_for(setting, row, log2_points_of_step(setting))
        noise = Samples(row, setting, most_samples(setting), single=True)
        run = kind(setting, start, quadrature, noise)
        snapshots, fits = _followed(run, noise, fitted=drawing.by_fits)
        fields = dict(vars(evolution_of(setting, snapshots, error_points)))
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
            last = setting.readout_on_last and run.batch is not None
            state = run.state if last else run.snapshot.state
            fits.append(drawn_fit(setting, state, noise, run.batch))
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
        self.batch: HeldSamples | NoisyBatch | None = None
        self.snapshot = Snapshot(start, quadrature(start.rows, 0))

    @staticmethod
    def start(setting: Setting, run: int) -> State:
        """The start of one run as the engine that simulates it draws it."""
        return start_of_run(setting, run)

    def step(self, step: int) -> None:
        """Take a giant step."""
        setting, number = self.setting, set_of(self.setting.batches, step)
        if number != self.number:
            # Samples that are new see the rows in any coordinates.
            self.state = replace(self.snapshot.state, readout=self.state.readout)
            self.number = number
            self.batch = self._held_batch() if held(setting) else None
        if self.batch is None:
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
        mean, beta = self.fitted_part(self.labels)
        labels = self.labels - mean - self.data @ beta
        samples, drawn = self.samples, self.setting.n
        if drawn < len(labels):
            chosen = self.noise.key.choice(len(labels), drawn, replace=False)
            samples, labels = replace(samples, x=samples.x[chosen]), labels[chosen]
        along, _, descent = _summed(self.setting, state, samples, labels)
        return Gradients.used(self.setting, state, along, descent)

    def fitted_part(self, labels: Float[np.ndarray, " n"]) -> tuple[float, Float[np.ndarray, " d"]]:
        """The mean and linear part that deflation removes."""
        mean = float(labels.mean()) if self.setting.deflate >= 0 else 0.0
        beta = np.zeros(self.setting.d, dtype=self.data.dtype)
        if self.setting.deflate == 1:
            beta = (labels - mean).astype(beta.dtype) @ self.data / len(labels)
        return mean, beta


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
        inputs = state.preactivations(points.x)
        c = np.asarray(coefficients(setting, inputs, labels, state.readout))
        along = mean_gradient(setting, state, points, inputs, c)
        along += (c * (batch.weights - points.weights)) @ points.x
        square = (c * batch.weights) @ c.T
        descent = readout_descent(setting, inputs, labels, state.readout, counts=batch.weights)
    else:
        along, square, descent = _summed(setting, state, batch, labels)
    values, vectors = np.linalg.eigh(square)
    symmetric = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return along, symmetric, descent


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
    rows, biases, readout = (
        each.astype(dtype) for each in (state.rows, state.biases[:, None], state.readout)
    )
    size = max(numbers // p, 1)
    for first in range(0, n, size):
        x, y = batch.x[first : first + size], labels[first : first + size].astype(dtype)
        inputs = rows @ x.T + biases
        c = np.asarray(coefficients(setting, inputs, y, readout))
        along += c @ x
        square += c @ c.T
        descent += readout_descent(setting, inputs, y, readout)
    return along / n, square / n, descent / n
