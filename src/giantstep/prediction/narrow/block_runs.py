"""Runs on inputs in blocks of variances, drawn from the law of their steps.

New samples see the rows through r + p normals, and a step leaves its noise in every block
(docs/derivations/blocks.md).  Expectations are over these normals, by samples or by points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.prediction.limits import DENSE_START
from giantstep.prediction.narrow.drawn_runs import DrawnRun, fresh_means
from giantstep.prediction.narrow.drawn_work import held
from giantstep.prediction.narrow.evolution import Snapshot
from giantstep.prediction.narrow.fitted_part import FittedPart
from giantstep.prediction.narrow.noise import Fluctuations, Samples
from giantstep.prediction.narrow.points import Quadrature
from giantstep.prediction.narrow.state import State
from giantstep.problem.batches import set_of
from giantstep.problem.motion import Motion
from giantstep.problem.network import (
    moved_readout,
    start_biases,
    start_readout,
    start_rows,
    target_frame,
)
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import whole_space
from giantstep.simulation.engines.block_span import BlockSpan
from giantstep.simulation.engines.blockwise import BlockBatch
from giantstep.simulation.engines.streamed import Stepped
from giantstep.simulation.simulate import choose_engine


@dataclass(frozen=True)
class BlockState(State):
    """A network whose rows are held by coordinates in each block of the inputs."""

    span: BlockSpan | None = None


def block_start(setting: Setting, run: int) -> BlockState:
    """The start of one run as the engine that simulates it draws it."""
    key = generator(setting.seed, run, Purpose.START, 0)
    readout, drawn = start_readout(setting, run), start_biases(setting, run)
    biases = drawn if setting.bias_at == "start" else np.zeros_like(drawn)
    if choose_engine(setting) == "deferred":
        span = BlockSpan.of_run(setting, run)
        rows = start_rows(setting, span.space(key))
    else:
        DENSE_START.refuse(float(setting.p * setting.d), setting)
        frame = target_frame(setting, run)
        vectors = start_rows(setting, whole_space(key, frame))
        span, rows = BlockSpan.of_vectors(setting.inputs.blocks(setting.d), frame, vectors)
    return BlockState(rows, readout, biases, drawn, span=span)


class LastBlocks:
    """Held samples of the last step, which a readout is fitted on."""

    def __init__(self, held: BlockBatch) -> None:
        self.outcomes, self.data = held.labels(), held.data
        self.degree = held.setting.deflate

    def fitted_part(self, labels: Float[np.ndarray, " n"]) -> FittedPart:
        """The mean that deflation removes."""
        return FittedPart.of(labels, self.data[:, :0], self.degree)


class BlockRun(DrawnRun):
    """One run: its rows block by block, and as new samples see them.

    Samples that are seen again are held as in a simulation, with random numbers of their own.
    """

    def __init__(
        self, setting: Setting, start: State, quadrature: Quadrature, noise: Fluctuations
    ) -> None:
        assert isinstance(start, BlockState)
        assert isinstance(noise, Samples)
        assert start.span is not None
        self.setting, self.quadrature, self.noise = setting, quadrature, noise
        self.state, self.batch = start, None
        self.samples, self.span, self.columns = noise, start.span, start.span.columns
        self.held: BlockBatch | None = None
        self.own = setting.vary(seed=int(noise.key.integers(2**62)))
        self._look(0, None)

    @staticmethod
    def start(setting: Setting, run: int) -> State:
        return block_start(setting, run)

    @property
    def states_of_fit(self) -> tuple[State, State]:
        """The network in the coordinates of the last batch, or of new samples, which test it."""
        new = self.snapshot.state
        return (new if self.batch is None else self.state), new

    def step(self, step: int) -> None:
        """Take a giant step."""
        stepped = self._held_step(step) if held(self.setting) else self._fresh_step(step)
        readout = moved_readout(self.setting, self.state.readout, stepped.readout_gradient)
        self.state = replace(self.state, rows=stepped.motion.rows, readout=readout)
        self._look(step + 1, self.span.turned(stepped.gradient))

    def _held_step(self, step: int) -> Stepped:
        """A step on samples that are held, docs/derivations/blocks.md, eq. (4)."""
        number = set_of(self.setting.batches, step)
        if self.held is None or self.held.step != number:
            rows = self.span.compressed(self.state.rows, self.columns)
            self.state = replace(self.state, rows=rows)
            self.held = BlockBatch(self.own, 0, number, self.span)
        state = self.state
        stepped = self.held.step_rows(Motion(state.rows), state.biases, state.readout, step)
        self.columns = self.held.columns
        if self.setting.readout_on_last:
            self.batch = LastBlocks(self.held)
        return stepped

    def _fresh_step(self, step: int) -> Stepped:
        """A step on samples that are not seen again, docs/derivations/blocks.md, eq. (3)."""
        setting, n = self.setting, self.setting.n
        state = replace(self.snapshot.state, readout=self.state.readout)
        along, root, descent = fresh_means(setting, state, self.snapshot.points, self.noise)
        # Sums over n samples have the root sqrt(n) A^(1/2), and their means divide by n.
        rows = self.span.compressed(self.state.rows, self.columns)
        total, self.columns = self.span.summed(
            self.seen, n * along, math.sqrt(n) * root, self.noise.key
        )
        return Stepped.of(setting, Motion(rows), total / n, descent, setting.step_size[step])

    def _look(self, step: int, gradient: Float[np.ndarray, "p k"] | None) -> None:
        """See the rows as new samples do."""
        rows = self.span.compressed(self.state.rows, self.columns)
        self.seen = self.span.seen(rows)
        self.samples.coordinates = self.seen.coordinates
        points = self.quadrature(self.seen.rows, step)
        points = replace(points, x=self.seen.coordinates(points.x))
        state = State(self.seen.rows, *self._beside_rows())
        self.snapshot = Snapshot(state, points, gradient, self.span.turned(rows))

    def _beside_rows(self) -> tuple[Float[np.ndarray, " p"], ...]:
        return self.state.readout, self.state.biases, self.state.readout_biases
