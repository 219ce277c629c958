"""Features and labels in memory, as data of the readout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.simulation.meter import Meter
from giantstep.simulation.threads import added_up


def reduced(
    reducer: Callable[..., Any],
    features: Any,
    labels: Any,
    arguments: Sequence[Any],
    *,
    piece_bytes: int = 2**17,
) -> list[np.ndarray]:
    """What a reducer makes of features and labels, piece by piece; penalties are last, in rows.

    A piece is ``piece_bytes`` of samples by penalties: above 128 KiB the allocator may hand memory
    back to the system each time, and fetching it anew takes longer than the sums.
    """
    values = [np.asarray(argument, dtype=features.dtype) for argument in arguments]
    size = max(1, piece_bytes // values[-1][:, 0].nbytes) if values else len(labels)
    pieces = (slice(start, start + size) for start in range(0, len(labels), size))
    return added_up(reducer(features[piece], labels[piece], *values) for piece in pieces)


class FeatureTable:
    """Given features and labels; ``meter`` counts the samples each time they are used."""

    def __init__(
        self,
        features: Float[np.ndarray, "n p"],
        labels: Float[np.ndarray, " n"],
        meter: Meter | None = None,
    ) -> None:
        self.features, self.labels, self.count = features, labels, len(labels)
        self.meter = meter or Meter(0, None)

    def reduce(
        self, reducer: Callable[..., Any], *arguments: Any, exact: bool = False
    ) -> list[Any]:
        """What the reducer makes of the features and labels, in float64."""
        self.meter.add(self.count)
        return reduced(reducer, self.features, self.labels, arguments)

    def head(self, count: int) -> FeatureTable:
        """All of the samples: they are in memory."""
        return self

    def keep(self, count: int) -> FeatureTable:
        """As it is: everything is kept."""
        return self

    def collect(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        self.meter.add(self.count)
        return self.features, self.labels
