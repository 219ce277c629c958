"""Runs on inputs in blocks that are drawn with all d coordinates of every sample.

Momentum, deflated labels, looks ahead along single samples and updates of single entries need more
of a sample than the r + p normals through which it sees the rows (docs/derivations/blocks.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.prediction.limits import DENSE_START
from giantstep.prediction.narrow.drawn_runs import DrawnRun, HeldSamples
from giantstep.prediction.narrow.evolution import Snapshot
from giantstep.prediction.narrow.noise import Fluctuations, Samples
from giantstep.prediction.narrow.points import Quadrature
from giantstep.prediction.narrow.state import State, dense_start
from giantstep.problem.batches import set_of, set_size
from giantstep.problem.motion import Motion
from giantstep.problem.network import start_biases, start_readout
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.block_span import BlockSpan


def reflections(directions: Float[np.ndarray, "r d"]) -> Float[np.ndarray, "r d"]:
    """Unit vectors of Householder reflections that turn the directions to the first axes.

    A direction that is turned to its axis already has the vector zero.
    """
    turned, vectors = directions.copy(), np.zeros_like(directions)
    for k in range(len(directions)):
        difference = turned[k].copy()
        difference[k] -= 1.0
        length = np.linalg.norm(difference)
        if length > np.sqrt(np.finfo(float).eps):
            vectors[k] = difference / length
            turned = reflected(turned, vectors[k : k + 1])
    return vectors


def reflected(rows: Any, vectors: Float[np.ndarray, "r d"]) -> Any:
    """Rows after the reflections, one after the other: their coordinates in the turned basis."""
    for vector in vectors.astype(rows.dtype):
        if np.any(vector):
            rows = rows - 2.0 * np.outer(rows @ vector, vector)
    return rows


@dataclass(frozen=True)
class DenseState(State):
    """A network in a basis of R^d that begins with the target directions.

    ``directions`` are these along the axes.
    """

    directions: Float[np.ndarray, "r d"] | None = None


class DenseRun(DrawnRun):
    """One run whose samples have all d coordinates; new ones see its rows as in ``BlockRun``."""

    def __init__(
        self, setting: Setting, start: State, quadrature: Quadrature, noise: Fluctuations
    ) -> None:
        assert isinstance(start, DenseState)
        assert isinstance(noise, Samples)
        assert start.directions is not None
        self.setting, self.quadrature, self.noise = setting, quadrature, noise
        self.state, self.number, self.batch = start, -1, None
        self.directions, self.samples = start.directions, noise
        self.blocks = setting.inputs.blocks(setting.d)
        self.vectors, deviations = reflections(start.directions), self.blocks.along_axes
        noise.coordinates = lambda normals: reflected(
            normals * deviations.astype(normals.dtype), self.vectors
        )
        self._look(0, None)

    @staticmethod
    def start(setting: Setting, run: int) -> State:
        """The start of one run as the dense engine draws it."""
        DENSE_START.refuse(float(setting.p * setting.d), setting)
        rows, directions = dense_start(setting, run)
        vectors, drawn = reflections(directions), start_biases(setting, run)
        basis = None if setting.update.kind.turns else reflected(np.eye(setting.d), vectors).T
        return DenseState(
            reflected(rows, vectors),
            start_readout(setting, run),
            drawn if setting.bias_at == "start" else np.zeros_like(drawn),
            drawn,
            basis,
            Motion.at_rest(setting),
            directions,
        )

    @property
    def states_of_fit(self) -> tuple[State, State]:
        """The network in all d coordinates, which the samples of a readout have too."""
        return self.state, self.state

    def step(self, step: int) -> None:
        """Take a giant step."""
        setting, number = self.setting, set_of(self.setting.batches, step)
        if number != self.number or not isinstance(self.batch, HeldSamples):
            count = set_size(setting.batches, setting.n)
            self.batch = HeldSamples(setting, self.samples.samples(count, setting.d), self.samples)
            self.number = number
        gradients = self.batch.step(self.state)
        self.state = gradients.moved(setting, self.state, setting.step_size[step])
        self._look(step + 1, gradients.rows)

    def _look(self, step: int, gradient: Float[np.ndarray, "p d"] | None) -> None:
        """See the rows as new samples do, docs/derivations/blocks.md, eq. (2)."""
        state = self.state
        along_axes = reflected(state.rows, self.vectors[::-1])
        span, rows = BlockSpan.of_vectors(self.blocks, self.directions, along_axes)
        seen = span.seen(rows)
        points = self.quadrature(seen.rows, step)
        points = replace(points, x=seen.coordinates(points.x))
        new = State(seen.rows, state.readout, state.biases, state.readout_biases)
        self.snapshot = Snapshot(new, points, gradient, state.rows)
