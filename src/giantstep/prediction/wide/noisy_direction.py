"""The singular value that one direction of much noise has in W, among rows of unequal length.

Row i of W has entries of variance a_i/d, and (a_i + noise u_i^2)/d along the direction, to which a
step adds noise in proportion to its entry u_i of the readout.  Without the direction the singular
values of W end where z(v) = v (1 + (1/d) sum_i a_i/(v - a_i)) is least, v > max a_i, and it has the
singular value sqrt z(v) of (noise/d) sum_i u_i^2/(v - a_i) = 1.

docs/derivations/bulk.md, eq. (11).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class NoisyDirection:
    """A direction with more noise than the others of W.

    ``squares`` -> a, the squared lengths of the types of rows; ``readout`` -> u; ``masses`` -> the
    number of rows of each type over d.
    """

    squares: Float[np.ndarray, " t"]
    readout: Float[np.ndarray, " t"]
    masses: Float[np.ndarray, " t"]

    @cached_property
    def _longest(self) -> float:
        return float(np.max(self.squares))

    @cached_property
    def _end(self) -> float:
        """v at the edge: z'(v) = 0."""
        reach = math.sqrt(float(self.masses @ self.squares**2))

        def slope(v: float) -> float:
            return 1.0 - float(self.masses @ (self.squares / (v - self.squares)) ** 2)

        # Just above the longest rows the slope is negative, for they have a mass.
        low = self._longest * (1.0 + 1e-9)
        return _root(slope, low, low + 2.0 * reach)

    def _eigenvalue(self, v: float) -> float:
        return v * (1.0 + float(self.masses @ (self.squares / (v - self.squares))))

    def _response(self, v: float) -> float:
        """(1/d) sum_i u_i^2/(v - a_i)."""
        return float(self.masses @ (self.readout**2 / (v - self.squares)))

    @property
    def edge(self) -> float:
        """The largest singular value of W without the direction."""
        return math.sqrt(self._eigenvalue(self._end))

    def place(self, noise: float) -> float:
        """The singular value of the direction; the edge where its noise is too weak for one."""
        if noise * self._response(self._end) <= 1.0:
            return self.edge
        # Twice as far as the place of equal rows, where rounding could lose the sign.
        high = self._longest + 2.0 * noise * float(self.masses @ self.readout**2)
        v = _root(lambda v: 1.0 - noise * self._response(v), self._end, high)
        return math.sqrt(self._eigenvalue(v))

    def noise_at(self, place: float) -> float:
        """The noise of a direction that has this singular value, or that of the edge below it."""
        if place <= self.edge:
            return 1.0 / self._response(self._end)
        v = _root(lambda v: self._eigenvalue(v) - place**2, self._end, place**2)
        return 1.0 / self._response(v)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, low, high))
