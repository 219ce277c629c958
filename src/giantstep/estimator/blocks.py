"""Rows in blocks, so that memory does not grow with their number times that of their features."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK_NUMBERS = 2**22
"""Numbers in a block of features: 32 MiB in float64."""


def blocks(n: int, width: int) -> Iterator[slice]:
    """Slices of the rows, so many that a block of ``width`` columns holds BLOCK_NUMBERS."""
    size = max(1, BLOCK_NUMBERS // max(width, 1))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
