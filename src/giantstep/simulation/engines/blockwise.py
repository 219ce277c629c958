"""Deferred decisions for inputs of several variances: coordinates are kept block by block.

Inside a block only inner products matter.  A new sample sees the rows through p + r normals,
whatever the number of blocks, and only what a step leaves in each block is drawn there
(docs/derivations/blocks.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.coordinates import bartlett
from giantstep.problem.batches import set_of
from giantstep.problem.motion import Motion
from giantstep.problem.network import moved_readout, start_biases, start_readout, start_rows
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.block_span import BlockSpan, SeenRows
from giantstep.simulation.engines.deferred import DeferredEngine, holds_batches
from giantstep.simulation.engines.held import HeldBatch, HeldStream
from giantstep.simulation.engines.streamed import Stepped, Stream
from giantstep.simulation.matrices import Rows
from giantstep.simulation.meter import Meter


@dataclass(frozen=True)
class BlockStream(Stream):
    """New samples, by their coordinates in the basis that the network sees them in."""

    seen: SeenRows | None = None

    def coordinates(self, normals: Any) -> Any:
        assert self.seen is not None
        return self.seen.coordinates(normals)


class BlockBatch(HeldBatch):
    """Held samples over their standard deviations; ``columns`` are the blocks of what is known."""

    def __init__(self, setting: Setting, run: int, step: int, span: BlockSpan) -> None:
        self.span, self.columns = span, span.columns
        super().__init__(setting, run, step, len(span.columns))

    @property
    def data(self) -> Float[np.ndarray, "n q"]:
        return self.known.data * self.span.deviations(self.columns)

    def labels(self) -> Float[np.ndarray, " n"]:
        along = self.span.along_target(self.data)
        clean = np.asarray(self.setting.target(list(along.T)), dtype=float)
        return self.setting.labels(clean, self.noise)

    def lengths(self, key: np.random.Generator, k: int) -> Float[np.ndarray, "k j"]:
        """Coordinates of k combinations of samples outside what is known, in each block."""
        unknown = self.span.unknown(self.columns)
        parts = [bartlett(key, k, int(size)) for size in unknown]
        revealed = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        self.columns = np.concatenate([self.columns, revealed])
        return np.concatenate(parts, axis=1)


class BlockHeldStream(HeldStream):
    """The held batch as training data of the readout; what it is tested on is new."""

    def __init__(self, engine: BlockEngine, batch: BlockBatch) -> None:
        super().__init__(batch, engine.rows, engine.biases_of(Purpose.READOUT), engine.meter)
        self.engine = engine

    def like(self, purpose: Purpose, count: int) -> Stream:
        stream = self.engine.stream(purpose, self.batch.step, count)
        return replace(stream, biases=self.biases, deflation=self.deflation)


class BlockEngine(DeferredEngine):
    """One run by deferred decisions, its rows by their coordinates in each block."""

    def __init__(self, setting: Setting, memory: int, meter: Meter) -> None:
        super().__init__(setting, memory, meter)
        self.together, self.group = False, 1
        self.span = BlockSpan.of_run(setting, 0)
        self.blocks: Int[np.ndarray, " q"] = self.span.columns

    def begin(self, run: int) -> None:
        """Draw the start of a run."""
        setting = self.setting
        self.run, self.batch = run, None
        self.readout, self.biases = start_readout(setting, run), start_biases(setting, run)
        self.span = BlockSpan.of_run(setting, run)
        key = generator(setting.seed, run, Purpose.START, 0)
        self.motion = Motion(start_rows(setting, self.span.space(key)))
        self.blocks = self.span.columns

    def along_target(self, rows: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p r"]:
        """Overlaps with the target directions, which share their blocks with others."""
        return self.span.along_target(rows)

    @property
    def last_rows(self) -> Float[np.ndarray, "p q"]:
        """The rows along the target and p directions more, which do not say what block is which."""
        return self.span.turned(self.rows)

    def compress(self) -> None:
        """Hold the rows by as few coordinates as new samples need."""
        self.motion = Motion(self.span.compressed(self.rows, self.blocks))
        self.blocks = self.span.columns

    def step(self, index: int) -> Callable[[], Rows]:
        """Take giant step ``index``; what gives its gradient.

        docs/derivations/blocks.md, eqs. (3) and (4).
        """
        setting = self.setting
        stepped = self._held_step(index) if holds_batches(setting) else self._fresh_step(index)
        self.motion = stepped.motion
        self.readout = moved_readout(setting, self.readout, stepped.readout_gradient)
        return partial(self.recorded, stepped.gradient)

    def _held_step(self, index: int) -> Stepped:
        setting, number = self.setting, set_of(self.setting.batches, index)
        if not isinstance(self.batch, BlockBatch) or self.batch.step != number:
            self.compress()
            self.batch = BlockBatch(setting, self.run, number, self.span)
        biases = self.biases_of(Purpose.BATCH)
        stepped = self.batch.step_rows(self.motion, biases, self.readout, index)
        self.blocks = self.batch.columns
        self.meter.add(setting.n * (1 + (setting.deflate >= 0)))
        return stepped

    def _fresh_step(self, index: int) -> Stepped:
        setting = self.setting
        self.compress()
        stream = self.stream(Purpose.BATCH, index, setting.n)
        sums, seen = stream.deflate().sums(self.readout), stream.seen
        assert seen is not None
        key = generator(setting.seed, self.run, Purpose.HIDDEN, index)
        total, self.blocks = self.span.summed(seen, sums.known, sums.root, key)
        n, size = setting.n, setting.step_size[index]
        return Stepped.of(setting, self.motion, total / n, sums.readout / n, size)

    def training(self, index: int) -> Stream | HeldStream:
        """Data the readout after ``index`` steps is fitted on, labels deflated."""
        if self.setting.readout_on_last and isinstance(self.batch, BlockBatch):
            return BlockHeldStream(self, self.batch)
        return self.stream(Purpose.READOUT, index, self.setting.readout_n).deflate()

    def stream(
        self,
        purpose: Purpose,
        index: int,
        count: int,
        rows: Float[np.ndarray, "p q"] | None = None,
    ) -> BlockStream:
        """Fresh samples for the network as it is now, or for rows that are compressed already."""
        rows = self.span.compressed(self.rows, self.blocks) if rows is None else rows
        seen = self.span.seen(rows)
        shape = (self.setting, self.run, purpose, index, count, seen.rows)
        return BlockStream(*shape, self.biases_of(purpose), self.meter, work=self.work, seen=seen)
