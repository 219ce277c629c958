"""Direct simulation on CPU or GPU: samples in R^d, any input law, streamed in chunks.

A batch never sits in memory as a whole: chunks are drawn, used and dropped, and drawn again from
their keys when a reused batch does not fit.  Arithmetic on samples is in the setting's precision,
sums over chunks in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from giantstep.problem.batches import set_of, set_size
from giantstep.problem.network import (
    chosen_samples,
    coefficients,
    moved_readout,
    moved_rows,
    readout_descent,
    start_biases,
    start_readout,
    start_rows,
    target_frame,
)
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import whole_space
from giantstep.problem.updates import UPDATES
from giantstep.simulation.engines.chunks import plan
from giantstep.simulation.engines.samples import HostSampler, block_size
from giantstep.simulation.engines.traced import JAX, traced_setting
from giantstep.simulation.meter import Meter
from giantstep.simulation.moments import Moment, run_by_run
from giantstep.simulation.threads import ahead, submit

MATMUL = {"float32": "highest", "float64": "highest", "tf32": "tensorfloat32"}


@dataclass(frozen=True)
class Fit:
    """What is taken off the labels, their fitted Hermite part of degree <= 2.

    mean + <beta, x> + (x^T T x - tr T)/2 with beta = mean of (y - mean) x and T = mean of
    (y - mean)(x x^T - 1), as far as degrees are removed; ``quadratic`` -> T.  ``seen_by_step``: the
    labels are those of a step, transformed before the fit.
    """

    mean: Any
    beta: Any
    quadratic: Any
    seen_by_step: Any


@dataclass(frozen=True)
class Layer:
    """The first layer, W x + b, and the target directions."""

    weights: Any
    biases: Any
    frame: Any


@dataclass(frozen=True)
class DenseStream:
    """Samples of one purpose, streamed chunk by chunk through compiled functions."""

    engine: DenseEngine
    purpose: Purpose
    step: int
    count: int
    biases: Any
    fit: Fit
    chosen: Any = None

    def chunks(self) -> Iterator[tuple[Any, Any, int]]:
        """(inputs, noise, samples there are) of each chunk; the next is drawn meanwhile."""
        # The host draws as many samples as are wanted, a device whole blocks.
        block = 1 if self.engine.on_host else block_size(self.engine.setting.d)
        size = min(self.engine.plan.chunk, -(-self.count // block) * block)

        def draw(start: int) -> tuple[Any, Any]:
            return self.engine.draw(self.purpose, self.step, start, size, self.count)

        inputs, noise = draw(0)
        for start in range(0, self.count, size):
            more = start + size < self.count
            pending = submit(ahead(), draw, start + size) if more else None
            yield inputs, noise, min(size, self.count - start)
            self.engine.meter.add(min(size, self.count - start))
            if pending is not None:
                inputs, noise = pending.result()

    def placed(self) -> Iterator[tuple[int, tuple[Any, Any, int]]]:
        """The chunks, each with the number of its first sample."""
        start = 0
        for chunk in self.chunks():
            yield start, chunk
            start += chunk[2]

    def counts(self, start: int, size: int, valid: int) -> Any:
        """Which samples of a chunk count: those there are, or those chosen among them."""
        if self.chosen is None:
            return np.arange(size) < valid
        there = np.zeros(size, dtype=bool)
        inside = self.chosen[(self.chosen >= start) & (self.chosen < start + valid)]
        there[inside - start] = True
        return there

    @property
    def layer(self) -> Layer:
        return Layer(self.engine.weights, self.biases, self.engine.frame)

    def total(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Sum over the chunks, in float64, of a compiled function of a chunk."""
        engine = self.engine
        with engine.context():
            sums: Any = None
            for start, (inputs, noise, valid) in self.placed():
                counts = self.counts(start, len(inputs), valid)
                part = function(inputs, noise, counts, self.layer, self.fit, *arguments)
                sums = part if sums is None else engine.add(sums, part)
                if engine.on_host:  # else chunks would queue up in memory behind the arithmetic
                    for value in sums:
                        value.block_until_ready()
            return [np.asarray(value, dtype=float) for value in sums]

    def reduce(
        self, reducer: Callable[..., Any], *arguments: Any, exact: bool = False
    ) -> list[Any]:
        """Sum over all samples of what the reducer makes of features and labels."""
        with self.engine.context():
            dtype = np.float64 if exact else self.engine.setting.dtype
            values = tuple(np.asarray(argument, dtype=dtype) for argument in arguments)
            return self.total(self.engine.compiled_reducer(reducer, exact), values)

    def collect(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        """All features and labels at once, in float64."""
        engine = self.engine
        phis, labels = [], []
        with engine.context():
            function = engine.compiled_features()
            for inputs, noise, valid in self.chunks():
                counts = self.counts(0, len(inputs), valid)
                phi, y = function(inputs, noise, counts, self.layer, self.fit)
                phis.append(np.asarray(phi[:valid], dtype=float))
                labels.append(np.asarray(y[:valid], dtype=float))
        return np.concatenate(phis), np.concatenate(labels)

    def inputs_and_labels(self) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        """All inputs and labels at once, in float64."""
        engine = self.engine
        xs, labels = [], []
        with engine.context():
            for inputs, noise, valid in self.chunks():
                _, y = engine.labels(inputs, noise, self.layer, self.fit)
                xs.append(np.asarray(inputs, dtype=float)[:valid])
                labels.append(np.asarray(y, dtype=float)[:valid])
        return np.concatenate(xs), np.concatenate(labels)

    def head(self, count: int) -> DenseStream:
        """The first samples of the stream."""
        return replace(self, count=min(count, self.count))

    def keep(self, count: int) -> DenseStream:
        """As it is: samples in R^d are too large to be kept."""
        return self

    def like(self, purpose: Purpose, count: int) -> DenseStream:
        """Fresh samples of another purpose, labels deflated by the same fit."""
        return replace(self, purpose=purpose, count=count, chosen=None)

    def deflate(self) -> DenseStream:
        """The stream with its labels deflated by a fit on its own samples."""
        engine = self.engine
        if engine.setting.deflate < 0:
            return self
        total, cross, columns, weighted, squares = self.total(engine.label_sums)
        mean = float(total) / self.count
        beta = (cross - mean * columns) / self.count
        # The mean of (y - mean) times the identity is zero.
        quadratic = (weighted - mean * squares) / self.count
        with engine.context():
            found = [jnp.asarray(value, engine.setting.dtype) for value in (mean, beta, quadratic)]
            fit = replace(self.fit, mean=found[0], beta=found[1], quadratic=found[2])
            return replace(self, fit=fit)


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
        self.plan = plan(setting, memory)
        self.run = 0
        self.readout = np.zeros(setting.p)
        self.biases = np.zeros(setting.p)
        self.weights: Any = None
        self.frame: Any = None
        self.held: dict[tuple[int, int], tuple[Any, Any]] = {}
        self.reducers: dict[tuple[Any, bool], Any] = {}
        self.on_host = jax.default_backend() == "cpu" or not setting.inputs.is_gaussian
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
        self.labels = jax.jit(self._labels)
        self.label_sums = summed(self._label_sums)
        self.gradient = summed(self._gradient)

    def context(self) -> Any:
        """float64 available, matrix products as precise as the setting asks."""
        return _Context(MATMUL[self.setting.precision])

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
            self.weights = jnp.asarray(rows, setting.dtype)
            measured = frame if self.directions is None else self.directions
            self.frame = jnp.asarray(measured, setting.dtype)

    @property
    def _on_axes(self) -> bool:
        # The axes spare a matrix product.
        return self.setting.frame == "axes" or self.setting.turns

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
        inputs, noise = self.sampler.chunk(purpose, step, start, size, wanted)
        if jax.default_backend() == "cpu":
            return inputs, noise
        return jax.device_put(inputs), jax.device_put(noise)

    def _device_chunk(
        self, purpose: Purpose, step: int, start: int, size: int, wanted: int
    ) -> tuple[Any, Any]:
        block = block_size(self.setting.d)
        first, count = start // block, size // block
        # Seeds of 64 bits are folded in as two halves.
        key = jax.random.key(self.setting.seed & 0xFFFFFFFF)
        for part in (self.setting.seed >> 32, self.run, int(purpose), step):
            key = jax.random.fold_in(key, part)
        shape = {"count": count, "block": block, "d": self.setting.d}
        return device_normals(key, first, **shape, dtype=self.setting.dtype)

    def _labels(self, inputs: Any, noise: Any, layer: Layer, fit: Fit) -> Any:
        """Labels and deflated labels of a chunk."""
        setting = self.traced
        r = setting.target.r
        along = inputs[:, :r] if self._on_axes else inputs @ layer.frame.T
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
        pre = layer.weights @ inputs.T + layer.biases[:, None]
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
        c = coefficients(self.traced, pre, labels, readout, JAX)
        c = jnp.where(counts, c, 0.0).astype(inputs.dtype)
        own = readout_descent(self.traced, pre, labels, readout, JAX, counts)
        return c @ inputs, own

    def _features(self, inputs: Any, noise: Any, counts: Any, layer: Layer, fit: Fit) -> Any:
        """sigma(W x + b) and labels, both zero for samples that do not count."""
        pre, _, labels = self._projected(inputs, noise, layer, fit)
        phi = jnp.where(counts, self.traced.activation(pre, JAX), 0.0)
        return phi.T.astype(inputs.dtype), jnp.where(counts, labels, 0.0)

    def compiled_features(self) -> Any:
        return self.reducers.setdefault((None, False), jax.jit(self._features))

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

            self.reducers[reducer, exact] = summed(function)
        return self.reducers[reducer, exact]

    @property
    def overlap(self) -> Float[np.ndarray, "p r"]:
        with self.context():
            return np.asarray(self.weights @ self.frame.T, dtype=float)

    @property
    def last_rows(self) -> Float[np.ndarray, "p d"]:
        return np.asarray(self.weights, dtype=float)

    @property
    def gram(self) -> Float[np.ndarray, "p p"]:
        with self.context():
            # In float64: a giant step leaves singular values of very different size.
            weights = self.weights.astype(jnp.float64)
            return np.asarray(weights @ weights.T)

    def step(self, index: int) -> tuple[Float[np.ndarray, "p r"], Float[np.ndarray, "p p"]]:
        """Take giant step ``index``; the gradient's target overlaps and its Gram matrix."""
        setting = self.setting
        stream = self.batch(index).deflate()
        with self.context():
            readout = jnp.asarray(self.readout, setting.dtype)
            total, own = stream.total(self.gradient, readout)
            gradient = jnp.asarray(total / setting.n, setting.dtype)
            direction = gradient
            if setting.update != "gradient":
                found = UPDATES[setting.update](total / setting.n)
                direction = jnp.asarray(found, setting.dtype)
            size = setting.dtype(setting.step_size[index])
            self.weights = moved_rows(setting, self.weights, direction, size)
            self.readout = moved_readout(setting, self.readout, own / setting.n)
            along = np.asarray(gradient @ self.frame.T, dtype=float)
            return along, np.asarray(gradient @ gradient.T, dtype=float)

    def stream(self, purpose: Purpose, step: int, count: int) -> DenseStream:
        there = self.setting.bias_at == "start" or purpose is Purpose.READOUT
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
        if self.setting.readout_batch == "last" and index > 0:
            seen = replace(self.no_fit, seen_by_step=np.array(False))
            last = replace(self.batch(index - 1), fit=seen)
            return replace(last, biases=self.stream(Purpose.READOUT, 0, 0).biases).deflate()
        return self.stream(Purpose.READOUT, index, self.setting.readout_n).deflate()

    def plain(self, index: int) -> DenseStream:
        """Fresh data with the labels as they are, for the network's own error."""
        return self.stream(Purpose.TEST, index, self.setting.test_n)


def summed(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    """A compiled function of a chunk whose parts are added up in float64."""
    found: Callable[..., list[Any]] = jax.jit(
        lambda *arguments: [part.astype(jnp.float64) for part in function(*arguments)]
    )
    return found


# Of plain values, not of an engine: compiled functions keep their static arguments alive for good.
@partial(jax.jit, static_argnames=("count", "block", "d", "dtype"))
def device_normals(
    key: Any, first: Any, *, count: int, block: int, d: int, dtype: Any
) -> tuple[Any, Any]:
    """Inputs and noise of ``count`` blocks from number ``first`` on, drawn where JAX computes."""

    def one(index: Any) -> tuple[Any, Any]:
        own, noise = jax.random.split(jax.random.fold_in(key, index))
        return jax.random.normal(own, (block, d), dtype), jax.random.normal(noise, (block,), dtype)

    inputs, noise = jax.vmap(one)(first + jnp.arange(count))
    return inputs.reshape(count * block, d), noise.reshape(count * block)


class _Context:
    """float64 enabled and the precision of matrix products set, for the calling thread only."""

    def __init__(self, precision: str) -> None:
        self.managers = [jax.enable_x64(True), jax.default_matmul_precision(precision)]

    def __enter__(self) -> None:
        for manager in self.managers:
            manager.__enter__()

    def __exit__(self, *details: object) -> None:
        for manager in reversed(self.managers):
            manager.__exit__(*details)


for _kind in (Fit, Layer):
    jax.tree_util.register_dataclass(
        _kind, data_fields=[f.name for f in fields(_kind)], meta_fields=[]
    )
