"""What is certain: tests against noise of one direction after the other.

Given the first j directions of a span and the readout fitted on them, every kind of step is taken
on what is left of the labels.  Were that noise, some kind would exceed its edge with probability
level, which the kinds share.  A direction is certain where those before it are, and some kind of
step sees more than them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from giantstep.estimator.span import Search


@dataclass(frozen=True)
class NoiseTest:
    """One kind of step on what is left of the labels when ``given`` directions are fitted.

    statistic -> its largest singular value, edge -> what noise exceeds with probability level;
    where ``permuted`` the largest of permutations, which end where one exceeds the statistic.
    """

    given: int
    kind: str
    statistic: float
    edge: float
    level: float
    permuted: bool = False

    @property
    def beyond_noise(self) -> bool:
        """Whether the statistic exceeds the edge."""
        return self.statistic > self.edge


def noise_tests(search: Search, basis: Float[np.ndarray, "c k"]) -> tuple[NoiseTest, ...]:
    """The tests until nothing is seen, or until one is beyond noise with all directions given.

    Without any coordinate there is nothing to test.
    """
    tests: list[NoiseTest] = []
    for given in range(basis.shape[1] + 1 if len(basis) else 0):
        stage = list(_stage(search, basis[:, :given]))
        tests += stage
        if not stage[-1].beyond_noise:
            break
    return tuple(tests)


def _stage(search: Search, basis: Float[np.ndarray, "c j"]) -> Iterator[NoiseTest]:
    """Tests of what is left beside some directions, until one is beyond noise."""
    candidates = search.candidates(search.fit(basis))
    level = search.level / len(candidates)
    # Edges of a formula come before those of permutations, which take time.
    for candidate in candidates:
        statistic = float(candidate.statistics[0])
        edge = candidate.noise(level, statistic)
        test = NoiseTest(
            given=basis.shape[1],
            kind=candidate.kind,
            statistic=statistic,
            edge=edge,
            level=level,
            permuted=candidate.permuted,
        )
        yield test
        if test.beyond_noise:
            return


@dataclass(frozen=True)
class DirectionTest:
    """Whether rows left out need a direction beside the others of the span.

    loss -> mean increase of their squared error without it, as a share of the variance; error ->
    its standard error; p_value -> one-sided, of no increase; level -> what it must stay below.
    """

    loss: float
    error: float
    p_value: float
    level: float

    @property
    def certain(self) -> bool:
        """Whether the p-value is below its level."""
        return self.p_value < self.level


def direction_tests(increases: Float[np.ndarray, "k l"], level: float) -> tuple[DirectionTest, ...]:
    """One test a direction, by Holm's procedure: some is wrongly certain with probability level.

    increases -> of the squared error of every row left out, without each direction.  The smallest
    of k p-values must stay below level/k, the next below level/(k - 1), and so on; after one that
    does not, none is certain.
    """
    k, rows = increases.shape
    means, errors = increases.mean(axis=1), increases.std(axis=1) / math.sqrt(max(rows, 1))
    # Where all differences vanish nothing is lost.
    p_values = np.where(errors > 0, ndtr(-means / np.where(errors > 0, errors, 1.0)), 1.0)
    levels, passed = np.zeros(k), True
    for rank, j in enumerate(np.argsort(p_values)):
        levels[j] = level / (k - rank) if passed else 0.0
        passed = passed and p_values[j] < levels[j]
    return tuple(map(DirectionTest, means, errors, p_values, levels))
