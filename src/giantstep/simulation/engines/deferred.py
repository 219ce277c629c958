"""Simulation of Gaussian inputs with the statistics of a d-dimensional one, without its cost.

A run needs only inner products, so nothing in R^d is ever drawn: the rows of W are held by their
coordinates in an orthonormal basis whose first r vectors are the target directions, and what a
sample has outside the span known so far is drawn when a step reveals it (deferred decisions, as in
arXiv 2101.07464; docs/derivations/deferred.md).  d enters only through chi variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.coordinates import compressed
from giantstep.language.units import in_bytes
from giantstep.problem.batches import set_of, set_size, uses
from giantstep.problem.inputs import DEFERRABLE
from giantstep.problem.motion import Motion
from giantstep.problem.network import moved_readout, start_biases, start_readout, start_rows
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import known_span
from giantstep.simulation.engines.blocks import HOST
from giantstep.simulation.engines.held import HeldBatch, HeldStream
from giantstep.simulation.engines.lengths import step_with_lengths
from giantstep.simulation.engines.streamed import Stream
from giantstep.simulation.engines.together import State, Together, covers, group_size
from giantstep.simulation.matrices import Rows
from giantstep.simulation.meter import Meter
from giantstep.simulation.moments import Moment, run_by_run


def directions_revealed(setting: Setting) -> int:
    """Directions that the steps on one set of samples reveal beside those known before."""
    fits = 1 + (setting.readout_on_last and not setting.label_transform.is_plain)
    a_step = setting.p * setting.lookahead.kind.looks + fits * (setting.deflate == 1)
    return block_count(setting) * a_step * uses(setting.batches, setting.steps)


def block_count(setting: Setting) -> int:
    """Blocks of the inputs, in each of which a vector has coordinates."""
    return len(setting.inputs.blocks(setting.d).sizes) if setting.inputs.in_blocks else 1


def dimensions_needed(setting: Setting) -> int:
    """Dimensions the basis may come to span, where R^d has as many."""
    return block_count(setting) * (setting.known + setting.moving) + directions_revealed(setting)


def held_bytes(setting: Setting) -> int:
    """Memory of a batch that is held: n samples by data columns, used vectors and work."""
    used = min(directions_revealed(setting), setting.d)
    columns = min(dimensions_needed(setting), setting.d) + used + 4 * setting.p
    return 8 * set_size(setting.batches, setting.n) * columns


def rows_bytes(setting: Setting) -> int:
    """Memory of the rows and of what a step makes of them: p x p matrices, 20 were measured."""
    blocks = block_count(setting)
    return 8 * 24 * setting.moving * blocks * (setting.moving + setting.known)


def objection(setting: Setting, memory: int) -> str | None:
    """Why the deferred engine cannot run a setting, None if it can."""
    if not setting.inputs.deferrable:
        return f"the deferred engine needs {DEFERRABLE} inputs, got {setting.inputs.text!r}"
    if not setting.update.kind.turns:
        return f"the deferred engine has no axes of the inputs, got update = {setting.update!r}"
    if setting.device == "gpu" and holds_batches(setting):
        return "the deferred engine holds batches on the host, got device = 'gpu'"
    if setting.deflate == 2:
        return "the deferred engine cannot hold a fit of degree 2, got deflate = 2"
    if setting.lookahead.kind.on_sample and (complaint := _objection_to_lengths(setting)):
        return complaint
    if setting.inputs.in_blocks and (complaint := _objection_to_blocks(setting)) is not None:
        return complaint
    needed = setting.known + setting.moving + (setting.deflate == 1)
    if needed > setting.d:
        velocities = " with their velocities" if setting.momentum else ""
        return (
            f"the deferred engine needs d >= {needed} for these p and r{velocities}, got "
            f"{setting.d}"
        )
    if rows_bytes(setting) > memory:
        return (
            f"memory must be at least {in_bytes(rows_bytes(setting))} for p = {setting.p:,} "
            f"neurons of the deferred engine, got {in_bytes(memory)}"
        )
    if holds_batches(setting) and held_bytes(setting) > memory:
        return (
            f"memory must be at least {in_bytes(held_bytes(setting))} for a batch that the "
            f"deferred engine holds, got {in_bytes(memory)}"
        )
    return None


def _objection_to_lengths(setting: Setting) -> str | None:
    """Samples are known by their lengths too, which only new ones of plain inputs are."""
    text = f"lookahead = {setting.lookahead}"
    if setting.inputs.in_blocks:
        return f"the deferred engine knows no lengths of inputs in blocks, got {text}"
    if holds_batches(setting) and not covers(setting):
        return f"the deferred engine does not know lengths of samples that it holds, got {text}"
    if setting.deflate == 1:
        return f"the deferred engine deflates no linear part of labels, got {text}"
    if setting.device == "gpu":
        return f"the deferred engine draws lengths of samples on the host, got {text}"
    return None


def _objection_to_blocks(setting: Setting) -> str | None:
    text = setting.inputs.text
    if not setting.along_gradient:
        return f"the deferred engine has neither momentum nor tangent gradients for inputs {text}"
    if setting.deflate == 1:
        return f"the deferred engine deflates no linear part of inputs {text}, got deflate = 1"
    if setting.start_rows is not None:
        return f"the deferred engine takes no given start_rows for inputs {text}"
    if setting.device == "gpu":
        return f"the deferred engine draws inputs {text} on the host, got device = 'gpu'"
    return None


def holds_batches(setting: Setting) -> bool:
    """Whether samples must be kept: to be seen again, or to fit the readout on."""
    held = setting.lookahead.kind.on_batch or setting.readout_on_last
    return held or not setting.batches.kind.fresh


def accelerated(setting: Setting) -> bool:
    """Whether samples are drawn and used on an accelerator: only where told so.

    Its samples are others, and a run should be the same on machines with and without one.
    """
    return setting.device == "gpu"


def _host_setting(setting: Setting) -> Setting:
    """The setting, its activation made to return NumPy arrays if it is a function of JAX."""
    sigma = setting.activation
    if sigma.function is None or isinstance(sigma(np.zeros(1, np.float32)), np.ndarray):
        return setting
    from giantstep.simulation.engines.traced import host_activation

    return setting.with_held(activation=host_activation(sigma))


class DeferredEngine:
    """One run by deferred decisions: rows of W in coordinates, grown and compressed as needed."""

    name = "deferred"

    def __init__(self, setting: Setting, memory: int, meter: Meter) -> None:
        complaint = objection(setting, memory)
        if complaint:
            raise InputError(f"engine: {complaint}")
        self.setting, self.meter, self.work = setting, meter, HOST
        if accelerated(setting):
            from giantstep.simulation.engines.accelerated import AcceleratedBlocks
            from giantstep.simulation.engines.traced import traced_setting

            self.setting, self.work = traced_setting(setting), AcceleratedBlocks(setting.p)
        else:
            self.setting = _host_setting(setting)
        self.run = 0
        self.readout = np.zeros(setting.p)
        self.biases = np.zeros(setting.p)
        self.motion = Motion(np.zeros((setting.p, setting.known)))
        self.batch: HeldBatch | None = None
        self.together = self.work is HOST and covers(self.setting)
        self.group = group_size(setting, memory) if self.together else 1

    def context(self) -> AbstractContextManager[Any]:
        """NumPy needs none."""
        if self.work is HOST:
            return nullcontext()
        from giantstep.simulation.engines.place import Context

        return Context("highest", self.setting.device)

    def moments(self, runs: Sequence[int]) -> Iterator[Moment]:
        """The runs after their steps: all of them run by run, or together where they are small."""
        return self._together(runs) if self.together else run_by_run(self, runs)

    def _together(self, runs: Sequence[int]) -> Iterator[Moment]:
        starts = []
        for run in runs:
            self.begin(run)
            starts.append((self.last_rows, self.readout, self.biases))
            yield Moment(run, 0)
        rows, readouts, biases = (np.stack(parts) for parts in zip(*starts, strict=True))
        group = Together(self.setting, runs, State(rows, readouts, biases), self.meter)
        for after in group.steps():
            for place, self.run in enumerate(runs):
                self.motion, self.readout = Motion(after.rows[place]), after.readout[place]
                self.biases = biases[place]
                gradient = partial(self.recorded, after.gradient[place])
                yield Moment(self.run, after.step, gradient)

    def begin(self, run: int) -> None:
        """Draw the start of a run."""
        self.run, self.batch = run, None
        self.readout = start_readout(self.setting, run)
        self.biases = start_biases(self.setting, run)
        key = generator(self.setting.seed, run, Purpose.START, 0)
        others = self.setting.inputs.known_directions
        space = known_span(key, self.setting.target.r, self.setting.d, others)
        self.motion = Motion(start_rows(self.setting, space), Motion.at_rest(self.setting))

    @property
    def rows(self) -> Float[np.ndarray, "p q"]:
        """Coordinates of the rows of W."""
        rows: Float[np.ndarray, "p q"] = self.motion.rows
        return rows

    @property
    def columns(self) -> int:
        """Coordinates of a row."""
        return self.setting.known + self.setting.p

    @property
    def last_rows(self) -> Float[np.ndarray, "p q"]:
        """The rows in as many coordinates as they may need, p beside those of what is known."""
        rows = compressed(self.rows, self.setting.known)
        missing = self.columns - rows.shape[1]
        return np.pad(rows, ((0, 0), (0, missing)))

    @property
    def layer(self) -> Rows:
        """The rows of W as they are recorded."""
        return self.recorded(self.rows)

    def recorded(self, rows: Float[np.ndarray, "p q"]) -> Rows:
        """Rows in the coordinates of the engine, as they are recorded."""
        return Rows(rows, self.along_target(rows))

    def along_target(self, rows: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p r"]:
        """Overlaps with the target directions, which are the first coordinates."""
        return rows[:, : self.setting.target.r]

    def step(self, index: int) -> Callable[[], Rows]:
        """Take giant step ``index``; what gives its gradient.

        docs/derivations/deferred.md, eqs. (1) and (4).
        """
        setting = self.setting
        if holds_batches(setting):
            number = set_of(setting.batches, index)
            if self.batch is None or self.batch.step != number:
                self.motion = self.motion.compressed(setting.known)
                self.batch = HeldBatch(setting, self.run, number, self.rows.shape[1])
            biases = self.biases_of(Purpose.BATCH)
            stepped = self.batch.step_rows(self.motion, biases, self.readout, index)
            self.meter.add(setting.n * (1 + (setting.deflate >= 0)))
        else:
            self.motion = self.motion.compressed(setting.known)
            stream = self.stream(Purpose.BATCH, index, setting.n, self.rows).deflate()
            size, velocity = setting.step_size[index], self.motion.velocity
            if setting.lookahead.kind.on_sample:
                stepped = step_with_lengths(stream, self.readout, size, velocity)
            else:
                stepped = stream.step_rows(self.readout, size, velocity)
        self.motion = stepped.motion
        self.readout = moved_readout(setting, self.readout, stepped.readout_gradient)
        return partial(self.recorded, stepped.gradient)

    def biases_of(self, purpose: Purpose) -> Float[np.ndarray, " p"]:
        """The biases that the features of a purpose have."""
        there = not self.setting.biased_readout_only or purpose is Purpose.READOUT
        return self.biases if there else np.zeros_like(self.biases)

    def training(self, index: int) -> Stream | HeldStream:
        """Data the readout after ``index`` steps is fitted on, labels deflated."""
        setting = self.setting
        if setting.readout_on_last and self.batch is not None:
            biases = self.biases_of(Purpose.READOUT)
            return HeldStream(self.batch, self.rows, biases, self.meter)
        return self.stream(Purpose.READOUT, index, setting.readout_n).deflate()

    def plain(self, index: int) -> Stream:
        """Fresh data with the labels as they are, for the network's own error."""
        return self.stream(Purpose.TEST, index, self.setting.test_n)

    def stream(
        self,
        purpose: Purpose,
        index: int,
        count: int,
        rows: Float[np.ndarray, "p q"] | None = None,
    ) -> Stream:
        """Fresh samples for the network as it is now, or for its rows in other coordinates."""
        rows = compressed(self.rows, self.setting.known) if rows is None else rows
        biases = self.biases_of(purpose)
        return Stream(
            self.setting, self.run, purpose, index, count, rows, biases, self.meter, work=self.work
        )
