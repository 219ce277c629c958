"""Inputs whose axes come in blocks, each of one variance: x = (sqrt(v_1) z_1, sqrt(v_2) z_2, ..).

Inside a block all directions are alike, so that only inner products matter there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

SHARES_SUM = 1e-6
"""How far shares may be from the sum one: 1/3 is typed with six digits."""


@dataclass(frozen=True)
class InputBlocks:
    """Numbers of axes and variances of the blocks, in the order of the axes."""

    sizes: Int[np.ndarray, " m"]
    variances: Float[np.ndarray, " m"]

    @property
    def deviations(self) -> Float[np.ndarray, " m"]:
        """Standard deviations of an input in each block."""
        return np.sqrt(self.variances)

    @property
    def along_axes(self) -> Float[np.ndarray, " d"]:
        """Standard deviations along all d axes."""
        return np.repeat(self.deviations, self.sizes)

    def at(self, axes: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
        """The blocks that axes are in."""
        return np.searchsorted(np.cumsum(self.sizes), axes, side="right")


def blocks_by_share(numbers: tuple[float, ...], d: int) -> InputBlocks:
    """Blocks of shares of d axes, numbers being share, variance, share, variance, ..

    A block ends at the axis nearest to the sum of the shares so far times d.
    """
    ends = np.round(np.cumsum(numbers[::2]) * d).astype(int)
    ends[-1] = d
    return InputBlocks(np.diff(ends, prepend=0), np.array(numbers[1::2]))


def complaint_about_shares(numbers: tuple[float, ...]) -> str | None:
    """Why shares and variances make no blocks, None if they do."""
    total = sum(numbers[::2])
    if abs(total - 1.0) > SHARES_SUM:
        return f"the shares must sum to 1, they sum to {total:g}"
    return None
