"""Gaussian samples that are drawn, used and forgotten, block by block, in known coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import bartlett, root
from giantstep.problem.motion import Motion, stepped_rows, used_gradient
from giantstep.problem.network import coefficients, readout_descent
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.blocks import HOST, HostBlocks, Where
from giantstep.simulation.meter import Meter


@dataclass(frozen=True)
class Stepped:
    """The motion after a step, the gradient it took, in one basis, and the readout's gradient."""

    motion: Motion
    gradient: Float[np.ndarray, "p k"]
    readout_gradient: Float[np.ndarray, " p"]

    @classmethod
    def of(
        cls,
        setting: Setting,
        motion: Motion,
        gradient: Float[np.ndarray, "p k"],
        readout_gradient: Float[np.ndarray, " p"],
        size: float,
    ) -> Stepped:
        """The step along a gradient in a basis that begins with that of the rows."""
        used = used_gradient(setting, motion.rows, gradient)
        return cls(stepped_rows(setting, motion, used, size), used, readout_gradient)


@dataclass(frozen=True)
class Deflation:
    """Fitted Hermite part of degree <= 1 of the labels, y ~ mean + <beta, x>, and what it revealed.

    ``known`` and ``outside`` are the coordinates of beta in the known span and along one new
    direction; on the samples it was fitted on, that direction has the component
    (y - mean) pull + e, elsewhere just a normal e.
    """

    mean: float
    known: Float[np.ndarray, " q"]
    outside: float = 0.0
    pull: float = 0.0
    size: float = 0.0


@dataclass(frozen=True)
class Sums:
    """Sums over samples: of c x^T along the known directions, and of the readout's gradient.

    ``root`` S has S S^T = sum c c^T, less what a deflation has revealed: S times a matrix of
    normals is the sum of c x^T along the directions that are not known.
    """

    known: Float[np.ndarray, "p q"]
    root: Float[np.ndarray, "p p"]
    readout: Float[np.ndarray, " p"]


