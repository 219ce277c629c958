"""Distinct rows with their weights, in an order that depends on nothing but their values.

A row that comes twice is one row of weight 2.  Leave-one-out and folds then never hold a copy of
what they leave out, a weight means the same as so many copies, and the order of the rows a user
has does not matter: they are sorted by a hash, which is as good as shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt64

BLOCK_NUMBERS = 2**22
"""Numbers in a block of features: 32 MiB in float64, so that memory does not grow with n p."""

# The finaliser of the generator splitmix64: every bit of the input moves every bit of the output.
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


@dataclass(frozen=True)
class Rows:
    """Inputs, labels and weights of n distinct rows; the weights have mean one."""

    x: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, "n m"]
    weight: Float[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.x)

    def take(self, index: Int[np.ndarray, " k"]) -> Rows:
        """Some of the rows, their weights of mean one again."""
        weight = self.weight[index]
        return Rows(self.x[index], self.y[index], weight / weight.mean())


def distinct_rows(
    x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "n m"], weight: Float[np.ndarray, " n"]
) -> Rows:
    """The rows of positive weight, each once, sorted by the hash of their values."""
    hashes = _hashes(np.concatenate([x, y], axis=1))
    hashes, weight, kept = hashes[weight > 0], weight[weight > 0], np.flatnonzero(weight > 0)
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    total = np.bincount(place, weights=weight)
    index = kept[first]
    return Rows(x[index], y[index], total / total.mean())


def _hashes(values: Float[np.ndarray, "n c"]) -> UInt64[np.ndarray, " n"]:
    """64 bits a row, the same for equal rows: a sum modulo 2^64 is exact in any order."""
    draws = np.random.default_rng(0).integers(2**63, size=values.shape[1], dtype=np.uint64)
    odd = np.asarray(draws * np.uint64(2) + np.uint64(1))
    found = np.zeros(len(values), dtype=np.uint64)
    for column, factor in zip(values.T, odd, strict=True):
        # + 0.0 makes the two zeros one.
        found += _mixed(np.ascontiguousarray(column + 0.0).view(np.uint64)) * factor
    return _mixed(found)


def _mixed(bits: UInt64[np.ndarray, " n"]) -> UInt64[np.ndarray, " n"]:
    for shift, factor in MIXERS:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits


def blocks(n: int, width: int) -> Iterator[slice]:
    """Slices of the rows, so many that a block of ``width`` columns holds BLOCK_NUMBERS."""
    size = max(1, BLOCK_NUMBERS // max(width, 1))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
