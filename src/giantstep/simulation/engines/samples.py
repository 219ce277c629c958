"""Inputs of any law drawn on the host, block by block in threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.simulation.threads import ordered


def block_size(d: int) -> int:
    """Samples a block: about a million numbers, a power of two."""
    return int(2 ** max(0, min(12, math.floor(math.log2(2**20 / d)))))


class HostSampler:
    """Inputs and noise of one run."""

    def __init__(self, setting: Setting, run: int) -> None:
        self.setting, self.run = setting, run
        aside = generator(setting.seed, run, Purpose.FRAME, 1)
        law = setting.inputs
        self.direction = np.zeros(0, setting.dtype)
        if law.kind == "mixture":
            normal = aside.standard_normal(setting.d)
            self.direction = (normal / np.linalg.norm(normal)).astype(setting.dtype)
        self.spread = (
            law.spectrum(setting.d).astype(setting.dtype) if law.kind == "correlated" else None
        )

    def chunk(
        self, purpose: Purpose, step: int, start: int, size: int, wanted: int
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        """``size`` samples from number ``start`` on, whole blocks; beyond ``wanted`` zeros."""
        setting = self.setting
        block = block_size(setting.d)
        inputs: Any = np.zeros((size, setting.d), setting.dtype)
        noise: Any = np.zeros(size, setting.dtype)

        def fill(index: int) -> None:
            part = slice(index * block, min((index + 1) * block, wanted))
            where = (step, start // block + index)
            self._fill(generator(setting.seed, self.run, purpose, *where), inputs[part])
            if setting.inputs.kind == "mixture":
                self._mix(
                    generator(setting.seed, self.run, Purpose.SIGNS, purpose, *where), inputs[part]
                )
            if setting.noisy:
                rng = generator(setting.seed, self.run, Purpose.NOISE, purpose, *where)
                noise[part] = rng.standard_normal(len(noise[part]), dtype=setting.dtype)

        for _ in ordered(fill, -(-wanted // block)):
            pass
        return inputs, noise

    def _fill(self, rng: np.random.Generator, out: Any) -> None:
        """A block of inputs, row by row, so that fewer samples are a prefix of more."""
        law, samples = self.setting.inputs, len(out)
        if law.kind == "rademacher":
            np.multiply(
                rng.integers(0, 2, out.shape, dtype=np.int8), 2.0, out=out, casting="unsafe"
            )
            out -= 1.0
        elif law.kind == "uniform":
            rng.random(out=out, dtype=out.dtype.type)
            out *= 2.0 * math.sqrt(3.0)
            out -= math.sqrt(3.0)
        elif law.kind == "student":
            df = law.parameter
            out[...] = rng.standard_t(df, out.shape) * math.sqrt((df - 2.0) / df)
        elif law.kind in ("data", "whitened"):
            table = law.table()
            out[...] = table[rng.integers(0, len(table), samples)]
        else:
            rng.standard_normal(out=out, dtype=out.dtype.type)
            if self.spread is not None:
                out *= self.spread

    def _mix(self, rng: np.random.Generator, out: Any) -> None:
        """X = s m u + (I - (1 - sqrt(1 - m^2)) u u^T) g, s a sign: covariance the identity."""
        m = self.setting.inputs.parameter
        signs = np.where(rng.random(len(out)) < 0.5, -1.0, 1.0)
        # Row by row: a matrix product would round a sample by the company it is in.
        along = np.sum(out * self.direction, axis=1)
        shift = m * signs - (1.0 - math.sqrt(1.0 - m**2)) * along
        out += np.outer(shift, self.direction).astype(out.dtype)
