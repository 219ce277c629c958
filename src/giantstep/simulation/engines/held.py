"""Gaussian samples that are kept: to take another step on, or to fit the readout on."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import Known, bartlett, widened
from giantstep.problem.batches import set_size
from giantstep.problem.motion import Motion
from giantstep.problem.network import chosen_samples, coefficients, readout_descent
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.blocks import HOST
from giantstep.simulation.engines.streamed import Deflation, Stepped, Stream
from giantstep.simulation.meter import Meter
from giantstep.simulation.table import FeatureTable
from giantstep.simulation.threads import ordered


class HeldBatch:
    """Samples kept in memory: what is known of them, and the noise of their labels."""

    def __init__(self, setting: Setting, run: int, step: int, columns: int) -> None:
        self.setting, self.run, self.step = setting, run, step
        self.count = set_size(setting.batches, setting.n)
        blocks = -(-self.count // HOST.block)
        noisy = setting.noisy

        def part(index: int) -> Any:
            samples = min(HOST.block, self.count - index * HOST.block)
            rng = generator(setting.seed, run, Purpose.BATCH, step, index)
            return rng.standard_normal((samples, columns + noisy))

        drawn = np.concatenate(list(ordered(part, blocks)))
        data = setting.inputs.stretched(drawn[:, :columns], setting.target.r)
        self.known = Known.at_first(np.ascontiguousarray(data))
        self.noise = drawn[:, columns] if noisy else np.zeros(self.count)
        self.reveals = 0

    @property
    def data(self) -> Float[np.ndarray, "n q"]:
        """Data columns Z: components along the directions known so far."""
        return self.known.data

    def labels(self) -> Float[np.ndarray, " n"]:
        columns = [self.data[:, k] for k in range(self.setting.target.r)]
        clean = np.asarray(self.setting.target(columns), dtype=float)
        return self.setting.labels(clean, self.noise)

    def reveal(self, c: Float[np.ndarray, "n k"]) -> None:
        """Grow the basis so that sum_mu c_mu x_mu = c^T Z in its coordinates, up to all of R^d."""
        n, columns = self.count, self.data.shape[1]
        if columns == self.setting.d:
            return
        key = generator(self.setting.seed, self.run, Purpose.REVEAL, self.step, self.reveals)
        self.known = self.known.reveal(
            c, lambda k: self.lengths(key, k), lambda k: key.standard_normal((n, k))
        )
        # What was revealed before draws nothing: a readout fitted in between changes no run.
        self.reveals += self.data.shape[1] > columns

    def lengths(self, key: np.random.Generator, k: int) -> Float[np.ndarray, "k j"]:
        """Coordinates of k combinations of samples outside what is known."""
        return bartlett(key, k, self.setting.d - self.data.shape[1])

    def deflated(
        self, labels: Float[np.ndarray, " n"]
    ) -> tuple[Float[np.ndarray, " n"], Deflation | None]:
        """Labels without their fitted part, and the fit, whose linear part reveals a direction."""
        if self.setting.deflate < 0:
            return labels, None
        mean = float(labels.mean())
        centred = labels - mean
        beta = np.zeros(self.data.shape[1])
        if self.setting.deflate == 1:
            self.reveal(centred[:, None])
            beta = centred @ self.data / self.count
        return centred - self.data @ beta, Deflation(mean, beta)

    def step_rows(
        self,
        motion: Motion,
        biases: Float[np.ndarray, " p"],
        readout: Float[np.ndarray, " p"],
        index: int,
    ) -> Stepped:
        """Giant step ``index`` on the held samples, or on those of them that it draws."""
        setting, rows = self.setting, motion.rows
        labels, _ = self.deflated(setting.label_transform(self.labels()))
        drawn = chosen_samples(setting, self.run, index)
        chosen: Any = slice(None) if drawn is None else drawn
        for size in (setting.lookahead.size, 0.0)[-setting.lookahead.kind.looks :]:
            pre = rows @ self.data[chosen, : rows.shape[1]].T + biases[:, None]
            c = np.zeros((setting.p, self.count))
            c[:, chosen] = coefficients(setting, pre, labels[chosen], readout)
            self.reveal(c.T)
            gradient = c @ self.data / setting.n
            # Where the step takes its gradient, if this was a look ahead.
            rows = widened(rows, gradient.shape[1]) + size * gradient
        readout_sum = readout_descent(setting, pre, labels[chosen], readout)
        return Stepped.of(
            setting, motion, gradient, readout_sum / setting.n, setting.step_size[index]
        )


class HeldStream(FeatureTable):
    """The held batch as training data of the readout."""

    def __init__(
        self,
        batch: HeldBatch,
        rows: Float[np.ndarray, "p q"],
        biases: Float[np.ndarray, " p"],
        meter: Meter,
    ) -> None:
        self.batch, self.biases = batch, biases
        labels, self.deflation = batch.deflated(batch.labels())
        if self.deflation is not None:
            meter.add(batch.setting.n)
        # The fit may have revealed one more direction, in which W has no component yet.
        self.rows = widened(rows, batch.data.shape[1])
        features = batch.setting.activation(batch.data @ self.rows.T + biases)
        super().__init__(features, labels, meter)

    def like(self, purpose: Purpose, count: int) -> Stream:
        """Fresh samples, labels deflated by the same fit."""
        batch = self.batch
        shape = (batch.setting, batch.run, purpose, batch.step, count, self.rows, self.biases)
        return Stream(*shape, self.meter, self.deflation)
