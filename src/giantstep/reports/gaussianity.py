"""How far the rows are from Gaussian, and what that does to each statement of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from giantstep.problem.tables import kurtosis
from giantstep.reports.answer import in_a_row
from giantstep.reports.columns import Prepared
from giantstep.reports.directions import Direction
from giantstep.reports.interval import Interval, interval

FAR = 0.05
"""Distance from which on a law is called far from Gaussian: a uniform law has .057, a logistic one
.024, three values of probability 1/6, 2/3 and 1/6 have .33."""

LEVEL = 0.05
"""Probability that any direction of Gaussian rows has a distance beyond its noise."""


@dataclass(frozen=True)
class Along:
    """The law of the rows along a direction, standardised.

    kurtosis -> 3 for a Gaussian; distance -> the largest difference between the share of rows below
    a value and that of a Gaussian; noise -> what such a difference of as many Gaussian rows stays
    below; verdict -> far, close, or where the noise would hide a distance of ``FAR`` tails if the
    kurtosis is not 3, else open.
    """

    name: str
    kurtosis: Interval
    distance: float
    noise: float
    verdict: str


@dataclass(frozen=True)
class Gaussianity:
    """Kurtosis of columns, the least and the largest; laws along random directions and found ones.

    random -> means over random directions.
    """

    lightest: str
    heaviest: str
    columns: tuple[Interval, Interval]
    random: Along
    found: tuple[Along, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        low, high = self.columns
        # A direction that no refit found has no rows.
        listed = [a for a in (*self.found, self.random) if math.isfinite(a.distance)]
        verdicts = [_verdict([a.name for a in listed if a.verdict == v], v) for v in VERDICTS]
        kurtosis = (
            f"Kurtosis of columns goes from {low.plain} ({self.lightest}) to {high.plain} "
            f"({self.heaviest}), where a Gaussian has 3."
        )
        free = (
            "Scores, tests of directions, stability, peers and the learning curve are measured on "
            "held-out rows, whatever the law of the inputs."
        )
        return " ".join([*filter(None, verdicts), kurtosis]), free, *self._bound

    @property
    def _bound(self) -> tuple[str, str]:
        """What the verdicts do to the statements that assume Gaussian inputs."""
        far = [each.name for each in self.found if each.verdict == "far"]
        terms = "Terms, leap, generative exponent and staircase assume Gaussian rows along the "
        terms += "directions found"
        if far:
            terms += (
                f": where {in_a_row(far)} {'enters' if len(far) == 1 else 'enter'}, they are "
                "those of a function that is continued to values which the rows do not have"
            )
        steps = "Simulated steps and numbers of rows needed assume Gaussian rows in all directions"
        if far or self.random.verdict == "far":
            steps += ": here they are rough guides only"
        return f"{terms}.", f"{steps}."


VERDICTS = {
    "far": "far from Gaussian",
    "tails": "not quite Gaussian by their kurtosis, and so few rows cannot tell how far from it",
    "open": "perhaps Gaussian, which so few rows cannot tell",
    "close": "close to Gaussian",
}
"""Verdicts in words."""


def _verdict(names: Sequence[str], verdict: str) -> str:
    return f"Along {in_a_row(names)} the rows are {VERDICTS[verdict]}." if names else ""


def gaussianity(
    prepared: Prepared, found: Sequence[Direction], probes: int = 64, seed: int = 0
) -> Gaussianity:
    """Kurtosis of columns, and the laws along random directions and those found."""
    front = prepared.front()
    x = front.fit_transform(prepared.rows)
    deviation = x.std(axis=0)
    names = [n for n, s in zip(prepared.encoded_names(front), deviation, strict=True) if s > 0]
    x = (x[:, deviation > 0] - x[:, deviation > 0].mean(axis=0)) / deviation[deviation > 0]
    key = np.random.default_rng(seed)
    axes = key.standard_normal((x.shape[1], probes))
    columns = kurtosis(x)
    ends = (int(np.argmin(columns)), int(np.argmax(columns)))
    level = LEVEL / (1 + len(found))
    return Gaussianity(
        lightest=names[ends[0]],
        heaviest=names[ends[1]],
        columns=(mean_kurtosis(x[:, ends[:1]]), mean_kurtosis(x[:, ends[1:]])),
        random=law("random directions", x @ (axes / np.linalg.norm(axes, axis=0)), level),
        found=tuple(
            law(f"direction {number}", direction.seen[:, None], level)
            for number, direction in enumerate(found, 1)
        ),
    )


def law(name: str, values: Float[np.ndarray, "n k"], level: float, most: int = 5_000) -> Along:
    """The law of some columns, in the mean over them, with the verdict at a level."""
    values = values[:most]
    here = mean_kurtosis(values)
    if len(values) < 2:
        return Along(name, here, math.nan, math.nan, "open")
    distance = float(np.mean(distances(values)))
    noise = distance_noise(len(values), level)
    # Within one of three: the tails of a logistic law have 4.2, those of a uniform one 1.8.
    differs = not here.low <= 3.0 <= here.high
    if (differs and abs(here.value - 3.0) >= 1.0) or distance > max(noise, FAR):
        return Along(name, here, distance, noise, "far")
    hidden = "tails" if differs else "open"
    return Along(name, here, distance, noise, hidden if noise > FAR else "close")


def distances(values: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " k"]:
    """Kolmogorov's distance of every column, standardised, from the normal law."""
    n, deviation = len(values), np.maximum(values.std(axis=0), 1e-300)
    shares = ndtr(np.sort((values - values.mean(axis=0)) / deviation, axis=0))
    place = np.arange(n)[:, None]
    return np.maximum((place + 1) / n - shares, shares - place / n).max(axis=0)


@cache
def distance_noise(rows: int, level: float, draws: int = 1_000) -> float:
    """What the distance of so many Gaussian rows exceeds with probability ``level`` (Lilliefors).

    The rows are standardised by their own mean and deviation.  A thousand samples give the
    quantile; with more than 500 rows it falls as 1/sqrt(rows).
    """
    drawn = min(rows, 500)
    samples = np.random.default_rng(0).standard_normal((drawn, draws))
    return float(np.quantile(distances(samples), 1.0 - level)) * math.sqrt(drawn / rows)


def mean_kurtosis(values: Float[np.ndarray, "n k"], most: int = 5_000) -> Interval:
    """Mean kurtosis of columns with its standard error, and without its bias for Gaussian rows.

    A row changes the kurtosis k of a column by (z^4 - 2 k z^2 + k)/n, z its standardised value.
    The error is at least that of Gaussian rows, whose sample kurtoses have covariance 24 r^4/n
    where columns correlate by r: the tails that show a larger error are rare in a sample.
    """
    values = values[:most]
    if len(values) < 2:
        return interval(math.nan, math.nan)
    n, z = len(values), (values - values.mean(axis=0)) / values.std(axis=0)
    each = kurtosis(values)
    influence = np.mean(z**4 - 2.0 * each * z**2 + each, axis=1)
    gaussian = 24.0 * float(np.mean((z.T @ z / n) ** 4))
    error = math.sqrt(max(float(np.var(influence)), gaussian) / n)
    # Gaussian rows have mean 3 (n - 1)/(n + 1).  No law has less than 1.
    return interval(float(np.mean(each)) * (n + 1) / (n - 1), error, least=1.0)
