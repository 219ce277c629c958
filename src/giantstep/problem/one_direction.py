"""Inputs that are normal but along one direction u: spiked, shifted, or in two clusters.

The direction is in the plane of the first target direction and of one more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from giantstep.problem.two_clusters import mixed

if TYPE_CHECKING:
    from giantstep.problem.inputs import Block, InputLaw


def known_direction(law: InputLaw, d: int, key: np.random.Generator) -> Float[np.ndarray, " two"]:
    """The entries of u along the first axis, the target's first direction, and the last one."""
    overlap = law.numbers[1]
    return np.array([overlap, math.sqrt(1.0 - overlap**2)])


Entries = Callable[["InputLaw", Any, Any, Any], tuple[Any, Any]]
"""The two entries of x along the plane of the law's direction, from two normals."""


def along_spike(law: InputLaw, first: Any, last: Any, spike: Any) -> tuple[Any, Any]:
    """x = g + (sqrt(1 + strength) - 1) <u, g> u, by its two entries along u's plane."""
    more = (math.sqrt(1.0 + law.numbers[0]) - 1.0) * (spike[0] * first + spike[1] * last)
    return first + more * spike[0], last + more * spike[1]


def along_shift(law: InputLaw, first: Any, last: Any, mean: Any) -> tuple[Any, Any]:
    """x = g + length u, by its two entries along u's plane."""
    return first + law.numbers[0] * mean[0], last + law.numbers[0] * mean[1]


def along_clusters(law: InputLaw, first: Any, last: Any, line: Any) -> tuple[Any, Any]:
    """x = g + (t - <u, g>) u, t the mixture along u, by its two entries along u's plane."""
    along = line[0] * first + line[1] * last
    more = mixed(along, law.numbers[0]) - along
    return first + more * line[0], last + more * line[1]


def filled(entries: Entries) -> Callable[[InputLaw, Block], None]:
    """How a block is filled where two entries are not normal."""

    def fill(law: InputLaw, block: Block) -> None:
        block.normals()
        out = block.out
        out[:, 0], out[:, -1] = entries(law, out[:, 0], out[:, -1], block.prepared)

    return fill


def stretched_columns(entries: Entries) -> Callable[[InputLaw, Any, int], Any]:
    """Known coordinates of samples, those along the first target direction and u not normal."""

    def columns(law: InputLaw, data: Any, r: int) -> Any:
        direction = known_direction(law, 0, np.random.default_rng(0)).astype(data.dtype)
        first, second = entries(law, data[:, 0], data[:, r], direction)
        parts = (first[:, None], data[:, 1:r], second[:, None], data[:, r + 1 :])
        return data.__array_namespace__().concatenate(parts, axis=1)

    return columns
