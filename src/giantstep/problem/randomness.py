"""Random numbers that depend on (seed, run, purpose, step, sample) alone.

A stream is cut into blocks of samples, and (seed, run, purpose, place), the place being a step and
the number of a block, is the seed of a block's generator.  Inside a block samples are drawn one
after the other: fewer are a prefix of more, and neither threads nor memory, neither the number of
runs nor what is measured in between, changes any of them.  How many numbers a sample takes is for
the engine to say; engines, and the dense one on a CPU and on a GPU, draw different samples.

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
    SUBSET = 9
    ROWS = 10


def generator(seed: int, run: int, purpose: int, *where: int) -> np.random.Generator:
    """The generator of one block of one stream.

    The seed, below 2^64, always takes two words of 32 bits and every other number one, so that
    different places are different words.  There are at least four: fewer would be filled with
    zeros, and a place of zeros would be no place at all.
    """
    words = [seed & 0xFFFFFFFF, seed >> 32, run, purpose, *where]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))
