"""Exact simulation in law at any dimension, for Gaussian inputs.

A run needs only inner products, so nothing in R^d is ever drawn: the rows of W are held by their
coordinates in an orthonormal basis whose first r vectors are the target directions, and what a
sample has outside the span known so far is drawn when a step reveals it (theory: deferred
decisions, as in arXiv 2101.07464).  d enters only through chi variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.engines.network import coefficients, given_overlaps, start_readout
from giantstep.engines.streams import Purpose, added_up, generator, ordered
from giantstep.errors import InputError
from giantstep.setting import Setting

BLOCK = 4096
"""Samples a block: its arrays stay in the cache, its matrix products below BLAS's threading."""


def bartlett(rng: np.random.Generator, k: int, m: int) -> Float[np.ndarray, "k k"]:
    """Coordinates of k independent N(0, I_m) vectors, k <= m, in the basis they span.

    Lower triangular: normals below the diagonal, chi with m - j degrees of freedom on it.
    """
    lower = np.tril(rng.standard_normal((k, k)), -1)
    return lower + np.diag(np.sqrt(rng.chisquare(m - np.arange(k))))


def root(matrix: Float[np.ndarray, "k k"]) -> Float[np.ndarray, "k k"]:
    """S with S S^T = matrix, for a positive matrix that rounding may have made singular."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def compressed(rows: Float[np.ndarray, "p q"], r: int) -> Float[np.ndarray, "p k"]:
    """The same rows in a basis of at most r + p vectors, the first r unchanged."""
    p, q = rows.shape
    if q <= r + p:
        return rows
    rest: Any = np.linalg.qr(rows[:, r:].T, mode="r")
    return np.concatenate([rows[:, :r], rest.T], axis=1)


def dimensions_needed(setting: Setting) -> int:
    """Dimensions the basis may come to span; the engine is exact while they are at most d."""
    r, p = setting.target.r, setting.p
    revealed = p + (setting.deflate == 1)
    held = setting.batches == "reused"
    return r + p + revealed * (setting.steps if held else 1)


def held_bytes(setting: Setting) -> int:
    """Memory of a batch that is held: n samples by data columns, used vectors and work."""
    columns = dimensions_needed(setting) + setting.p * (setting.steps + 4)
    return 8 * setting.n * columns


def objection(setting: Setting, memory: int) -> str | None:
    """Why the deferred engine cannot run a setting, None if it can."""
    if not setting.inputs.is_gaussian:
        return f"the deferred engine needs gaussian inputs, got {setting.inputs.text!r}"
    needed = dimensions_needed(setting)
    if needed > setting.d:
        return f"the deferred engine needs d >= {needed} for these p, r and steps, got {setting.d}"
    if holds_batches(setting) and held_bytes(setting) > memory:
        return (
            f"a batch held by the deferred engine would take {held_bytes(setting):,} bytes, "
            f"more than the {memory:,} allowed"
        )
    return None


def holds_batches(setting: Setting) -> bool:
    """Whether samples must be kept: to be used again, or to fit the readout on."""
    return setting.batches == "reused" or setting.readout_batch == "last"


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
class Stream:
    """Samples that are drawn, used and forgotten, block by block."""

    setting: Setting
    run: int
    purpose: Purpose
    step: int
    count: int
    rows: Float[np.ndarray, "p q"]
    deflation: Deflation | None = None
    fitted_here: bool = False

    def block(self, index: int, exact: bool = False) -> tuple[Any, Any, Any, Any]:
        """Data columns Z, labels, deflated labels, and components along the revealed direction."""
        setting, q = self.setting, self.rows.shape[1]
        samples = min(BLOCK, self.count - index * BLOCK)
        noisy, linear = setting.noise > 0, setting.deflate == 1
        rng = generator(setting.seed, self.run, self.purpose, self.step, index)
        drawn: Any = rng.standard_normal((samples, q + noisy + linear), dtype=setting.dtype)
        if exact:
            drawn = drawn.astype(np.float64)
        data, outside = drawn[:, :q], drawn[:, -1]
        labels = setting.target([data[:, k] for k in range(setting.target.r)])
        if noisy:
            labels = labels + setting.noise * drawn[:, q]
        labels = np.asarray(labels, dtype=drawn.dtype)
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

    @property
    def blocks(self) -> int:
        return -(-self.count // BLOCK)

    def features(self, index: int, exact: bool) -> tuple[Any, Any]:
        """sigma(W x) and the labels to be fitted, for one block."""
        data, _, deflated, _ = self.block(index, exact)
        rows = self.rows.astype(data.dtype)
        return self.setting.activation(data @ rows.T), deflated

    def reduce(
        self, reducer: Callable[..., Any], *arguments: Any, exact: bool = False
    ) -> list[Any]:
        """Sum over all samples of what the reducer makes of a block's features and labels."""

        def part(index: int) -> Any:
            features, labels = self.features(index, exact)
            values = [np.asarray(argument, dtype=features.dtype) for argument in arguments]
            return reducer(features, labels, *values)

        return added_up(ordered(part, self.blocks))

    def collect(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        """All features and labels at once, in float64."""
        parts = list(ordered(lambda index: self.features(index, exact=True), self.blocks))
        return np.concatenate([phi for phi, _ in parts]), np.concatenate([y for _, y in parts])

    def deflate(self) -> Stream:
        """The stream with its labels deflated by a fit on its own samples, revealing beta."""
        setting, q = self.setting, self.rows.shape[1]
        if setting.deflate < 0:
            return self

        def part(index: int) -> Any:
            data, labels, _, outside = self.block(index)
            data, labels, outside = (
                np.asarray(v, dtype=np.float64) for v in (data, labels, outside)
            )
            sums = (labels.sum(), labels @ labels, labels @ data, data.sum(axis=0))
            return (*sums, labels @ outside, outside.sum())

        total, square, cross, columns, pull, plain = added_up(ordered(part, self.blocks))
        n = self.count
        mean = float(total) / n
        # |y - mean| and its products with the data, from the sums.
        size = math.sqrt(max(float(square) - n * mean**2, 0.0))
        known, outside, shift = np.zeros(q), 0.0, 0.0
        if setting.deflate == 1 and size > 0:
            known = (cross - mean * columns) / n
            rng = generator(setting.seed, self.run, Purpose.HIDDEN, self.step, self.purpose)
            chi = math.sqrt(rng.chisquare(setting.d - q))
            outside = size * chi / n
            # z = u chi + (1 - u u^T) e with u = (y - mean)/size
            shift = (chi - (float(pull) - mean * float(plain)) / size) / size
        fit = Deflation(mean, known, outside, shift, size)
        return replace(self, deflation=fit, fitted_here=True)

    def head(self, count: int) -> Stream:
        """The first samples of the stream."""
        return replace(self, count=min(count, self.count))

    def like(self, purpose: Purpose, count: int) -> Stream:
        """Fresh samples of another purpose, labels deflated by the same fit."""
        return Stream(self.setting, self.run, purpose, self.step, count, self.rows, self.deflation)

    def step_rows(
        self, readout: Float[np.ndarray, " p"], size: float
    ) -> tuple[Float[np.ndarray, "p k"], Float[np.ndarray, "p k"]]:
        """(new rows, gradient) after one giant step on these samples, in a basis grown to fit."""
        setting, (p, q) = self.setting, self.rows.shape
        fit = self.deflation
        revealed = fit is not None and setting.deflate == 1

        def part(index: int) -> Any:
            data, labels, deflated, outside = self.block(index)
            rows, a = self.rows.astype(data.dtype), readout.astype(data.dtype)
            c = coefficients(setting, data @ rows.T, deflated, a)
            sums = [c.T @ data, c.T @ c]
            if fit is not None and revealed:
                u = (labels - data.dtype.type(fit.mean)) / data.dtype.type(fit.size)
                sums += [c.T @ outside, c.T @ u]
            return sums

        inside, square, *along = added_up(ordered(part, self.blocks))
        pieces = [inside]
        if revealed:
            pieces.append(along[0][:, None])
            square = square - np.outer(along[1], along[1])
        rng = generator(setting.seed, self.run, Purpose.HIDDEN, self.step)
        known = q + len(pieces) - 1
        pieces.append(root(square) @ bartlett(rng, p, setting.d - known))
        gradient = np.concatenate(pieces, axis=1) / self.count
        grown = np.zeros_like(gradient)
        grown[:, :q] = self.rows
        return grown + size * gradient, gradient


class HeldBatch:
    """Samples kept in memory: data columns Z, noise, and the coefficient vectors used so far (V).

    When the combinations sum_mu c_mu x_mu are formed, Z gains the samples' components along the
    directions they reveal: U L + (1 - V V^T) E, U the part of c outside V, L of Bartlett's law.
    """

    def __init__(self, setting: Setting, run: int, step: int, columns: int) -> None:
        self.setting, self.run, self.step = setting, run, step
        blocks = -(-setting.n // BLOCK)
        noisy = setting.noise > 0

        def part(index: int) -> Any:
            samples = min(BLOCK, setting.n - index * BLOCK)
            rng = generator(setting.seed, run, Purpose.BATCH, step, index)
            return rng.standard_normal((samples, columns + noisy))

        drawn = np.concatenate(list(ordered(part, blocks)))
        self.data = np.ascontiguousarray(drawn[:, :columns])
        self.noise = setting.noise * drawn[:, columns] if noisy else np.zeros(setting.n)
        self.used = np.zeros((setting.n, 0))
        self.reveals = 0

    def labels(self) -> Float[np.ndarray, " n"]:
        columns = [self.data[:, k] for k in range(self.setting.target.r)]
        return np.asarray(self.setting.target(columns), dtype=float) + self.noise

    def outside_used(self, c: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
        for _ in range(2):  # twice, for orthogonality to rounding
            c = c - self.used @ (self.used.T @ c)
        return c

    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Grow the basis so that sum_mu c_mu x_mu = c^T Z in its coordinates."""
        setting = self.setting
        u, values, _ = np.linalg.svd(self.outside_used(c), full_matrices=False)
        # Directions below rounding of the coefficients themselves are not new.
        new = u[:, values > 1e-12 * max(float(np.linalg.norm(c)), 1e-300)]
        k = new.shape[1]
        rng = generator(setting.seed, self.run, Purpose.HIDDEN, self.step, 1 + self.reveals)
        self.reveals += 1
        lower = bartlett(rng, k, setting.d - self.data.shape[1])
        self.used = np.concatenate([self.used, new], axis=1)
        fresh = self.outside_used(rng.standard_normal((setting.n, k)))
        self.data = np.concatenate([self.data, new @ lower + fresh], axis=1)

    def deflated(self) -> tuple[Float[np.ndarray, " n"], Deflation | None]:
        """Labels without their fitted part, and the fit, whose linear part reveals a direction."""
        labels = self.labels()
        if self.setting.deflate < 0:
            return labels, None
        mean = float(labels.mean())
        rest = labels - mean
        beta = np.zeros(self.data.shape[1])
        if self.setting.deflate == 1:
            self.reveal(rest[:, None])
            beta = rest @ self.data / self.setting.n
        return rest - self.data @ beta, Deflation(mean, beta)

    def step_rows(
        self, rows: Float[np.ndarray, "p q"], readout: Float[np.ndarray, " p"], size: float
    ) -> tuple[Float[np.ndarray, "p k"], Float[np.ndarray, "p k"]]:
        """(new rows, gradient) after one giant step on the held samples."""
        q = rows.shape[1]
        labels, _ = self.deflated()
        c = coefficients(self.setting, self.data[:, :q] @ rows.T, labels, readout)
        self.reveal(c)
        gradient = c.T @ self.data / self.setting.n
        grown = np.zeros_like(gradient)
        grown[:, :q] = rows
        return grown + size * gradient, gradient


class HeldStream:
    """The held batch as training data of the readout."""

    def __init__(self, batch: HeldBatch, rows: Float[np.ndarray, "p q"]) -> None:
        self.batch, self.count = batch, batch.setting.n
        self.labels, self.deflation = batch.deflated()
        # The fit may have revealed one more direction, in which W has no component yet.
        self.rows = np.zeros((len(rows), batch.data.shape[1]))
        self.rows[:, : rows.shape[1]] = rows
        self.phi = batch.setting.activation(batch.data @ self.rows.T)

    def reduce(
        self, reducer: Callable[..., Any], *arguments: Any, exact: bool = False
    ) -> list[Any]:
        return [np.asarray(v, dtype=float) for v in reducer(self.phi, self.labels, *arguments)]

    def head(self, count: int) -> HeldStream:
        """All of the samples: they are in memory."""
        return self

    def collect(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        return self.phi, self.labels

    def like(self, purpose: Purpose, count: int) -> Stream:
        """Fresh samples, labels deflated by the same fit."""
        batch = self.batch
        return Stream(
            batch.setting, batch.run, purpose, batch.step, count, self.rows, self.deflation
        )


class DeferredEngine:
    """One run by deferred decisions: rows of W in coordinates, grown and compressed as needed."""

    name = "deferred"

    def __init__(self, setting: Setting, memory: int) -> None:
        complaint = objection(setting, memory)
        if complaint:
            raise InputError(f"engine: {complaint}")
        self.setting = setting
        self.run = 0
        self.readout = np.zeros(setting.p)
        self.rows = np.zeros((setting.p, setting.target.r))
        self.batch: HeldBatch | None = None

    def begin(self, run: int) -> None:
        """Draw the start of a run."""
        self.run, self.batch = run, None
        self.readout = start_readout(self.setting, run)
        self.rows = self._start()

    def _start(self) -> Float[np.ndarray, "p q"]:
        setting = self.setting
        r, p, d = setting.target.r, setting.p, setting.d
        rng = generator(setting.seed, self.run, Purpose.START, 0)
        if setting.start == "orthogonal":
            overlaps = given_overlaps(setting)
            rest = np.sqrt(np.maximum(1.0 - np.sum(overlaps**2, axis=1), 0.0))
            return np.concatenate([overlaps, np.diag(rest)], axis=1)
        count = p // 2 if setting.start == "symmetric" else p
        rows = np.concatenate(
            [rng.standard_normal((count, r)), bartlett(rng, count, d - r)], axis=1
        )
        if setting.start == "gaussian":
            return rows / math.sqrt(d)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return np.concatenate([rows, rows]) if setting.start == "symmetric" else rows

    @property
    def overlap(self) -> Float[np.ndarray, "p r"]:
        return self.rows[:, : self.setting.target.r]

    @property
    def gram(self) -> Float[np.ndarray, "p p"]:
        return self.rows @ self.rows.T

    def step(self, index: int) -> tuple[Float[np.ndarray, "p r"], Float[np.ndarray, "p p"]]:
        """Take giant step ``index``; the gradient's target overlaps and its Gram matrix."""
        setting, r = self.setting, self.setting.target.r
        size = setting.step_size[index]
        if holds_batches(setting):
            if self.batch is None or setting.batches == "fresh":
                self.rows = compressed(self.rows, r)
                self.batch = HeldBatch(setting, self.run, index, self.rows.shape[1])
            self.rows, gradient = self.batch.step_rows(self.rows, self.readout, size)
        else:
            stream = Stream(
                setting, self.run, Purpose.BATCH, index, setting.n, compressed(self.rows, r)
            ).deflate()
            self.rows, gradient = stream.step_rows(self.readout, size)
        return gradient[:, :r], gradient @ gradient.T

    def training(self, index: int) -> Stream | HeldStream:
        """Data the readout after ``index`` steps is fitted on, labels deflated."""
        setting = self.setting
        if setting.readout_batch == "last" and self.batch is not None:
            return HeldStream(self.batch, self.rows)
        rows = compressed(self.rows, setting.target.r)
        stream = Stream(setting, self.run, Purpose.READOUT, index, setting.readout_n, rows)
        return stream.deflate()

    def plain(self, index: int) -> Stream:
        """Fresh data with the labels as they are, for the network's own error."""
        rows = compressed(self.rows, self.setting.target.r)
        return Stream(self.setting, self.run, Purpose.TEST, index, self.setting.test_n, rows)
