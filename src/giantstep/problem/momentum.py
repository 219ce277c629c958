"""What a step keeps of the steps before it.  A new kind is one entry of ``MOMENTA``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.language.quantity import quantity
from giantstep.language.word import shortest


@dataclass(frozen=True)
class MomentumKind:
    """With velocities V' = m V + G, the step is taken along a G + b V, ``weights(m)`` -> (a, b).

    ``meaning`` explains it in the help.
    """

    name: str
    weights: Callable[[float], tuple[float, float]]
    meaning: str


MOMENTA = {
    kind.name: kind
    for kind in (
        # V' itself
        MomentumKind("", lambda m: (1.0, m), "heavy ball"),
        # G + m V'
        MomentumKind("nesterov", lambda m: (1.0 + m, m**2), "Nesterov's"),
    )
}
"""The kinds by the name before their number, which the heavy ball does without."""


@dataclass(frozen=True)
class Momentum:
    """Velocities V, 0 at the start: a step keeps the ``share`` m of those before it, V' = m V + G.

    Polyak's heavy ball steps along V', Nesterov's momentum along G + m V', as in most libraries.
    """

    share: float = 0.0
    name: str = ""

    @property
    def kind(self) -> MomentumKind:
        return MOMENTA[self.name]

    @property
    def text(self) -> str:
        """How it is typed: ``0.9`` or ``nesterov(0.9)``."""
        number = shortest(self.share)
        return f"{self.name}({number})" if self.name else number

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        """Whether steps depend on those before them."""
        return self.share > 0

    def combined(self, gradient: Any, velocity: Any) -> tuple[Any, Any]:
        """What the step is taken along, and the velocities after it; without momentum none."""
        if velocity is None:
            return gradient, None
        of_gradient, of_velocity = self.kind.weights(self.share)
        return of_gradient * gradient + of_velocity * velocity, self.share * velocity + gradient


def read_momentum(value: object, field: str = "momentum") -> Momentum:
    """Momentum from its text or its number."""
    if isinstance(value, Momentum):
        return value
    match = (
        re.fullmatch(r"\s*([a-z]+)\s*\(([^()]*)\)\s*", value) if isinstance(value, str) else None
    )
    if match and match[1] not in MOMENTA:
        raise InputError(f"{field} must be a number or nesterov(m), got {shown(value)}")
    try:
        share = quantity(match[2] if match else value, {}, field)
    except InputError:
        share = math.nan
    if not 0 <= share < 1:
        raise InputError(
            f"{field} must be at least 0 and less than 1, or nesterov(m) of such a number, got "
            f"{shown(value)}"
        )
    return Momentum(share, match[1] if match and share else "")
