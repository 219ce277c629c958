"""Many runs advanced together by small batches, step after step on a chunk of Gaussian samples.

The samples of a chunk are known by their coordinates along what the rows span, normals, and by the
rest, whose Gram matrix is Wishart: x = (z, L) with L Bartlett's matrix, lower triangular.  All that
the steps of the chunk need of them is X X^T and W X^T at its start; after its last step the rows
are W + C X in the coordinates of both, turned back into as few as before (docs/derivations/
deferred.md).  Arrays have the run as first axis, and memory does not grow with the steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.problem.batches import uses
from giantstep.problem.network import coefficients, displaced, moved_readout, readout_descent
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.simulation.divergence import divergence
from giantstep.simulation.meter import Meter

CHUNK = 32
"""Samples of a chunk: with fewer what a chunk takes counts more, with more what a step takes."""

MOST_RUNS = 256
"""Runs advanced together at most: beyond, arrays leave the cache."""


def covers(setting: Setting) -> bool:
    """Whether steps of a setting are taken in chunks: small batches, each forgotten after use."""
    return (
        setting.batches.steps_per_set < math.inf
        and setting.n <= min(CHUNK, setting.d - setting.known - setting.p)
        and not setting.readout_on_last
        and not setting.readout_between.kind.fitted
        and setting.deflate < 0
        and setting.along_gradient
    )


def group_size(setting: Setting, memory: int) -> int:
    """Runs that are advanced together within so many bytes: eight copies of rows and samples."""
    columns = setting.known + setting.p + CHUNK
    return max(1, min(MOST_RUNS, memory // (64 * (setting.p + CHUNK) * columns)))


@dataclass
class State:
    """Rows (known directions first, then p coordinates more), readouts and biases of the runs."""

    rows: Float[np.ndarray, "runs p q"]
    readout: Float[np.ndarray, "runs p"]
    biases: Float[np.ndarray, "runs p"]


@dataclass(frozen=True)
class Stepped:
    """The runs after a recorded step, and its gradients, in the same coordinates."""

    step: int
    rows: Float[np.ndarray, "runs p k"]
    readout: Float[np.ndarray, "runs p"]
    gradient: Float[np.ndarray, "runs p k"]


class Together:
    """Runs of a setting from their starts on."""

    def __init__(self, setting: Setting, runs: Sequence[int], state: State, meter: Meter) -> None:
        self.setting, self.runs, self.state, self.meter = setting, runs, state, meter
        room = setting.d - state.rows.shape[2]
        self.sets = min(CHUNK, room) // setting.n
        self.uses = uses(setting.batches, setting.steps)
        self.generators: list[np.random.Generator] = []

    def steps(self) -> Iterator[Stepped]:
        """The runs after each recorded step but the start."""
        recorded = frozenset(self.setting.recorded)
        steps = self.sets * self.uses
        for number, first in enumerate(range(0, self.setting.steps, steps)):
            chunk = Chunk(self, number)
            last = min(first + steps, self.setting.steps)
            for step in range(first + 1, last + 1):
                try:
                    gradient = chunk.step(step - 1, (step - 1 - first) // self.uses)
                except np.linalg.LinAlgError:
                    raise self.diverged(chunk.pre, step) from None
                if step in recorded:
                    yield Stepped(step, chunk.rows(), self.state.readout, gradient())
            self.state.rows = self.compressed(chunk.rows(), last)
            self.meter.add(len(self.runs) * self.setting.n * (last - first))

    def compressed(
        self, rows: Float[np.ndarray, "runs p k"], step: int
    ) -> Float[np.ndarray, "runs p q"]:
        """The rows in p coordinates beside those along what is known."""
        span = self.setting.known
        if not np.all(np.isfinite(rows)):
            raise self.diverged(rows, step)
        triangle = np.linalg.qr(np.swapaxes(rows[:, :, span:], 1, 2), mode="r")
        return np.concatenate([rows[:, :, :span], np.swapaxes(triangle, 1, 2)], axis=2)

    def diverged(self, values: Float[np.ndarray, "runs p k"], step: int) -> Exception:
        """What to raise about the first run whose numbers are not finite."""
        finite = np.isfinite(values).all(axis=(1, 2))
        return divergence(self.setting, self.runs[int(np.argmin(finite))], step)

    def normals(
        self, number: int, samples: int, columns: int
    ) -> tuple[Float[np.ndarray, "runs k"], Float[np.ndarray, "runs n"]]:
        """Of chunk ``number``: so many columns of normals a sample, the lower triangle and chi."""
        setting = self.setting
        # A generator draws 32 chunks: to make one takes as long as 2000 normals.
        if number % 32 == 0:
            place = (Purpose.BATCH, number // 32)
            self.generators = [generator(setting.seed, run, *place) for run in self.runs]
        size = samples * columns + samples * (samples - 1) // 2
        numbers = np.empty((len(self.runs), size))
        lengths = np.empty((len(self.runs), samples))
        freedom = setting.d - self.state.rows.shape[2] - np.arange(samples)
        for index, key in enumerate(self.generators):
            key.standard_normal(out=numbers[index])
            lengths[index] = key.chisquare(freedom)
        return numbers, np.sqrt(lengths)


class Chunk:
    """Samples of a few steps of all runs, and what the steps taken so far make of them."""

    def __init__(self, together: Together, number: int) -> None:
        self.setting, self.state = together.setting, together.state
        setting, q = self.setting, self.state.rows.shape[2]
        samples = together.sets * setting.n
        normals, lengths = together.normals(number, samples, q + setting.noisy)
        shape, cut = (len(normals), samples, -1), samples * (q + setting.noisy)
        drawn = normals[:, :cut].reshape(shape)
        # Coordinates along what the rows span, then Bartlett's matrix.
        self.data = np.zeros((len(normals), samples, q + samples))
        flat = drawn[:, :, :q].reshape(-1, q)
        self.data[:, :, :q] = setting.inputs.stretched(flat, setting.target.r).reshape(
            len(normals), samples, q
        )
        below, diagonal = np.tril_indices(samples, -1), np.arange(samples)
        self.data[:, below[0], q + below[1]] = normals[:, cut:]
        self.data[:, diagonal, q + diagonal] = lengths
        clean = setting.target([self.data[:, :, k] for k in range(setting.target.r)])
        labels = setting.labels(clean, drawn[:, :, q]) if setting.noisy else clean
        self.labels = np.asarray(setting.label_transform(labels), dtype=float)
        # X X^T, W X^T, and the rows as kept W + added X.
        self.gram = self.data @ np.swapaxes(self.data, 1, 2)
        self.pre = self.state.rows @ np.swapaxes(self.data[:, :, :q], 1, 2)
        self.kept: Any = 1.0
        self.square_lengths = np.sum(self.state.rows**2, axis=2)
        self.added = np.zeros_like(self.pre)
        self.biases = self.state.biases[:, :, None]
        self.biased = setting.biased_steps

    def rows(self) -> Float[np.ndarray, "runs p k"]:
        """The rows as they are now, in the coordinates of the chunk's samples."""
        rows = self.added @ self.data
        rows[:, :, : self.state.rows.shape[2]] += self.kept * self.state.rows
        return rows

    def _ahead(
        self,
        pre: Float[np.ndarray, "runs p n"],
        labels: Float[np.ndarray, "runs n"],
        inner: Float[np.ndarray, "runs n n"],
    ) -> Float[np.ndarray, "runs p n"]:
        """Preactivations where the gradient is taken; ``inner`` are the products of the samples.

        docs/derivations/lookahead.md, eqs. (1) and (2).
        """
        setting, readout, ahead = self.setting, self.state.readout, self.setting.lookahead
        if ahead.kind.on_batch:
            c = coefficients(setting, pre, labels, readout)
            return pre + ahead.size / setting.n * c @ inner
        lengths = lambda: np.diagonal(inner, axis1=1, axis2=2)  # noqa: E731
        return np.asarray(displaced(setting, pre, labels, readout, lengths))

    def step(self, index: int, place: int) -> Callable[[], Float[np.ndarray, "runs p k"]]:
        """Take step ``index`` on set ``place`` of the chunk; what gives its gradients.

        W' = (1 - decay) W + size F G with G = c X/n acts on the later W X^T through X X^T.

        docs/derivations/deferred.md, eqs. (2) and (3).
        """
        setting, n = self.setting, self.setting.n
        now, later = slice(place * n, (place + 1) * n), slice(place * n, None)
        plain = self.pre[:, :, now]
        pre = plain + self.biases if self.biased else plain
        labels, readout = self.labels[:, now], self.state.readout
        inner = self.gram[:, now, now]
        pre = self._ahead(pre, labels, inner)
        c = coefficients(setting, pre, labels, readout)
        if setting.readout_between.kind.moved:
            gradient = readout_descent(setting, pre, labels, readout) / n
            self.state.readout = moved_readout(setting, readout, gradient)
        size = setting.step_size[index] / n
        update, move = setting.update, size * c
        if not update.kind.plain:
            square = (c / n) @ inner @ np.swapaxes(c / n, 1, 2)
            move = size * (update.factor(square) @ c)
        shrink: Any = 1.0 - setting.decay
        if setting.normalises_rows:
            # |W'|^2 = (1 - decay)^2 |W|^2 + 2 (1 - decay) <W, move> + |move|^2
            square_length = shrink**2 * self.square_lengths + np.sum(
                move * (2.0 * shrink * plain + move @ inner), axis=2
            )
            inverse = 1.0 / np.sqrt(square_length)[:, :, None]
            move, shrink = move * inverse, shrink * inverse
            self.square_lengths = np.ones_like(square_length)
        if setting.decay > 0 or setting.normalises_rows:
            self.kept = self.kept * shrink
            self.added *= shrink
            self.pre[:, :, later] *= shrink
        self.added[:, :, now] += move
        other = self.gram[:, now, later]
        # For a single sample the product of a column and a row: matmul takes twice as long.
        self.pre[:, :, later] += move * other if n == 1 else move @ other
        return lambda: c @ self.data[:, now] / n
