"""Giant steps on batches that are seen more than once: the limit n, d -> infinity at fixed n/d.

The effective process is the deferred engine with Bartlett's matrix replaced by its limit
sqrt(d) I, run on K low-discrepancy paths in place of the N samples of a set: no response function
is needed.  With U the part of the coefficients c outside those used before (V), each step appends
to a path's coordinates sqrt(K d/N - noise) U + (1 - V V^T) e: along the q known directions K paths
have the square of the noise of their mean, of size q for independent ones, which N samples in d
dimensions have not beyond their d.  Two independent halves of the paths tell how large it is.

A reused batch is one set of N = n samples; repeat(k) takes a new one after every k steps, on which
the rows are known by their overlaps and Gram matrix alone; of minibatch(N) a step sees the share
n/N of the paths, chosen by a coordinate that is its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from jaxtyping import Bool, Float

from giantstep.gaussian.coordinates import Known
from giantstep.gaussian.points import normal_sets
from giantstep.prediction.narrow.fresh import Evolution, recorded
from giantstep.prediction.narrow.start import Start, coordinates, labels_at, squared_error
from giantstep.problem.batches import set_of, set_size, uses
from giantstep.problem.network import coefficients, stepped_rows
from giantstep.problem.setting import Setting

LEAST_OUTSIDE = 0.25
"""Share of its square length that a combination has outside the known directions at least: with
fewer paths the noise along these would be more than the rest."""


def dimensions(setting: Setting) -> int:
    """Normals a path takes: its start coordinates, its noise, and p (+1) for every step."""
    a_step = setting.p + (setting.deflate == 1) + (share(setting) < 1)
    return setting.target.r + setting.p + 1 + a_step * uses(setting.batches, setting.steps)


def share(setting: Setting) -> float:
    """Of the samples of a set, those that a step is taken on."""
    return setting.n / set_size(setting.batches, setting.n)


def chosen(setting: Setting, normals: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """The paths that a step of a minibatch sees, by a coordinate of their own."""
    return normals < NormalDist().inv_cdf(share(setting))


@dataclass(frozen=True)
class PathNormals:
    """Normals of the paths of each set, by its number: two halves, randomised independently."""

    halves: tuple[Callable[[int], Float[np.ndarray, "n q"]], ...]

    @classmethod
    def of(cls, setting: Setting, seed: int, log2_points: int) -> PathNormals:
        sets = set_of(setting.batches, max(setting.steps - 1, 0)) + 1
        size = dimensions(setting)
        halves = (normal_sets(size, 2 * seed + half, log2_points - 1, sets) for half in range(2))
        return cls(tuple(halves))

    def __call__(self, number: int) -> Float[np.ndarray, "n q"]:
        return np.concatenate([half(number) for half in self.halves])


class Paths:
    """Paths in place of the samples of a set, known along q directions, and what they have left."""

    def __init__(self, setting: Setting, normals: Float[np.ndarray, "n k"], q: int) -> None:
        self.setting, self.known = setting, Known.at_first(normals[:, :q])
        self.labels = setting.label_transform(labels_at(setting, normals, normals[:, q]))
        self.spare = normals[:, q + 1 :]

    @property
    def data(self) -> Float[np.ndarray, "n q"]:
        return self.known.data

    def step(self, state: Start) -> Float[np.ndarray, "p k"]:
        """The gradient of a step, in a basis grown by what it reveals."""
        setting, count = self.setting, len(self.labels)
        labels = self.labels
        if setting.deflate >= 0:
            labels = labels - labels.mean()
        if setting.deflate == 1:
            self.reveal(labels[:, None])
            labels = labels - self.data @ (labels @ self.data / count)
        seen = np.full(count, fill_value=True)
        if share(setting) < 1:
            seen = chosen(setting, self._taken(1)[:, 0])
        inputs = state.preactivations(self.data[seen, : state.rows.shape[1]])
        c = np.zeros((setting.p, count))
        c[:, seen] = coefficients(setting, inputs, labels[seen], state.readout)
        self.reveal(c.T)
        return c @ self.data / np.sum(seen)

    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Append the directions that sum_mu c_mu x_mu reveals."""
        setting, count = self.setting, len(self.data)
        half = count // 2
        # The square of the noise in sum_mu c_mu x_mu, over |c|^2, by what is new in c: q for
        # independent paths.  What was used before is known, and has no noise left.
        new = c - self.known.used @ (self.known.used.T @ c)
        apart = new[:half].T @ self.data[:half] - new[half:].T @ self.data[half:]
        noise = float(np.sum(apart**2)) / max(float(np.sum(new**2)), np.finfo(float).tiny)

        def limit(k: int) -> Float[np.ndarray, "k k"]:
            """Root mean square length of a combination, for K paths in place of N samples.

            N samples have d - q outside the known directions and along each of these the square of
            their noise, one: d in all; K paths have K d/N in all.
            """
            square = count * setting.d / set_size(setting.batches, setting.n)
            return math.sqrt(max(square - noise, LEAST_OUTSIDE * square)) * np.eye(k)

        self.known = self.known.reveal(c, limit, self._taken)

    def _taken(self, k: int) -> Float[np.ndarray, "n k"]:
        taken, self.spare = self.spare[:, :k], self.spare[:, k:]
        return taken


def reused_evolution(setting: Setting, start: Start, sets: PathNormals) -> Evolution:
    """Overlaps, Gram matrices, gradient cosines and errors after each step."""
    r, state, number = setting.target.r, start, -1
    overlaps, grams, cosines, errors = [], [], [], []
    for step in range(setting.steps + 1):
        overlaps.append(state.rows[:, :r])
        grams.append(state.rows @ state.rows.T)
        # Samples that are new see the rows in any coordinates.
        compact = replace(state, rows=coordinates(overlaps[-1], grams[-1]))
        if step < setting.steps and set_of(setting.batches, step) != number:
            number = set_of(setting.batches, step)
            normals = sets(number)
            state = state if step == 0 else compact
            paths = Paths(setting, normals, state.rows.shape[1])
        errors.append(_network_error(setting, compact, normals))
        if step == setting.steps:
            break
        gradient = paths.step(state)
        lengths = np.linalg.norm(gradient, axis=1, keepdims=True)
        # A neuron without a gradient has no direction: cosine 0, as in a simulation.
        along = gradient[:, :r]
        cosines.append(np.divide(along, lengths, where=lengths > 0, out=0.0 * along))
        rows = stepped_rows(setting, state.rows, gradient, setting.step_size[step])
        state = replace(state, rows=rows)
    return recorded(overlaps, grams, cosines=cosines, errors=errors, r=r)


def _network_error(setting: Setting, state: Start, normals: Float[np.ndarray, "n q"]) -> float:
    """The network's own error on the first coordinates of the paths, with a noise of their own."""
    x, weights = normals[:, : state.rows.shape[1]], np.full(len(normals), 1.0 / len(normals))
    labels = labels_at(setting, x, normals[:, -1])
    output = setting.scale * (state.readout @ setting.activation(state.preactivations(x)))
    return squared_error(setting, labels, output, weights)
