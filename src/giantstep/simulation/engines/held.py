"""Gaussian samples that are kept: to take another step on, or to fit the readout on."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import Known, bartlett
from giantstep.problem.network import coefficients
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.streamed import BLOCK, Deflation, Stream
from giantstep.simulation.meter import Meter
from giantstep.simulation.table import FeatureTable
from giantstep.simulation.threads import ordered


class HeldBatch:
    """Samples kept in memory: what is known of them, and the noise of their labels."""

    def __init__(self, setting: Setting, run: int, step: int, columns: int) -> None:
        self.setting, self.run, self.step = setting, run, step
        blocks = -(-setting.n // BLOCK)
        noisy = setting.noisy

        def part(index: int) -> Any:
            samples = min(BLOCK, setting.n - index * BLOCK)
            rng = generator(setting.seed, run, Purpose.BATCH, step, index)
            return rng.standard_normal((samples, columns + noisy))

        drawn = np.concatenate(list(ordered(part, blocks)))
        self.known = Known.at_first(np.ascontiguousarray(drawn[:, :columns]))
        self.noise = drawn[:, columns] if noisy else np.zeros(setting.n)
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
        """Grow the basis so that sum_mu c_mu x_mu = c^T Z in its coordinates."""
        n, known = self.setting.n, self.data.shape[1]
        outside = self.setting.d - known
        key = generator(self.setting.seed, self.run, Purpose.REVEAL, self.step, self.reveals)
        self.known = self.known.reveal(
            c, lambda k: bartlett(key, k, outside), lambda k: key.standard_normal((n, k))
        )
        # What was revealed before draws nothing: a readout fitted in between changes no run.
        self.reveals += self.data.shape[1] > known

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
        c = coefficients(self.setting, rows @ self.data[:, :q].T, labels, readout)
        self.reveal(c.T)
        gradient = c @ self.data / self.setting.n
        grown = np.zeros_like(gradient)
        grown[:, :q] = rows
        return grown + size * gradient, gradient


class HeldStream(FeatureTable):
    """The held batch as training data of the readout."""

    def __init__(self, batch: HeldBatch, rows: Float[np.ndarray, "p q"], meter: Meter) -> None:
        self.batch = batch
        labels, self.deflation = batch.deflated()
        if self.deflation is not None:
            meter.add(batch.setting.n)
        # The fit may have revealed one more direction, in which W has no component yet.
        self.rows = np.zeros((len(rows), batch.data.shape[1]))
        self.rows[:, : rows.shape[1]] = rows
        super().__init__(batch.setting.activation(batch.data @ self.rows.T), labels, meter)

    def like(self, purpose: Purpose, count: int) -> Stream:
        """Fresh samples, labels deflated by the same fit."""
        batch = self.batch
        shape = (batch.setting, batch.run, purpose, batch.step, count, self.rows)
        return Stream(*shape, self.meter, self.deflation)
