"""Inputs whose axes come in blocks, each of one variance: x = (sqrt(v_1) z_1, sqrt(v_2) z_2, ..).

Inside a block all directions are alike, so that only inner products matter there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

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


@lru_cache(maxsize=64)
def blocks_by_power(
    numbers: tuple[float, ...], d: int, *, ratio: float = 1.25, farthest: float = 50.0
) -> InputBlocks:
    """Blocks of d axes of variances k^-exponent, of mean one, by the mean variance of each block.

    Inside a block variances differ by the factor ``ratio`` at most, but for two neighbours: by 6 %
    as a standard deviation, whose square 0.4 % is what second moments of the variances miss.  A
    block begins at most e^``farthest`` times farther than the one before, which is beyond any d.
    """
    [exponent] = numbers
    growth = math.exp(min(math.log(ratio) / exponent, farthest))
    ends = [0]
    while ends[-1] < d:
        ends.append(min(d, max(ends[-1] + 1, math.floor(ends[-1] * growth))))
    sums = np.array([_sum_of_powers(exponent, *pair) for pair in pairwise(ends)])
    sizes = np.diff(ends)
    return InputBlocks(sizes, sums / sizes * d / np.sum(sums))


def _sum_of_powers(exponent: float, first: int, last: int, *, direct: int = 1000) -> float:
    """The sum of k^-exponent over first < k <= last, from ``direct`` terms on by Euler-Maclaurin.

    So many terms begin where the next order, of k^(-exponent - 3)/720, is rounding.
    """
    if last - first <= direct:
        return float(np.sum(np.arange(first + 1.0, last + 1.0) ** -exponent))
    a, b = first + 1.0, float(last)
    power = 1.0 - exponent
    integral = math.log(b / a) if power == 0.0 else (b**power - a**power) / power
    ends = 0.5 * (a**-exponent + b**-exponent)
    return integral + ends + exponent / 12.0 * (a ** (-exponent - 1.0) - b ** (-exponent - 1.0))


def complaint_about_shares(numbers: tuple[float, ...]) -> str | None:
    """Why shares and variances make no blocks, None if they do."""
    total = sum(numbers[::2])
    if abs(total - 1.0) > SHARES_SUM:
        return f"the shares must sum to 1, they sum to {total:g}"
    return None
