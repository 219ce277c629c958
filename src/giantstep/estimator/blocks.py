"""Rows in blocks, so that memory does not grow with their number times that of their features."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK_NUMBERS = 2**22
"""Numbers in a block of features: 32 MiB in float64."""

CACHED_NUMBERS = 2**16
"""Numbers in a block that is used once: 512 KiB in float64, which stay in the processor's cache."""


def blocks(n: int, width: int, numbers: int | None = None) -> Iterator[slice]:
    """Slices of the rows: a block of ``width`` columns holds so many numbers, or BLOCK_NUMBERS."""
    size = max(1, (numbers or BLOCK_NUMBERS) // max(width, 1))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
