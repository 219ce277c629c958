"""Singular values of pure noise of given scales, their law fitted to a matrix, its edge and misfit.

A matrix Z of noise has entries of variance a_i b_j/n (m rows, n >= m columns).  Its singular values
follow Marchenko-Pastur's law where all scales are equal, else that of a variance profile.

    deviation  sigma = (sum of the middle half of the singular values of sigma Z)
                       / (sum of the middle half of the law's quantiles),
    misfit     max_i |m F(s_i/sigma) - (i - 1/2)|, a number of singular values,
    edge       log(s_1/sigma) = log sqrt(place) + offset/size + width TW_1,
               width^2 = (scale/(2 place))^2 + spread/size^2,   size = sqrt(m n).

offset and spread gather what is of the next order, the fluctuation of sigma included; they are
measured on noise made of a matrix's own entries in random order, so that it has their distribution:
the threshold of Gaussian noise at .01 is exceeded by entries of Student's law with 8 degrees five
times as often at 20 x 20, by signs a twentieth as often.  The logarithm is what makes Tracy-Widom's
tail serve at small sizes: of 8,000 to 20,000 Gaussian matrices of each of six shapes from 10 x 10
to 50 x 200 .7 to .9 times the stated share exceed the threshold of .01, where without it up to 1.9
times the share do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep.spectra.bulk import Bulk
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.scales import Scales
from giantstep.spectra.tracy_widom import LEAST_TAIL, tail, tracy_widom_cdf, tracy_widom_moments


@dataclass(frozen=True)
class NoiseLaw:
    """Law of the singular values of noise with variances a_i b_j/n, rows the shorter side."""

    scales: Scales

    @cached_property
    def bulk(self) -> Bulk | ProfileBulk:
        """The law in the limit."""
        m, n = self.scales.shape
        if self.scales.equal:
            return Bulk(np.ones(1), np.array([m / n]), n)
        return ProfileBulk(self.scales.rows[:, None], self.scales.columns[:, None])

    @property
    def size(self) -> float:
        """sqrt(m n), in whose powers corrections are counted."""
        m, n = self.scales.shape
        return math.sqrt(m * n)

    @property
    def edge(self) -> float:
        """The upper end, as a singular value."""
        return math.sqrt(self.bulk.upper.place)

    @cached_property
    def curve(self) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"]]:
        """Places from zero to the edge, and the density there."""
        # Trapezoids on so many points give the distribution function to 5e-4.
        places = self.edge * np.sin(np.linspace(0.0, 0.5 * math.pi, 201))
        inside = self.bulk.density(places[1:-1])
        return places, np.r_[inside[0], inside, 0.0]

    @cached_property
    def _distribution(self) -> Float[np.ndarray, " q"]:
        """The distribution function on the places of the curve."""
        places, density = self.curve
        rise = np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(places))
        return np.r_[0.0, rise / rise[-1]]

    @cached_property
    def _middle(self) -> tuple[slice, float]:
        """The middle half of the m ranks, and the sum of the law's quantiles there."""
        m = self.scales.shape[0]
        ranks = slice(m // 4, m - m // 4)
        shares = (np.arange(m)[ranks] + 0.5) / m
        return ranks, float(np.sum(np.interp(shares, self._distribution, self.curve[0])))

    def deviation(self, values: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "..."]:
        """Sigma of matrices with these singular values, in increasing order.

        docs/derivations/layer.md, eq. (2).
        """
        ranks, total = self._middle
        return np.asarray(np.sum(values[..., ranks], axis=-1) / total)

    def misfit(self, values: Float[np.ndarray, " m"]) -> float:
        """By how many values a matrix of sigma 1 is ahead of its law or behind it, at most."""
        m = self.scales.shape[0]
        expected = m * np.interp(values, self.curve[0], self._distribution)
        return float(np.max(np.abs(expected - np.arange(m) - 0.5)))

    @property
    def misfit_limit(self) -> float:
        """The misfit that noise does not exceed, 3/2 + log(m)/2.

        The largest fluctuation of the number of values below a place grows as sqrt(2)/pi = .45
        times log m.  Of 110,000 matrices of noise from 10 x 10 to 300 x 1000, Gaussian, uniform, of
        signs and of Student's law with 8 degrees, less than one in a thousand of any kind and shape
        exceeds this limit.
        """
        return 1.5 + 0.5 * math.log(self.scales.shape[0])


@dataclass(frozen=True)
class Calibration:
    """What drawn noise says of the largest value beyond the law itself.

    Free of size, so that small matrices serve for large ones.
    """

    offset: float
    spread: float

    def _place(self, law: NoiseLaw) -> tuple[float, float]:
        """Place and width of Tracy-Widom's law in log s_1."""
        edge = law.bulk.upper
        width = (0.5 * edge.scale / edge.place) ** 2 + self.spread / law.size**2
        return 0.5 * math.log(edge.place) + self.offset / law.size, math.sqrt(width)

    def threshold(self, law: NoiseLaw, level: float) -> float:
        """The singular value that noise of sigma 1 exceeds with probability ``level``.

        docs/derivations/layer.md, eq. (4).
        """
        place, width = self._place(law)
        return math.exp(place + width * tail(level))

    def p_value(self, law: NoiseLaw, value: float) -> float:
        """Probability that noise of sigma 1 exceeds ``value``, LEAST_TAIL where it is smaller."""
        place, width = self._place(law)
        return max(LEAST_TAIL, 1.0 - tracy_widom_cdf((math.log(value) - place) / width))


def calibrate_noise(
    law: NoiseLaw,
    entries: Float[np.ndarray, " e"],
    seed: int = 0,
    *,
    draws: int = 1000,
    block: int = 100,
    most_rows: int = 48,
    most_entries: int = 10_000,
) -> Calibration:
    """Draw noise of this law's scales, fit sigma to each draw and compare it with the law.

    entries -> entries of one scale and mean zero, which are put in random order; a matrix of more
    than ``most_rows`` or ``most_entries`` is drawn smaller, at the same ratio of sides.  draws ->
    matrices, ``block`` of them at once: the mean of 1000 is known to .03 of the law's deviation.
    """
    m, n = law.scales.shape
    shrink = min(1.0, most_rows / m, math.sqrt(most_entries / (m * n)))
    rows = min(m, max(10, round(m * shrink)))
    if rows < m:
        law = NoiseLaw(law.scales.resized(rows, max(rows, round(n * rows / m))))
    small, deviations = law.scales, law.scales.deviations
    key, unit = np.random.default_rng(seed), entries / math.sqrt(small.shape[1] * entries.var())
    tops = np.empty(draws)
    for first in range(0, draws, block):
        noise = _shuffled(unit, block, small.shape, key) * deviations
        squares = np.linalg.eigvalsh(noise @ noise.swapaxes(1, 2))
        values = np.sqrt(np.maximum(squares, 0.0))
        values /= law.deviation(values)[:, None]
        tops[first : first + block] = np.log(values[:, -1])
    mean, variance = tracy_widom_moments()
    width, edge = float(tops.std(ddof=1)) / math.sqrt(variance), law.bulk.upper
    return Calibration(
        law.size * (float(tops.mean()) - width * mean - 0.5 * math.log(edge.place)),
        law.size**2 * (width**2 - (0.5 * edge.scale / edge.place) ** 2),
    )


def _shuffled(
    entries: Float[np.ndarray, " e"], count: int, shape: tuple[int, int], key: np.random.Generator
) -> Float[np.ndarray, "count m n"]:
    """Matrices of these entries in random order, of a random part of them where there are more."""
    size = math.prod(shape)
    if size < len(entries):
        return key.choice(entries, (count, *shape))
    taken = np.resize(entries, (count, size))
    return key.permuted(taken, axis=1).reshape(count, *shape)


def spike(law: NoiseLaw, value: float, difference: float = 1e-4) -> tuple[float, float, float]:
    """Strength of the outlier that noise moves to ``value``, and the cosines it leaves.

    An outlier theta u v^T beside noise of sigma 1 is seen at s with D(s) = G(s) H(s) = 1/theta^2,
    G and H the means over rows and columns of the resolvent's diagonal, and its singular vectors
    have cos^2 = -2 G/(theta^2 D') (left) and -2 H/(theta^2 D') (right) with u and v: Benaych-
    Georges and Nadakuditi, arXiv 1103.2221, theorems 2.8 and 2.9, for u and v that have nothing to
    do with the scales.  difference -> step of a central difference in units of the distance from
    the edge, which gives D' to 1e-8.

    docs/derivations/layer.md, eq. (5).
    """
    bulk = ProfileBulk(law.scales.rows[:, None], law.scales.columns[:, None])
    step = difference * min(1.0, value / law.edge - 1.0) * value
    left, right = bulk.means(value)
    above, below = (math.prod(bulk.means(value + side * step)) for side in (1, -1))
    slope = (above - below) / (2.0 * step)
    product = left * right
    cosines = (math.sqrt(-2.0 * part * product / slope) for part in (left, right))
    return product**-0.5, *cosines
