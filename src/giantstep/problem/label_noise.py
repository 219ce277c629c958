"""Noise of the labels, made of one normal variable for each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from giantstep.language.functions import NUMPY, Namespace


@dataclass(frozen=True)
class LabelNoise:
    """y = f + deviation z, or y = -f for a share ``corruption`` of the labels; z ~ N(0, 1)."""

    deviation: float
    corruption: float

    def __bool__(self) -> bool:
        """Whether a label takes a normal variable of its own."""
        return self.deviation > 0 or self.corruption > 0

    def labels(self, clean: Any, normals: Any, namespace: Namespace = NUMPY) -> Any:
        """y from f and one normal variable a label."""
        if self.corruption == 0:
            return clean + self.deviation * normals
        return namespace.where(normals < self._flip, -clean, clean)

    def floor(self, clean: float, power: float) -> float:
        """The floor of noisy labels, from that of the clean ones and E f^2.

        Flipped signs leave (1 - 2 corruption) of what can be predicted: E y^2 is the same, the
        predictable part E f^2 - floor shrinks by the square of that.
        """
        return power - (1 - 2 * self.corruption) ** 2 * (power - clean) + self.deviation**2

    @property
    def _flip(self) -> float:
        """Labels with a normal variable below this are flipped."""
        return math.inf if self.corruption == 1 else NormalDist().inv_cdf(self.corruption)
