"""Histogram of a bulk that ends at its edge; in the logarithm where outliers lie far out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Histogram:
    """Heights between ``bins`` as densities, with ``log`` per log unit (``per_unit``)."""

    bins: Float[np.ndarray, " k"]
    heights: Float[np.ndarray, " bars"]
    log: bool

    @property
    def tall(self) -> float:
        """A height that few bars exceed."""
        return float(np.quantile(self.heights, 0.97)) if self.heights.size else 1.0


def per_unit(
    grid: Float[np.ndarray, " q"], density: Float[np.ndarray, " q"], *, log: bool
) -> Float[np.ndarray, " q"]:
    """A density as it is drawn: on a logarithmic axis areas are shares if it is per log unit."""
    return density * grid if log else density


def is_far(top: float, edge: float) -> bool:
    """Whether a spectrum up to ``top`` needs a logarithmic axis: a linear one hides its bulk."""
    return top > 3.0 * edge


def bulk_histogram(
    values: Float[np.ndarray, "..."],
    edge: float,
    outliers: Sequence[float] = (),
    *,
    margin: float = 1.02,
    log: bool | None = None,
    most_bins: int = 60,
) -> Histogram:
    """Values up to ``margin`` times the edge, zeros left out.

    ``outliers`` are others that the axis must reach.  With ``log`` bins are
    even in the logarithm; unless that is told, where the largest value is far out.
    There are ``most_bins`` at most, with four values each on average.
    """
    flat = values.ravel()
    top = max([float(flat.max()), *outliers])
    positive = flat[flat > 1e-6 * top]
    inside = positive[positive <= margin * edge]
    low = float(inside.min()) if inside.size else 0.0
    ends = max(most_bins // 6, min(most_bins, inside.size // 4))
    log = is_far(top, edge) if log is None else log
    if log:
        bins = np.geomspace(max(low, 0.02 * edge), 1.02 * edge, ends)
    else:
        bins = np.linspace(max(0.0, low - 0.02 * edge), 1.02 * edge, ends)
    counts, _ = np.histogram(inside, bins)
    widths = np.diff(np.log(bins) if log else bins)
    return Histogram(bins, counts / (widths * max(positive.size, 1)), log)
