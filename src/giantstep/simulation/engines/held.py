"""Gaussian samples that are kept: to take another step on, or to fit the readout on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.problem.network import coefficients
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.coordinates import bartlett
from giantstep.simulation.engines.streamed import BLOCK, Deflation, Stream, reduced
from giantstep.simulation.meter import Meter
from giantstep.simulation.threads import ordered


class HeldBatch:
    """Samples kept in memory: data columns Z, noise, and the coefficient vectors used so far (V).

    When the combinations sum_mu c_mu x_mu are formed, Z gains the samples' components along the
    directions they reveal: U L + (1 - V V^T) E, U the part of c outside V, L of Bartlett's law.
    """

    def __init__(self, setting: Setting, run: int, step: int, columns: int) -> None:
        self.setting, self.run, self.step = setting, run, step
        blocks = -(-setting.n // BLOCK)
        noisy = setting.noisy

        def part(index: int) -> Any:
            samples = min(BLOCK, setting.n - index * BLOCK)
            rng = generator(setting.seed, run, Purpose.BATCH, step, index)
            return rng.standard_normal((samples, columns + noisy))

        drawn = np.concatenate(list(ordered(part, blocks)))
        self.data = np.ascontiguousarray(drawn[:, :columns])
        self.noise = drawn[:, columns] if noisy else np.zeros(setting.n)
        self.used = np.zeros((setting.n, 0))
        self.reveals = 0

    def labels(self) -> Float[np.ndarray, " n"]:
        columns = [self.data[:, k] for k in range(self.setting.target.r)]
        clean = np.asarray(self.setting.target(columns), dtype=float)
        return self.setting.labels(clean, self.noise)

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
        rng = generator(setting.seed, self.run, Purpose.REVEAL, self.step, self.reveals)
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
        c = coefficients(self.setting, rows @ self.data[:, :q].T, labels, readout)
        self.reveal(c.T)
        gradient = c @ self.data / self.setting.n
        grown = np.zeros_like(gradient)
        grown[:, :q] = rows
        return grown + size * gradient, gradient


class HeldStream:
    """The held batch as training data of the readout."""

    def __init__(self, batch: HeldBatch, rows: Float[np.ndarray, "p q"], meter: Meter) -> None:
        self.batch, self.count, self.meter = batch, batch.setting.n, meter
        self.labels, self.deflation = batch.deflated()
        if self.deflation is not None:
            meter.add(self.count)
        # The fit may have revealed one more direction, in which W has no component yet.
        self.rows = np.zeros((len(rows), batch.data.shape[1]))
        self.rows[:, : rows.shape[1]] = rows
        self.phi = batch.setting.activation(batch.data @ self.rows.T)

    def reduce(
        self, reducer: Callable[..., Any], *arguments: Any, exact: bool = False
    ) -> list[Any]:
        self.meter.add(self.count)
        return reduced(reducer, self.phi, self.labels, arguments)

    def head(self, count: int) -> HeldStream:
        """All of the samples: they are in memory."""
        return self

    def keep(self, count: int) -> HeldStream:
        """As it is: everything is kept."""
        return self

    def collect(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        self.meter.add(self.count)
        return self.phi, self.labels

    def like(self, purpose: Purpose, count: int) -> Stream:
        """Fresh samples, labels deflated by the same fit."""
        batch = self.batch
        shape = (batch.setting, batch.run, purpose, batch.step, count, self.rows)
        return Stream(*shape, self.meter, self.deflation)
