"""Distinct rows with their weights, in an order that depends on nothing but what they say.

A row that comes twice is one row of weight 2.  Leave-one-out and folds then never hold a copy of
what they leave out, and a weight means the same as so many copies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt64

from giantstep.estimator.blocks import blocks
from giantstep.estimator.order import canonical_order

# The finaliser of the generator splitmix64: every bit of the input moves every bit of the output.
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


@dataclass(frozen=True)
class Rows:
    """Labels and weights of n distinct rows; the weights have mean one.

    The inputs stay where they are: x[index] are those of the distinct rows.  ``columns`` -> the
    canonical order of the columns.
    """

    x: Float[np.ndarray, "all d"]
    index: Int[np.ndarray, " n"]
    columns: Int[np.ndarray, " d"]
    y: Float[np.ndarray, "n m"]
    weight: Float[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.index)

    def inputs(
        self, rows: slice | Int[np.ndarray, " b"], columns: slice = slice(None)
    ) -> Float[np.ndarray, "b c"]:
        """A copy of some rows and columns of the inputs, in float64, columns as they came."""
        return self.x[self.index[rows], columns].astype(float)


def distinct_rows(
    x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "n m"], weight: Float[np.ndarray, " n"]
) -> Rows:
    """The rows of positive weight, each once, in canonical order; ties in that of a hash."""
    hashes = np.empty(len(x), dtype=np.uint64)
    for block in blocks(len(x), x.shape[1] + y.shape[1]):
        hashes[block] = _hashes(np.concatenate([x[block], y[block]], axis=1, dtype=float))
    kept = np.flatnonzero(weight > 0)
    _, first, place = np.unique(hashes[kept], return_index=True, return_inverse=True)
    total = np.bincount(place, weights=weight[kept])
    index = kept[first]
    order, columns = canonical_order(
        lambda rows, part: x[index[rows], part].astype(float), x.shape[1], y[index]
    )
    index, total = index[order], total[order]
    return Rows(x, index, columns, y[index], total / total.mean())


def _hashes(values: Float[np.ndarray, "n c"]) -> UInt64[np.ndarray, " n"]:
    """64 bits a row, the same for equal rows: a sum modulo 2^64 is exact in any order."""
    draws = np.random.default_rng(0).integers(2**63, size=values.shape[1], dtype=np.uint64)
    odd = np.asarray(draws * np.uint64(2) + np.uint64(1))
    # + 0.0 makes the two zeros one.
    return _mixed(_mixed((values + 0.0).view(np.uint64)) @ odd)


def _mixed(bits: UInt64[np.ndarray, "*n"]) -> UInt64[np.ndarray, "*n"]:
    for shift, factor in MIXERS:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits
