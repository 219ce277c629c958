"""Direct simulation on CPU or GPU: samples in R^d, any input law, streamed in chunks.

A batch never sits in memory as a whole: chunks are drawn, used and dropped, and drawn again from
their keys when a reused batch does not fit.  Arithmetic on samples is in the setting's precision,
sums over chunks, Gram matrices and what is made of them in float64.  On an accelerator all of it
stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from giantstep.problem.batches import set_of, set_size
from giantstep.problem.motion import combined, moved_rows
from giantstep.problem.network import (
    chosen_samples,
    coefficients,
    displaced,
    moved_readout,
    readout_descent,
    start_biases,
    start_readout,
    start_rows,
    target_frame,
)
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import whole_space
from giantstep.simulation.engines.chunks import plan
from giantstep.simulation.engines.counted import counted_samples
from giantstep.simulation.engines.dense_stream import DenseStream, Fit, Layer
from giantstep.simulation.engines.place import Context, Place
from giantstep.simulation.engines.rounded import MATMUL, product
from giantstep.simulation.engines.samples import HostSampler
from giantstep.simulation.engines.traced import JAX, traced_setting
from giantstep.simulation.matrices import Rows
from giantstep.simulation.meter import Meter
from giantstep.simulation.moments import Moment, run_by_run


class DenseEngine:
    """One run by brute force: W in R^(p x d), batches streamed."""

    name = "dense"
    group = 1

    def __init__(
        self,
        setting: Setting,
        memory: int,
        meter: Meter,
        directions: Float[np.ndarray, "r d"] | None = None,
    ) -> None:
        self.setting, self.meter, self.directions = setting, meter, directions
        self.traced = traced_setting(setting)
        self.place = Place(setting.device)
        self.plan = plan(setting, self.place.memory(memory), self.place)
        self.run = 0
        self.readout = np.zeros(setting.p)
        self.biases = np.zeros(setting.p)
        self.weights: Any = None
        self.velocity: Any = None
        self.frame: Any = None
        self.held: dict[tuple[int, int], tuple[Any, Any]] = {}
        self.reducers: dict[tuple[Any, bool], Any] = {}
        self.on_host = self.place.on_cpu or not setting.inputs.is_gaussian
        self.draw_chunk = self._host_chunk if self.on_host else self._device_chunk
        self.sampler = HostSampler(setting, 0)
        self.no_fit = Fit(
            np.zeros((), setting.dtype),
            np.zeros(setting.d if setting.deflate >= 1 else 1, setting.dtype),
            np.zeros((setting.d,) * 2 if setting.deflate == 2 else 1, setting.dtype),
            np.array(False),
        )
        self.add = jax.jit(
            lambda sums, part: [s + v for s, v in zip(sums, part, strict=True)], donate_argnums=0
        )
        self.labels = self.place.compiled(self._labels)
        self.label_sums = self.summed(self._label_sums)
        self.gradient = self.summed(self._gradient)
        self.normals = jax.jit(
            counted_samples,
            static_argnames=("size", "d", "dtype"),
            out_shardings=self.place.spread,
        )

    def context(self) -> Any:
        """float64 available, matrix products as precise as the setting asks."""
        return Context(MATMUL[self.setting.precision], self.setting.device)

    def summed(self, function: Callable[..., Any]) -> Callable[..., list[Any]]:
        """A compiled function of a chunk whose parts are added up in float64."""
        return self.place.compiled(
            lambda *arguments: [part.astype(jnp.float64) for part in function(*arguments)]
        )

    def moments(self, runs: Sequence[int]) -> Iterator[Moment]:
        """The runs after each of their steps, one run after the other."""
        return run_by_run(self, runs)

    def begin(self, run: int) -> None:
        """Draw the start of a run."""
        setting = self.setting
        self.run, self.held = run, {}
        self.sampler = HostSampler(setting, run)
        self.readout = start_readout(setting, run)
        self.biases = start_biases(setting, run)
        frame = target_frame(setting, run)
        key = generator(setting.seed, run, Purpose.START, 0)
        others = setting.inputs.known_directions
        rows = start_rows(setting, whole_space(key, frame, others))
        with self.context():
            self.weights = self.place.put(rows, setting.dtype)
            self.velocity = None
            if setting.momentum:
                self.velocity = self.place.put(np.zeros_like(rows), np.float64)
            measured = frame if self.directions is None else self.directions
            self.frame = self.place.put(measured, setting.dtype)

    def draw(
        self, purpose: Purpose, step: int, start: int, size: int, count: int
    ) -> tuple[Any, Any]:
        """A chunk's inputs and noise; those of a held batch are drawn once."""
        held = self.plan.held and purpose is Purpose.BATCH
        if held and (step, start) in self.held:
            return self.held[step, start]
        with self.context():
            chunk = self.draw_chunk(purpose, step, start, size, min(size, count - start))
        if held:
            self.held = {place: kept for place, kept in self.held.items() if place[0] == step}
            self.held[step, start] = chunk
        return chunk

    def _host_chunk(
        self, purpose: Purpose, step: int, start: int, size: int, wanted: int
    ) -> tuple[Any, Any]:
        drawn: dict[tuple[int, int], tuple[Any, Any]] = {}

        def part(first: int, end: int) -> tuple[Any, Any]:
            if (first, end) not in drawn:
                there = min(wanted, end) - first
                drawn[first, end] = self.sampler.chunk(
                    purpose, step, start + first, end - first, there
                )
            return drawn[first, end]

        inputs = self.place.samples(lambda first, end: part(first, end)[0], size)
        return inputs, self.place.samples(lambda first, end: part(first, end)[1], size)

    def _device_chunk(
        self, purpose: Purpose, step: int, start: int, size: int, wanted: int
    ) -> tuple[Any, Any]:
        key = generator(self.setting.seed, self.run, purpose, step).integers(
            2**32, size=4, dtype=np.uint32
        )
        d, dtype = self.setting.d, self.setting.dtype
        chunk: tuple[Any, Any] = self.normals(key, np.uint64(start), size=size, d=d, dtype=dtype)
        return chunk

    def _labels(self, inputs: Any, noise: Any, layer: Layer, fit: Fit) -> Any:
        """Labels and deflated labels of a chunk."""
        setting = self.traced
        r = setting.target.r
        # Of a few columns: full precision costs nothing.
        # The axes spare a matrix product.
        on_axes = self.setting.on_axes or self.setting.turns
        along = inputs[:, :r] if on_axes else precise(inputs, layer.frame)
        labels = setting.target([along[:, k] for k in range(r)], JAX)
        labels = setting.labels(labels, noise, JAX).astype(inputs.dtype)
        labels = jnp.where(fit.seen_by_step, setting.label_transform(labels, JAX), labels)
        deflated = labels - fit.mean
        if setting.deflate >= 1:
            deflated = deflated - inputs @ fit.beta
        if setting.deflate == 2:
            squares = jnp.sum((inputs @ fit.quadratic) * inputs, axis=1)
            deflated = deflated - 0.5 * (squares - jnp.trace(fit.quadratic))
        return labels, deflated

    def _projected(self, inputs: Any, noise: Any, layer: Layer, fit: Fit) -> Any:
        """Preactivations (p x n), labels and deflated labels of a chunk."""
        pre = product(layer.weights, inputs.T, self.setting.precision) + layer.biases[:, None]
        return pre, *self._labels(inputs, noise, layer, fit)

    def _label_sums(self, inputs: Any, noise: Any, counts: Any, layer: Layer, fit: Fit) -> Any:
        labels, _ = self._labels(inputs, noise, layer, fit)
        mask = counts.astype(labels.dtype)
        labels = labels * mask
        nothing = (jnp.zeros(1), jnp.zeros(1))
        deflate = self.setting.deflate
        linear = (labels @ inputs, mask @ inputs) if deflate >= 1 else nothing
        if deflate < 2:
            return labels.sum(), *linear, *nothing
        weighted, squares = ((v[:, None] * inputs).T @ inputs for v in (labels, mask))
        return labels.sum(), *linear, weighted, squares

    def _gradient(
        self, inputs: Any, noise: Any, counts: Any, layer: Layer, fit: Fit, readout: Any
    ) -> Any:
        pre, _, labels = self._projected(inputs, noise, layer, fit)
        lengths = lambda: jnp.sum(inputs**2, axis=1)  # noqa: E731
        pre = displaced(self.traced, pre, labels, readout, lengths, JAX)
        c = coefficients(self.traced, pre, labels, readout, JAX)
        c = jnp.where(counts, c, 0.0).astype(inputs.dtype)
        readout_gradient = readout_descent(self.traced, pre, labels, readout, JAX, counts)
        return product(c, inputs, self.setting.precision), readout_gradient

    def _features(self, inputs: Any, noise: Any, counts: Any, layer: Layer, fit: Fit) -> Any:
        """sigma(W x + b) and labels, both zero for samples that do not count."""
        pre, _, labels = self._projected(inputs, noise, layer, fit)
        phi = jnp.where(counts, self.traced.activation(pre, JAX), 0.0)
        return phi.T.astype(inputs.dtype), jnp.where(counts, labels, 0.0)

    def compiled_features(self) -> Any:
        return self.reducers.setdefault((None, False), self.place.compiled(self._features))

    def compiled_reducer(self, reducer: Callable[..., Any], exact: bool) -> Any:
        """The reducer compiled with the features it needs, once."""
        if (reducer, exact) not in self.reducers:

            def function(
                inputs: Any, noise: Any, counts: Any, layer: Layer, fit: Fit, arguments: Any
            ) -> Any:
                phi, y = self._features(inputs, noise, counts, layer, fit)
                if exact:
                    phi, y = phi.astype(jnp.float64), y.astype(jnp.float64)
                return reducer(phi, y, *arguments)

            self.reducers[reducer, exact] = self.summed(function)
        return self.reducers[reducer, exact]

    @property
    def columns(self) -> int:
        """Numbers of a row."""
        return self.setting.d

    @property
    def last_rows(self) -> Float[np.ndarray, "p d"]:
        return np.asarray(self.weights, dtype=float)

    @property
    def layer(self) -> Rows:
        """The rows of W as they are recorded, where they are."""
        return self.recorded(self.weights)

    def recorded(self, matrix: Any) -> Rows:
        """Rows in R^d, as they are recorded."""
        with self.context():
            overlap = np.asarray(precise(matrix, self.frame), dtype=float)
        return Rows(self.place.found(matrix), overlap)

    def step(self, index: int) -> Callable[[], Rows]:
        """Take giant step ``index``; what gives its gradient."""
        setting = self.setting
        stream = self.batch(index).deflate()
        with self.context():
            readout = self.readout.astype(setting.dtype)
            if setting.lookahead.kind.on_batch:
                total, _ = stream.total(self.gradient, readout)
                shift = self.place.put(setting.lookahead.size / setting.n * total, setting.dtype)
                stream = replace(stream, weights=self.weights + shift)
            total, readout_sum = stream.total(self.gradient, readout)
            full = total / setting.n
            part = setting.gradient.kind.part(self.weights.astype(full.dtype), full)
            gradient = self.place.put(part, setting.dtype)
            used, self.velocity = combined(setting, part, self.velocity, self._update)
            direction = self.place.put(used, setting.dtype)
            size = setting.dtype(setting.step_size[index])
            self.weights = moved_rows(setting, self.weights, direction, size)
            self.readout = moved_readout(setting, self.readout, np.asarray(readout_sum) / setting.n)
        return partial(self.recorded, gradient)

    def _update(self, used: Any) -> Any:
        """What the update makes of a direction, on the host unless it is plain."""
        update = self.setting.update
        return used if update.kind.plain else update(np.asarray(used))

    def stream(self, purpose: Purpose, step: int, count: int) -> DenseStream:
        there = not self.setting.biased_readout_only or purpose is Purpose.READOUT
        biases = (self.biases * there).astype(self.setting.dtype)
        fit = replace(self.no_fit, seen_by_step=np.array(purpose is Purpose.BATCH))
        return DenseStream(self, purpose, step, count, biases, fit)

    def batch(self, index: int) -> DenseStream:
        """The samples of step ``index``: of its set, those that it draws."""
        setting = self.setting
        number, size = set_of(setting.batches, index), set_size(setting.batches, setting.n)
        chosen = chosen_samples(setting, self.run, index)
        return replace(self.stream(Purpose.BATCH, number, size), chosen=chosen)

    def training(self, index: int) -> DenseStream:
        """Data the readout after ``index`` steps is fitted on, labels deflated."""
        if self.setting.readout_on_last and index > 0:
            seen = replace(self.no_fit, seen_by_step=np.array(False))
            last = replace(self.batch(index - 1), fit=seen)
            return replace(last, biases=self.stream(Purpose.READOUT, 0, 0).biases).deflate()
        return self.stream(Purpose.READOUT, index, self.setting.readout_n).deflate()

    def plain(self, index: int) -> DenseStream:
        """Fresh data with the labels as they are, for the network's own error."""
        return self.stream(Purpose.TEST, index, self.setting.test_n)


@jax.jit
def precise(left: Any, rows: Any) -> Any:
    """Products with rows, left rows^T, in the full precision of the factors."""
    return jnp.matmul(left, rows.T, precision="highest")