@dataclass(frozen=True)
class Kept:
    """Normals of the first blocks, filled in by the first pass over them."""

    blocks: int
    found: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """Samples that are drawn, used and forgotten, block by block."""

    setting: Setting
    run: int
    purpose: Purpose
    step: int
    count: int
    rows: Float[np.ndarray, "p q"]
    biases: Float[np.ndarray, " p"]
    meter: Meter
    deflation: Deflation | None = None
    fitted_here: bool = False
    kept: Kept | None = None
    work: HostBlocks = HOST

    def block(self, index: int, exact: bool = False) -> tuple[Any, Any, Any, Any]:
        """Data columns Z, labels, deflated labels, and components along the revealed direction."""
        setting, q, functions = self.setting, self.rows.shape[1], self.work.functions
        noisy, linear = setting.noisy, setting.deflate == 1
        drawn = self.drawn(index, q + noisy + linear)
        if exact:
            drawn = drawn.astype(np.float64)
        data, outside = self.coordinates(drawn[:, :q]), drawn[:, -1]
        labels = setting.target([data[:, k] for k in range(setting.target.r)], functions)
        if noisy:
            labels = setting.labels(labels, drawn[:, q], functions)
        if self.purpose is Purpose.BATCH:
            labels = setting.label_transform(labels, functions)
        labels = self.work.array(labels, drawn)
        fit = self.deflation
        if fit is None:
            return data, labels, labels, outside
        deflated = labels - drawn.dtype.type(fit.mean)
        if linear:
            if self.fitted_here:
                outside = drawn.dtype.type(fit.pull) * deflated + outside
            beta = fit.known.astype(drawn.dtype)
            deflated = deflated - data @ beta - drawn.dtype.type(fit.outside) * outside
        return data, labels, deflated, outside

    def coordinates(self, normals: Any) -> Any:
        """Coordinates of samples, those along the target first, from normals."""
        return self.setting.inputs.stretched(normals, self.setting.target.r)

    def drawn(self, index: int, columns: int) -> Any:
        """The normals of a block, drawn once if they are kept."""
        kept, size = self.kept, self.work.block
        samples = min(size, self.count - index * size)
        if kept is not None and index in kept.found:
            return kept.found[index][:samples]
        where = Where(self.setting, self.run, self.purpose, self.step)
        normals = self.work.normals(where, index, samples, columns)
        if kept is not None and index < kept.blocks:
            kept.found[index] = normals
        return normals

    def each(self, part: Callable[[int], Any]) -> Iterator[Any]:
        """What ``part`` makes of every block, in order."""
        size = self.work.block
        blocks = -(-self.count // size)
        for index, result in enumerate(self.work.each(part, blocks)):
            self.meter.add(min(size, self.count - index * size))
            yield result

    def total(self, part: Callable[[int], Any]) -> list[np.ndarray]:
        """Sums in float64 of what ``part`` makes of the blocks."""
        return self.work.added_up(self.each(part))

    def features(self, index: int, exact: bool) -> tuple[Any, Any]:
        """sigma(W x) and the labels to be fitted, for one block."""
        data, _, deflated, _ = self.block(index, exact)
        rows, biases = self.rows.astype(data.dtype), self.biases.astype(data.dtype)
        return self.setting.activation(data @ rows.T + biases, self.work.functions), deflated

    def reduce(
        self, reducer: Callable[..., Any], *arguments: Any, exact: bool = False
    ) -> list[Any]:
        """Sum over all samples of what the reducer makes of features and labels."""
        return self.total(
            lambda index: self.work.reduced(reducer, *self.features(index, exact), arguments)
        )

    def collect(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        """All features and labels at once, in float64."""
        parts = list(self.each(lambda index: self.features(index, exact=True)))
        return np.concatenate([phi for phi, _ in parts]), np.concatenate([y for _, y in parts])

    def deflate(self) -> Stream:
        """The stream with its labels deflated by a fit on its own samples, revealing beta.

        docs/derivations/deferred.md, eq. (5).
        """
        setting, q = self.setting, self.rows.shape[1]
        if setting.deflate < 0:
            return self

        def part(index: int) -> Any:
            data, labels, _, outside = self.block(index)
            data, labels, outside = (v.astype(np.float64) for v in (data, labels, outside))
            sums = (labels.sum(), labels @ labels, labels @ data, data.sum(axis=0))
            return (*sums, labels @ outside, outside.sum())

        total, square, cross, columns, pull, plain = self.total(part)
        n = self.count
        mean = float(total) / n
        # |y - mean| and its products with the data, from the sums.
        size = math.sqrt(max(float(square) - n * mean**2, 0.0))
        inside, outside, shift = np.zeros(q), 0.0, 0.0
        if setting.deflate == 1 and size > 0:
            inside = (cross - mean * columns) / n
            rng = generator(setting.seed, self.run, Purpose.HIDDEN, self.step, self.purpose)
            chi = math.sqrt(rng.chisquare(setting.d - q))
            outside = size * chi / n
            # z = u chi + (1 - u u^T) e with u = (y - mean)/size
            shift = (chi - (float(pull) - mean * float(plain)) / size) / size
        fit = Deflation(mean, inside, outside, shift, size)
        return replace(self, deflation=fit, fitted_here=True)

    def head(self, count: int) -> Stream:
        """The first samples of the stream."""
        return replace(self, count=min(count, self.count))

    def keep(self, count: int) -> Stream:
        """The same stream; its first samples are kept from the first pass on."""
        if not self.work.keeps:
            return self
        return replace(self, kept=Kept(-(-min(count, self.count) // self.work.block)))

    def like(self, purpose: Purpose, count: int) -> Stream:
        """Fresh samples of another purpose, labels deflated by the same fit."""
        return replace(self, purpose=purpose, count=count, fitted_here=False, kept=None)

    def step_rows(
        self, readout: Float[np.ndarray, " p"], size: float, velocity: Any = None
    ) -> Stepped:
        """One giant step on these samples, in a basis grown to fit.

        ``velocity`` are the velocities of the rows, in their basis.

        docs/theory/index.md, eq. (11); docs/derivations/deferred.md, eq. (1).
        """
        setting, sums = self.setting, self.sums(readout)
        rng = generator(setting.seed, self.run, Purpose.HIDDEN, self.step)
        unknown = setting.d - sums.known.shape[1]
        outside = sums.root @ bartlett(rng, setting.p, unknown)
        gradient = np.concatenate([sums.known, outside], axis=1) / self.count
        motion = Motion(self.rows, velocity)
        return Stepped.of(setting, motion, gradient, sums.readout / self.count, size)

    def sums(self, readout: Float[np.ndarray, " p"]) -> Sums:
        """What a giant step needs of these samples."""
        setting, fit, functions = self.setting, self.deflation, self.work.functions
        revealed = fit is not None and setting.deflate == 1

        def part(index: int) -> Any:
            data, labels, deflated, outside = self.block(index)
            rows, a = self.rows.astype(data.dtype), readout.astype(data.dtype)
            pre = rows @ data.T + self.biases.astype(data.dtype)[:, None]
            c = coefficients(setting, pre, deflated, a, functions)
            readout_sum = readout_descent(setting, pre, deflated, a, functions)
            # Rows that a giant step made nearly parallel differ by less than single precision has.
            exact = c.astype(np.float64)
            sums = [readout_sum, c @ data, exact @ exact.T]
            if fit is not None and revealed:
                u = (labels - data.dtype.type(fit.mean)) / data.dtype.type(fit.size)
                sums += [c @ outside, exact @ u]
            return sums

        readout_sum, inside, square, *along = self.total(part)
        pieces = [inside]
        if revealed:
            pieces.append(along[0][:, None])
            square = square - np.outer(along[1], along[1])
        # Neurons that are one differ by the rounding of c alone, whose square counts: some eps^2.
        null = max(100.0 * float(np.finfo(setting.dtype).eps) ** 2, float(np.finfo(float).eps))
        return Sums(np.concatenate(pieces, axis=1), root(square, null), readout_sum)
