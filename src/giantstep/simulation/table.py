"""Features and labels in memory, as data of the readout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.simulation.meter import Meter


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
        return [np.asarray(v, dtype=float) for v in reducer(self.features, self.labels, *arguments)]

    def head(self, count: int) -> FeatureTable:
        """All of the samples: they are in memory."""
        return self

    def collect(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        self.meter.add(self.count)
        return self.features, self.labels
