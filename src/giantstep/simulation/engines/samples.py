"""Inputs of any law drawn on the host, block by block in threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.problem.inputs import Block
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
        key = generator(setting.seed, run, Purpose.FRAME, 1)
        self.fill = setting.inputs.law.fill
        prepared = setting.inputs.law.prepare(setting.inputs, setting.d, key)
        self.prepared = prepared.astype(setting.dtype)

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
            key = generator(setting.seed, self.run, purpose, *where)
            signs = generator(setting.seed, self.run, Purpose.SIGNS, purpose, *where)
            self.fill(setting.inputs, Block(inputs[part], key, signs, self.prepared))
            if setting.noisy:
                rng = generator(setting.seed, self.run, Purpose.NOISE, purpose, *where)
                noise[part] = rng.standard_normal(len(noise[part]), dtype=setting.dtype)

        for _ in ordered(fill, -(-wanted // block)):
            pass
        return inputs, noise
