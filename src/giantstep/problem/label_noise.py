"""What stands between target and labels, made of one normal variable for each label."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from giantstep.language.functions import NUMPY, Namespace


@dataclass(frozen=True)
class LabelNoise:
    """y = f + deviation z, or y = -f for a share ``corruption`` of the labels; z ~ N(0, 1).

    With ``signs`` the label is a random sign instead, with P(y = 1) = (1 + f)/2, so that its mean
    given the inputs is f.
    """

    deviation: float
    corruption: float
    signs: bool = False

    def __bool__(self) -> bool:
        """Whether a label takes a normal variable of its own."""
        return self.deviation > 0 or self.jumps

    @property
    def jumps(self) -> bool:
        """Whether the label is no smooth function of its normal variable."""
        return self.corruption > 0 or self.signs

    def labels(self, clean: Any, normals: Any, namespace: Namespace = NUMPY) -> Any:
        """y from f and one normal variable a label.

        erf(z/sqrt 2) is uniform on [-1, 1], so that it is below f with probability (1 + f)/2.
        """
        if self.signs:
            plus = namespace.ones_like(clean)
            return namespace.where(namespace.erf(normals * math.sqrt(0.5)) < clean, plus, -plus)
        if self.corruption == 0:
            return clean + self.deviation * normals
        return namespace.where(normals < self._flip, -clean, clean)

    def mean_square(self, power: float) -> float:
        """E y^2 from E f^2."""
        return 1.0 if self.signs else power + self.deviation**2

    def floor(self, clean: float, power: float) -> float:
        """The floor of noisy labels, from that of the clean ones and E f^2.

        Flipped signs leave (1 - 2 corruption) of what can be predicted: E y^2 is the same, the
        predictable part E f^2 - floor shrinks by the square of that.
        """
        kept = (1 - 2 * self.corruption) ** 2
        return self.mean_square(power) - kept * (power - clean)

    @property
    def _flip(self) -> float:
        """Labels with a normal variable below this are flipped."""
        return math.inf if self.corruption == 1 else NormalDist().inv_cdf(self.corruption)
