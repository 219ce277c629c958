"""Random numbers that depend on (seed, run, purpose, place) alone.

SFC64 draws a normal in about 8 ns on one core, JAX's threefry in about 20
(benchmarks/generator.py), so that on a CPU the numbers come from NumPy.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream of random numbers is for."""

    START = 0
    BATCH = 1
    READOUT = 2
    TEST = 3
    HIDDEN = 4
    NOISE = 5
    FRAME = 6
    SIGNS = 7
    REVEAL = 8


def generator(seed: int, run: int, purpose: int, *where: int) -> np.random.Generator:
    """The generator of one block of one stream; the seed always takes two words of 32 bits."""
    words = [seed & 0xFFFFFFFF, seed >> 32, run, purpose, *where]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))
