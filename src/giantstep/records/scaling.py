"""Exponents in d with bootstrap intervals, and what they decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError

LearningVerdict = Literal["learned", "not learned", "undecided"]


@dataclass(frozen=True)
class Scaling:
    """Exponent of an observable in d, with a bootstrap interval and what it decides.

    |value| ~ d^exponent; ``low`` and ``high`` bound it at the stated level.  Learned where the
    interval is above -1/4, not learned where it is below: a random direction has -1/2 (arXiv
    2305.18270, theorem on one step).
    """

    exponent: float
    low: float
    high: float
    level: float

    def __repr__(self) -> str:
        return (
            f"Scaling({self.verdict}: exponent {self.exponent:.3g} in "
            f"[{self.low:.3g}, {self.high:.3g}] at level {self.level:g})"
        )

    @property
    def verdict(self) -> LearningVerdict:
        """Learned if the whole interval is above -1/4, not learned if it is below."""
        # Halfway between a constant cosine (exponent 0) and a random one (-1/2).
        boundary = -0.25
        if self.low > boundary:
            return "learned"
        return "not learned" if self.high < boundary else "undecided"


def scaling_exponent(
    sizes: Sequence[float],
    values: Sequence[Float[np.ndarray, " runs"]],
    level: float = 0.99,
    resamples: int = 2000,
    seed: int = 0,
) -> Scaling:
    """Slope of log median |value| against log size; the runs at each size are resampled.

    log median |value| = exponent * log(size) + constant, least squares; sizes -> d, values -> runs
    at each size, independent of each other.

    >>> import numpy as np
    >>> from giantstep import scaling_exponent
    >>> d = [100, 1000, 10_000]
    >>> scaling_exponent(d, [np.full(5, size**-0.5) for size in d]).verdict
    'not learned'
    """
    if len(sizes) < 2 or len(sizes) != len(values):
        raise InputError(
            f"sizes and values must match, at least 2 of them, got {len(sizes)} and {len(values)}"
        )
    if not min(sizes) > 0 or min(sizes) == max(sizes):
        raise InputError(f"sizes must be positive and not all equal, got {list(sizes)[:8]}")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}")
    for size, runs in zip(sizes, values, strict=True):
        if np.ndim(runs) != 1 or len(runs) < 2 or not np.all(np.isfinite(runs)):
            raise InputError(f"values must be at least 2 finite numbers a size, not so at {size}")
        if np.median(np.abs(runs)) == 0:
            raise InputError(f"values must have a median other than 0, not so at {size}")
    x = np.log(np.asarray(sizes, dtype=float))
    centred = x - x.mean()
    rng = np.random.default_rng(seed)

    def slope(medians: Float[np.ndarray, "*b m"]) -> Float[np.ndarray, "*b"]:
        return np.log(medians) @ centred / (centred @ centred)

    absolute = [np.abs(np.asarray(v, dtype=float)) for v in values]
    resampled = np.stack(
        [np.median(rng.choice(v, size=(resamples, len(v))), axis=1) for v in absolute], axis=1
    )
    exponent = slope(np.array([np.median(v) for v in absolute]))
    low, high = np.quantile(slope(resampled), [(1 - level) / 2, (1 + level) / 2])
    return Scaling(float(exponent), float(low), float(high), level)
