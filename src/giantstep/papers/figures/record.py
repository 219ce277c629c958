"""A figure of a paper as a record: where it comes from, and what computes its panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from giantstep.papers.plot import Panel


@dataclass(frozen=True)
class Reproduction:
    """A figure of a paper; ``size`` is its width and height in inches.

    ``panels`` simulates and predicts: called with whether the paper's own sizes are asked for, and
    with the seed.
    """

    name: str
    title: str
    paper: str
    size: tuple[float, float]
    panels: Callable[[bool, int], Sequence[Panel]]
