"""A measured number, what a claim says of it, and the verdict that follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.records.scaling import scaling_exponent

Verdict = Literal["holds", "fails", "undecided"]

Region = tuple[float, float]
"""The interval a claim puts a quantity into; infinite ends are allowed."""

LEVEL = 0.99
"""Of every interval in a verdict."""

STANDARD_ERRORS = 4.0
"""A measured number may be that far from a predicted one: by chance once in 16,000 quantities."""

LEARNED: Region = (-0.25, math.inf)
NOT_LEARNED: Region = (-math.inf, -0.25)
"""Exponents in d of a cosine: 0 for a learned direction, -1/2 for a random one; halfway between."""

FALLS: Region = (-math.inf, -0.1)
"""Exponent of an excess that tends to zero; one that stays has the exponent 0."""


@dataclass(frozen=True)
class Quantity:
    """A number that a claim measures: its interval, its region, the number that theory gives.

    ``mean_of`` and ``exponent_of`` make one of the numbers of runs.  ``region`` is the interval
    where the claim puts the number.  The verdict is "holds" where the measured interval lies inside
    the region, "fails" where it lies outside, else "undecided".

    ``expected`` is the number theory gives, where it gives one, ``error`` the standard error of the
    difference from it, widened for few runs so that four of it are as rare as four of a Gaussian,
    and ``allowance`` what the finite size may add to the difference; it shrinks as the size grows.
    A count or a p-value has no interval: low = high = measured.
    """

    name: str
    measured: float
    low: float
    high: float
    region: Region
    expected: float | None = None
    error: float = 0.0
    allowance: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Holds if the whole interval is inside the region and the number is as predicted.

        Fails if the whole interval is outside, or the number is further from the predicted one
        than four standard errors and the allowance.
        """
        if self.high < self.region[0] or self.low > self.region[1] or not self.as_predicted:
            return "fails"
        inside = self.region[0] <= self.low and self.high <= self.region[1]
        return "holds" if inside else "undecided"

    @property
    def as_predicted(self) -> bool:
        """|measured - expected| <= 4 error + allowance; true where nothing is predicted."""
        if self.expected is None:
            return True
        return abs(self.measured - self.expected) <= STANDARD_ERRORS * self.error + self.allowance

    @property
    def deviation(self) -> float | None:
        """(measured - expected) in standard errors, None where there is nothing to compare."""
        if self.expected is None or self.error == 0.0:
            return None
        return (self.measured - self.expected) / self.error


def exact(
    name: str,
    value: float,
    region: Region,
    expected: float | None = None,
    *,
    allowance: float = 0.0,
) -> Quantity:
    """A number without an interval, such as a count or a p-value."""
    value = float(value)
    return Quantity(name, value, value, value, region, expected, allowance=allowance)


def mean_of(
    name: str,
    values: Sequence[float] | Float[np.ndarray, " runs"],
    region: Region,
    expected: float | None = None,
    *,
    expected_error: float = 0.0,
    allowance: float = 0.0,
) -> Quantity:
    """The mean over runs of a number of each run, as a quantity of a claim.

    Its interval is that of Student's t at level 0.99.  ``region`` is where the claim puts the mean,
    ``expected`` the number that theory gives, which must be met within four standard errors beside
    ``allowance``; ``expected_error`` is the standard error of the predicted number.

    >>> from giantstep import mean_of
    >>> cosines = [0.70, 0.69, 0.71, 0.70, 0.72, 0.71]
    >>> mean_of("cosine", cosines, (0.6, 0.8)).verdict
    'holds'
    >>> mean_of("cosine", cosines, (0.6, 0.8), expected=0.5).verdict
    'fails'
    """
    from scipy.special import ndtr, stdtrit

    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or len(values) < 2 or not np.all(np.isfinite(values)):
        raise InputError(
            f"{name} must be a finite number for each of at least 2 runs, got {shown(values)}"
        )
    mean, error = float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))
    freedom = len(values) - 1
    half = float(stdtrit(freedom, 0.5 + 0.5 * LEVEL)) * error
    # So many standard errors of Student's t are as rare as four of a Gaussian.
    widened = error * float(stdtrit(freedom, ndtr(STANDARD_ERRORS))) / STANDARD_ERRORS
    return Quantity(
        name,
        mean,
        mean - half,
        mean + half,
        region,
        expected,
        error=math.hypot(widened, expected_error),
        allowance=allowance,
    )


def exponent_of(
    name: str,
    sizes: Sequence[float],
    values: Sequence[Sequence[float] | Float[np.ndarray, " runs"]],
    region: Region,
    expected: float | None = None,
    *,
    allowance: float = 0.0,
) -> Quantity:
    """The exponent of the median over runs in the size, as a quantity of a claim.

    Its interval is a bootstrap interval at level 0.99.  ``values`` are the numbers of the runs at
    each of ``sizes``; ``region``, ``expected`` and ``allowance`` are those of ``mean_of``.

    >>> from giantstep import exponent_of
    >>> runs = [[0.31, 0.32, 0.33], [0.10, 0.11, 0.12]]
    >>> exponent_of("cosine", [100, 1000], runs, (-0.6, -0.4)).verdict
    'holds'
    """
    fit = scaling_exponent(sizes, [np.asarray(v, dtype=float) for v in values], LEVEL)
    # The interval of level 0.99 is 5.15 standard errors wide.
    error = (fit.high - fit.low) / 5.15
    return Quantity(
        name,
        fit.exponent,
        fit.low,
        fit.high,
        region,
        expected,
        error=error,
        allowance=allowance,
    )


def drift(sizes: Sequence[float], factor: float = 1.0, power: float = 0.5) -> float:
    """What a factor 1 + ``factor`` size^-``power`` adds to an exponent fitted over the sizes.

    At most log(1 + factor min(sizes)^-power)/log(max(sizes)/min(sizes)): it shrinks as the sizes
    grow.  Where theory gives the power and not the factor, a claim names the factor as tuned.
    """
    smallest, largest = min(sizes), max(sizes)
    return math.log1p(factor * smallest**-power) / math.log(largest / smallest)


def floor_from_both_sides(
    name: str,
    sizes: Sequence[float],
    errors: Sequence[Float[np.ndarray, " runs"]],
    floor: float,
    *,
    leaks: Sequence[float],
    falls: Region = FALLS,
) -> list[Quantity]:
    """Errors are never below the floor, and their excess over it falls with the size.

    The first quantity is the smallest excess (error - floor)/floor over the sizes beside the share
    ``leaks`` of the floor that may leak at each of them, the second the exponent of the excess.
    """
    excess = [np.asarray(values, dtype=float) / floor - 1.0 for values in errors]
    lowest = min(range(len(sizes)), key=lambda k: float(excess[k].mean()) + leaks[k])
    return [
        mean_of(f"{name}: never below", excess[lowest], (-leaks[lowest], math.inf)),
        exponent_of(f"{name}: exponent of the excess", sizes, excess, falls),
    ]


def quantity_dict(quantity: Quantity) -> dict[str, Any]:
    """Plain values; infinite ends of a region are None."""
    record = asdict(quantity)
    record["region"] = [end if math.isfinite(end) else None for end in quantity.region]
    return record | {"verdict": quantity.verdict, "deviation": quantity.deviation}
