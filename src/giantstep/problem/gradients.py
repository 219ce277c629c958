"""Which part of its gradient a step uses.  A new kind is one entry of ``GRADIENTS``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.language.word import Word


@dataclass(frozen=True)
class GradientPart:
    """``part(rows, gradient)`` -> what a step uses of the gradient, in the coordinates of both.

    ``tangent``: of every row the part at right angles to it.
    """

    part: Callable[[Any, Any], Any]
    tangent: bool = False
    numbers: tuple[str, ...] = ()


def _tangent(rows: Any, gradient: Any) -> Any:
    """g - w <w, g>/|w|^2, row by row; for a row of length zero the gradient itself."""
    squares = (rows**2).sum(axis=1).clip(float(np.finfo(np.float32).tiny))
    shares = (rows * gradient).sum(axis=1) / squares
    return gradient - shares[:, None] * rows


GRADIENTS = {
    "full": GradientPart(lambda rows, gradient: gradient),
    "tangent": GradientPart(_tangent, tangent=True),
}


class GradientWord(Word[GradientPart]):
    """The part of the gradient that a step uses."""

    kinds = GRADIENTS
