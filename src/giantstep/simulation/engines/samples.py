"""Inputs of any law drawn on the host, block by block in threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.problem.inputs import Block
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.tables import Deal
from giantstep.simulation.threads import ordered


def block_size(d: int) -> int:
    """Samples a block: about a million numbers, a power of two."""
    return int(2 ** max(0, min(12, math.floor(math.log2(2**20 / d)))))


class HostSampler:
    """Inputs of one run, and the noise of their labels or the labels themselves.

    The rows of a data set are dealt out, with their own labels where the target asks for them.
    """

    def __init__(self, setting: Setting, run: int) -> None:
        self.setting, self.run = setting, run
        key = generator(setting.seed, run, Purpose.FRAME, 1)
        self.data = setting.data
        self.deal = None if self.data is None else Deal.of(setting, self.data, run)
        prepared = setting.inputs.law.prepare(setting.inputs, setting.d, key)
        self.prepared = prepared.astype(setting.dtype)

    def chunk(
        self, purpose: Purpose, step: int, start: int, size: int, wanted: int
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        """``size`` samples from number ``start`` on; beyond ``wanted`` zeros."""
        setting, data = self.setting, self.data
        block = block_size(setting.d)
        first, stop = start // block, start + max(wanted, 0)
        inputs: Any = np.zeros((size, setting.d), setting.dtype)
        noise: Any = np.zeros(size, setting.dtype)

        def fill(index: int) -> None:
            where = (step, first + index)
            begin = where[1] * block
            end = min(begin + block, stop)
            # A block is drawn from its beginning, also where only its end is asked for.
            skipped = max(start - begin, 0)
            part = slice(begin + skipped - start, end - start)
            x, noises = inputs[part], noise[part]
            if skipped:
                x, noises = (np.zeros((end - begin, *v.shape[1:]), v.dtype) for v in (x, noises))
            draw = setting.inputs.law.fill
            if draw is not None:
                key = generator(setting.seed, self.run, purpose, *where)
                signs = generator(setting.seed, self.run, Purpose.SIGNS, purpose, *where)
                draw(setting.inputs, Block(x, key, signs, self.prepared))
            elif data is not None and self.deal is not None:
                rows = self.deal.rows(purpose, step, slice(begin, end))
                x[...] = data.rows[rows]
                if data.labels is not None:
                    noises[...] = data.labels[rows]
            if setting.noisy:
                rng = generator(setting.seed, self.run, Purpose.NOISE, purpose, *where)
                noises[...] = rng.standard_normal(len(noises), dtype=setting.dtype)
            if skipped:
                inputs[part], noise[part] = x[skipped:], noises[skipped:]

        for _ in ordered(fill, -(-stop // block) - first):
            pass
        return inputs, noise
