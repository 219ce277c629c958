"""Updates that act on every entry by itself, such as signs, in the limit d -> infinity.

Where no direction has to do with the axes, the entries of the target directions, of the rows at the
start and of the noise of every gradient are independent normal numbers, axis by axis.  The entries
along K axes drawn from that law then stand for those along all d: a step acts on each axis, and its
inner products are averages over axes (docs/derivations/signs.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import RANK
from giantstep.gaussian.coordinates import root
from giantstep.gaussian.points import normal_sets
from giantstep.prediction.narrow.evolution import Evolution, Snapshot, evolution_of
from giantstep.prediction.narrow.fresh import mean_drift, seen_coefficients, seen_points
from giantstep.prediction.narrow.noise import Fluctuations
from giantstep.prediction.narrow.points import Quadrature, sobol_quadrature
from giantstep.prediction.narrow.state import State, coordinates
from giantstep.problem.motion import Motion, stepped_rows
from giantstep.problem.network import moved_readout, readout_descent
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Source:
    """Points for new samples, and a key for the entries along so many axes."""

    quadrature: Quadrature
    seed: int
    log2_axes: int


def axes_source(
    setting: Setting, seed: int, log2_points: int, *, fewest: int = 14, most: int = 16
) -> Source:
    """One scramble of points and axes."""
    dimension = setting.known + setting.p
    points = sobol_quadrature(dimension, seed, log2_points, steps=setting.steps)
    return Source(points, seed, min(max(log2_points, fewest), most))


class Axes:
    """Entries along K axes, over sqrt(K): vectors of R^K whose products are those of R^d."""

    def __init__(self, setting: Setting, start: State, source: Source) -> None:
        count = start.rows.shape[1] + setting.p * setting.steps
        self.setting = setting
        self.normals = normal_sets(count, source.seed, source.log2_axes, 1)(0).T
        span = _orthonormal(self._unused(start.rows.shape[1]))
        self.known = span[: setting.known]
        self.motion = Motion(
            start.rows @ span, np.zeros((setting.p, 0)) if setting.momentum else None
        )

    def _unused(self, k: int) -> Float[np.ndarray, "k m"]:
        taken, self.normals = self.normals[:k], self.normals[k:]
        return taken

    def moved(
        self,
        step: int,
        rows: Float[np.ndarray, "p q"],
        mean: Float[np.ndarray, "p q"],
        noise: Float[np.ndarray, "p p"],
    ) -> Float[np.ndarray, "p k"]:
        """Coordinates of the rows after a step.

        ``mean`` -> that of the gradient in the coordinates ``rows`` had before, ``noise`` -> a root
        of the covariance of its entries.

        docs/derivations/signs.md, eq. (2).
        """
        setting, known = self.setting, self.setting.known
        outside = self.motion.rows - rows[:, :known] @ self.known
        span = np.concatenate([self.known, np.linalg.pinv(rows[:, known:]) @ outside])
        gradient = mean @ span + noise @ _orthonormal(self._unused(setting.p), span)
        # The update of an entry has length one, so that of all d has sqrt(d).
        size = setting.step_size[step] * math.sqrt(setting.d / gradient.shape[1])
        self.motion = stepped_rows(setting, self.motion, gradient, size)
        vectors = self.motion.rows
        return coordinates(vectors @ self.known.T, vectors @ vectors.T)


def _orthonormal(
    normals: Float[np.ndarray, "k m"], others: Float[np.ndarray, "j m"] | None = None
) -> Float[np.ndarray, "k m"]:
    """The normals made orthonormal, and orthogonal to other orthonormal rows: a small change."""
    if others is not None:
        normals = normals - (normals @ others.T) @ others
    values, vectors = np.linalg.eigh(normals @ normals.T)
    return (vectors / np.sqrt(values)) @ vectors.T @ normals


def axes_states(
    setting: Setting, start: State, source: Source, noise: Fluctuations | None = None
) -> Iterator[Snapshot]:
    """States after every step in the limit, whose runs do not differ: ``noise`` is not used.

    docs/derivations/signs.md, eqs. (1) and (2).
    """
    state, axes, gradient = start, Axes(setting, start, source), None
    for step in range(setting.steps + 1):
        points = source.quadrature(state.rows, step)
        yield Snapshot(state, points, gradient)
        if step == setting.steps:
            return
        seen, inputs = seen_points(setting, points), state.preactivations(points.x)
        _, inputs, g = seen_coefficients(setting, state, seen, inputs)
        mean, drift = mean_drift(setting, state.rows, seen, g)
        mean = mean[:, : state.rows.shape[1]]
        spread = root(drift.gradient - mean @ mean.T, RANK)
        descent = readout_descent(
            setting, inputs, seen.labels, state.readout, counts=points.weights
        )
        state = replace(
            state,
            rows=axes.moved(step, state.rows, mean, spread),
            readout=moved_readout(setting, state.readout, descent),
        )
        gradient = np.concatenate([mean, spread], axis=1)


def axes_evolution(setting: Setting, start: State, source: Source) -> Evolution:
    """Overlaps, Gram matrices, gradient cosines and errors in the limit d -> infinity.

    docs/derivations/signs.md, eq. (2).
    """
    return evolution_of(setting, axes_states(setting, start, source))
