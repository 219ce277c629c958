"""A figure of a paper as a record: where it comes from, and what computes its panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from giantstep.records.plot import Panel


@dataclass(frozen=True)
class Reproduction:
    """A figure of a paper; ``inches`` are its width and height, ``columns`` its panels in a row.

    ``panels`` simulates and predicts: called with the seed and, as keywords, the sizes, of which
    ``quick`` takes seconds and ``full`` is that of the stored figure.  Titles and names of curves
    are the same at all sizes; the ``caption`` states them, ``{d}`` standing for the size d, and
    says what error bars are.  Mathematics in titles and captions stands between dollar signs.
    """

    name: str
    title: str
    paper: str
    inches: tuple[float, float]
    caption: str
    panels: Callable[..., Sequence[Panel]]
    quick: Mapping[str, Any]
    full: Mapping[str, Any]
    columns: int = 4

    def caption_of(self, sizes: Mapping[str, Any]) -> str:
        """The caption with the sizes of a figure, to stand beside the picture."""
        return self.caption.format(**sizes)
