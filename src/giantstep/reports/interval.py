"""Numbers with their uncertainty: every number of a report is one of these.

A score of cross-validation is a mean over rows, but not one of independent terms: row i is
predicted by a fit that has seen row j, and row j by one that has seen row i.  To second order its
deviation is sum_i a(i) + sum over ordered pairs b(i, j), where b(i, j) is what training row j does
to the loss of row i by its noise.  For least squares b(i, j) = b(j, i).  So the sum over pairs has
twice the variance that independent terms would have:

    variance = (variance of the losses + variance of their part of pairs) / rows.

A fit on a share s of the training rows has 1/s times the second part, and the same noise in it: its
losses differ by a part of variance 1/s - 1 times that of the pairs.  Where no such fits are known,
and at most, the second part is folds/(folds - 1) times the first, as of Nadeau and Bengio (2003).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import t as student

LEVEL = 0.95
"""Share of intervals that are to hold the number they are about."""


@dataclass(frozen=True)
class Interval:
    """A number, its standard error, and the interval that holds the truth with probability 95 %."""

    value: float
    error: float
    low: float
    high: float

    @property
    def percent(self) -> str:
        """As a share: 63 % (58 % to 67 %), with more digits the shorter the interval is."""
        ends, reach = (self.value, self.low, self.high), (self.high - self.low) / 2.0
        # An interval reaches at least one and a half units of the last digit that is written.
        digits = 0 if reach >= 0.02 else 1 if reach >= 0.0015 else 2
        value, low, high = (_percent(number, digits) for number in ends)
        return f"{value} ({low} to {high})"

    @property
    def plain(self) -> str:
        """As a number: 0.63 (0.58 to 0.67)."""
        return f"{rounded(self.value)} ({rounded(self.low)} to {rounded(self.high)})"

    @property
    def nothing(self) -> bool:
        """Whether it is zero, and known to be, as of a model that predicts the mean."""
        return max(abs(self.value), abs(self.low), abs(self.high)) < 0.0005

    @property
    def above_zero(self) -> bool:
        """Whether all of the interval is positive, by more than rounding."""
        return self.low > 0.0 and not self.nothing


def rounded(number: float, sign: str = "") -> str:
    """A number with two digits behind the point; zero has no minus."""
    return f"{round(number, 2) + 0.0:{sign}.2f}"


def _percent(share: float, digits: int) -> str:
    """A share in per cent; zero has no minus and no digits."""
    text = f"{100.0 * share:.{digits}f}"
    return f"{'0' if float(text) == 0.0 else text} %"


def interval(
    value: float,
    error: float,
    freedom: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> Interval:
    """The interval of Student's law with so many degrees of freedom, of the normal law if many.

    least, most -> what the number cannot exceed.
    """
    reach = float(student.ppf(0.5 + LEVEL / 2.0, freedom)) * error
    low, high = max(float(value - reach), least), min(float(value + reach), most)
    return Interval(float(value), float(error), low, high)


@dataclass(frozen=True)
class Folds:
    """How losses of held-out rows hang together, because all rows train each other's fits.

    folds -> number of them; change -> losses by fits on a ``share`` of the training rows less those
    by fits on all of them; None where there are no such fits.
    """

    folds: int
    change: Float[np.ndarray, " n"] | None = None
    share: float = 0.5

    def error(self, values: Float[np.ndarray, " n"], groups: Int[np.ndarray, " n"]) -> float:
        """Standard error of a sum of losses."""
        alone = _clustered(values, groups) ** 2
        pairs = alone * self.folds / (self.folds - 1)
        if self.change is not None:
            pairs = min(_clustered(self.change, groups) ** 2 / (1.0 / self.share - 1.0), pairs)
        return math.sqrt(alone + pairs)


def explained(
    losses: Float[np.ndarray, " n"],
    totals: Float[np.ndarray, " n"],
    groups: Int[np.ndarray, " n"],
    folds: Folds | None = None,
) -> Interval:
    """1 - sum of losses/sum of totals, with the standard error of a ratio of means.

    losses -> squared errors of rows that were left out; totals -> those of the mean label; groups
    -> rows with the same inputs count as one draw; folds -> None where rows
    have trained no fit.
    """
    total = max(float(totals.sum()), 1e-300)
    ratio = float(losses.sum()) / total
    return interval(1.0 - ratio, _error(losses - ratio * totals, groups, folds) / total, most=1.0)


def gained(
    losses: Float[np.ndarray, " n"],
    others: Float[np.ndarray, " n"],
    totals: Float[np.ndarray, " n"],
    groups: Int[np.ndarray, " n"],
    folds: Folds | None = None,
) -> Interval:
    """What the ``others`` lose more than these, as a share of the totals, row by row in pairs."""
    total = max(float(totals.sum()), 1e-300)
    differences = others - losses
    value = float(differences.sum()) / total
    return interval(value, _error(differences - value * totals, groups, folds) / total)


def _error(
    values: Float[np.ndarray, " n"], groups: Int[np.ndarray, " n"], folds: Folds | None
) -> float:
    return _clustered(values, groups) if folds is None else folds.error(values, groups)


def _clustered(values: Float[np.ndarray, " n"], groups: Int[np.ndarray, " n"]) -> float:
    """Standard error of a sum of rows that are drawn in groups."""
    sums = np.bincount(groups, weights=values)
    sums = sums[np.bincount(groups) > 0]
    return float(np.std(sums, ddof=1 if len(sums) > 1 else 0)) * math.sqrt(len(sums))


def jackknife(
    values: Float[np.ndarray, "k *m"], centre: Float[np.ndarray, " *m"], folds: int
) -> tuple[Float[np.ndarray, " *m"], float]:
    """Standard errors of what all rows give, from what they give without each fold; its freedom.

    With F folds the variance is (F - 1) times the mean squared deviation from the ``centre``, which
    is what all rows give.  The mean is over the folds without which there are such values.
    """
    squares = np.mean((values - centre) ** 2, axis=0)
    return np.sqrt(squares * (folds - 1)), float(max(len(values) - 1, 1))
