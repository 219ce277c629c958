"""Hermite degrees that sums of neurons of one activation have.

The part of degree D of sigma(<w, x> + b) is E[sigma^(D)(s z + b)] <w, .>^D/D!, s = |w|: where the
mean is zero for every length s and every bias b, no sum of neurons has a part of degree D,
whatever their rows and however many there are.  As a function of s the mean obeys the heat
equation, d/ds E[sigma^(D)(s z + b)] = s E[sigma^(D + 2)(s z + b)], so that D + 2, D + 4, ..
are then missing too.  Without biases one parity ends: the odd or the even part of sigma is a
polynomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool

from giantstep.analysis.staircase import GENERIC_NORM
from giantstep.problem.activation import Activation

Fits = Callable[[int], bool]
"""Whether a part of a degree can be fitted."""


def every_degree(degree: int) -> bool:
    """What the best activation fits."""
    return True


@dataclass(frozen=True)
class FittedDegrees:
    """Called with a degree D: whether neurons of an activation have parts of that degree.

    They do unless E[sigma^(D)(s z + b)] = 0 for all lengths s and biases b
    (docs/derivations/floors.md, eq. (3); docs/theory/index.md, eq. (4')).
    ``moved``: rows of any length, as after a step; rows of the start have length one.  ``bias`` is
    the standard deviation of the biases.  A degree counts as missing only where its coefficient is
    zero to rounding.  A polynomial part of the activation may end up to the degree ``highest``.
    """

    activation: Activation
    moved: bool = True
    bias: float = 0.0
    highest: int = 12

    def __call__(self, degree: int) -> bool:
        if not self.moved:
            return degree >= len(self._present) or bool(self._present[degree])
        end = self.ends[degree % 2]
        return end is None or degree < end

    @cached_property
    def ends(self) -> tuple[int | None, int | None]:
        """The even and the odd degree from which on all of that parity are missing; None: none.

        A missing degree D takes D + 2, D + 4, .. with it: docs/derivations/floors.md, eq. (4).
        """
        even, odd = (
            next(
                (
                    degree
                    for degree in range(parity, self.highest + 1, 2)
                    # A coefficient may vanish at some lengths by accident, not so the next as well.
                    if not self._present[degree] and not self._present[degree + 2]
                ),
                None,
            )
            for parity in (0, 1)
        )
        return even, odd

    @cached_property
    def _present(self) -> Bool[np.ndarray, " k"]:
        """Degrees whose coefficient is not zero at some length and bias."""
        norms = (1.0, GENERIC_NORM) if self.moved else (1.0,)
        # No Hermite polynomial vanishes at all of these biases.
        shifts = sorted({self.bias * shift for shift in (0.0, 0.6, -1.3)})
        degree = self.highest + 2
        roots = np.sqrt([float(math.factorial(k)) for k in range(degree + 1)])
        present = np.zeros(degree + 1, dtype=bool)
        for norm in norms:
            for shift in shifts:
                coefficients = self.activation.coefficients(degree, norm, shift)
                sizes = np.abs(coefficients.values / roots)
                # A share of the largest one: quadrature leaves 1e-13.
                rounding = 1e-12 * float(sizes.max())
                present |= sizes > max(rounding, 100.0 * coefficients.error / roots[-1])
        return present

    @property
    def missing(self) -> str:
        """The degrees that are missing, in words; empty where there are none."""
        named = zip(("even", "odd"), self.ends, strict=True)
        parts = [f"{parity} degree from {end} on" for parity, end in named if end is not None]
        return " and ".join(parts)
