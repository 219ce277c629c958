"""Samples of the dense engine, streamed chunk by chunk through compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Float

from giantstep.problem.randomness import Purpose
from giantstep.simulation.threads import ahead, submit

if TYPE_CHECKING:
    from giantstep.simulation.engines.dense import DenseEngine


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
    """Samples of one purpose, streamed chunk by chunk through compiled functions.

    ``weights`` are those of the network that sees them, the engine's where none are given.
    """

    engine: DenseEngine
    purpose: Purpose
    step: int
    count: int
    biases: Any
    fit: Fit
    chosen: Any = None
    weights: Any = None

    def chunks(self) -> Iterator[tuple[Any, Any, int]]:
        """(inputs, noise, samples there are) of each chunk; the host draws the next meanwhile."""
        engine = self.engine
        shares = engine.place.count
        size = min(engine.plan.chunk, -(-self.count // shares) * shares)

        def draw(start: int) -> tuple[Any, Any]:
            return engine.draw(self.purpose, self.step, start, size, self.count)

        pending = None
        for start in range(0, self.count, size):
            inputs, noise = draw(start) if pending is None else pending.result()
            if engine.on_host and start + size < self.count:
                pending = submit(ahead(), draw, start + size)
            yield inputs, noise, min(size, self.count - start)
            engine.meter.add(min(size, self.count - start))

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
        weights = self.engine.weights if self.weights is None else self.weights
        return Layer(weights, self.biases, self.engine.frame)

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
            return [engine.place.found(value) for value in sums]

    def reduce(
        self, reducer: Callable[..., Any], *arguments: Any, exact: bool = False
    ) -> list[Any]:
        """Sum over all samples of what the reducer makes of features and labels."""
        dtype = np.float64 if exact else self.engine.setting.dtype
        with self.engine.context():
            values = tuple(argument.astype(dtype) for argument in arguments)
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
                phis.append(engine.place.found(phi)[:valid].astype(np.float64))
                labels.append(engine.place.found(y)[:valid].astype(np.float64))
            concatenate = phis[0].__array_namespace__().concatenate
            return concatenate(phis), concatenate(labels)

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
        with engine.context():
            total, cross, columns, weighted, squares = self.total(engine.label_sums)
            mean = float(total) / self.count
            beta = (cross - mean * columns) / self.count
            # The mean of (y - mean) times the identity is zero.
            quadratic = (weighted - mean * squares) / self.count
            dtype = engine.setting.dtype
            fit = replace(
                self.fit,
                mean=dtype(mean),
                beta=beta.astype(dtype),
                quadratic=quadratic.astype(dtype),
            )
            return replace(self, fit=fit)


for _kind in (Fit, Layer):
    jax.tree_util.register_dataclass(
        _kind, data_fields=[f.name for f in fields(_kind)], meta_fields=[]
    )
