"""Scaling exponents with their intervals, and what they decide."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.records.scaling import Scaling, scaling_exponent

SIZES = [1e3, 1e4, 1e5]


def power_law(
    exponent: float, runs: int, seed: int, sizes: Sequence[float] = SIZES
) -> list[np.ndarray]:
    """Gaussian numbers of size d^exponent, as overlaps are."""
    rng = np.random.default_rng(seed)
    return [d**exponent * rng.standard_normal(runs) for d in sizes]


def test_scaling_exponent_is_within_its_interval_as_often_as_it_says() -> None:
    """Coverage of the 90 % interval in 300 synthetic experiments of 30 runs a size.

    Binomial standard error 1.7 %: between 83 % and 97 %, 4 standard errors, of them hold -1/2;
    an exponent that is wrong by 0.15 is held by fewer.
    """
    found = [
        scaling_exponent(SIZES, power_law(-0.5, 30, seed), level=0.9, resamples=400, seed=seed)
        for seed in range(300)
    ]

    def coverage(exponent: float) -> float:
        return float(np.mean([s.low <= exponent <= s.high for s in found]))

    assert 0.83 < coverage(-0.5) < 0.97
    assert not 0.83 < coverage(-0.35) < 0.97
    assert np.mean([s.exponent for s in found]) == pytest.approx(-0.5, abs=0.02)


@pytest.mark.parametrize("exponent", [0.0, -0.25, -0.5, -1.0])
def test_an_exact_power_law_is_recovered_exactly(exponent: float) -> None:
    """Signs do not matter, nor does the constant; one outlier does not move a median."""
    values = [np.array([3.0, -3.0, 3.0, -3.0, 1e9]) * d**exponent for d in SIZES]
    found = scaling_exponent(SIZES, values, level=0.5)
    assert found.exponent == pytest.approx(exponent, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((exponent, exponent), abs=1e-12)


def test_a_higher_level_has_a_wider_interval() -> None:
    values = power_law(-0.5, 30, 0)
    narrow, wide = (scaling_exponent(SIZES, values, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.exponent < narrow.high < wide.high
    assert scaling_exponent(SIZES, values) == scaling_exponent(SIZES, values)


@pytest.mark.parametrize(
    ("sizes", "exponent", "verdict"),
    [
        (SIZES, 0.0, "learned"),
        (SIZES, -0.5, "not learned"),
        (SIZES, -0.25, "undecided"),
        ([1000, 2000], 0.0, "undecided"),
    ],
)
def test_verdicts(sizes: list[float], exponent: float, verdict: str) -> None:
    """The side of -1/4 at 99 % from 100 runs a size, and none where the sizes are too close.

    Standard error 0.04 over two decades, 0.25 over a factor of two: 4 comparisons, the nearest at
    6 standard errors from -1/4 where a side is expected.
    """
    assert scaling_exponent(sizes, power_law(exponent, 100, 1, sizes)).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.2, 0.1, "learned"),
        (-0.6, -0.3, "not learned"),
        (-0.3, -0.2, "undecided"),
        (-0.25, 0.0, "undecided"),
        (-0.5, -0.25, "undecided"),
    ],
)
def test_an_interval_that_touches_the_boundary_decides_nothing(
    low: float, high: float, verdict: str
) -> None:
    assert Scaling((low + high) / 2, low, high, 0.99).verdict == verdict


GOOD = [np.ones(5), np.full(5, 2.0), np.full(5, 3.0)]


@pytest.mark.parametrize(
    ("sizes", "values", "options"),
    [
        ([1e3], GOOD[:1], {}),
        (SIZES, GOOD[:2], {}),
        ([], [], {}),
        ([1e3, 1e3, 1e3], GOOD, {}),
        ([0, 1e3, 1e4], GOOD, {}),
        ([-1e3, 1e3, 1e4], GOOD, {}),
        (SIZES, [np.ones(0), *GOOD[1:]], {}),
        (SIZES, [np.ones(1), *GOOD[1:]], {}),
        (SIZES, [np.full(5, math.nan), *GOOD[1:]], {}),
        (SIZES, [np.zeros(5), *GOOD[1:]], {}),
        (SIZES, GOOD, {"level": 0.0}),
        (SIZES, GOOD, {"level": 1.5}),
    ],
    ids=[
        "one size",
        "fewer values than sizes",
        "nothing",
        "equal sizes",
        "size zero",
        "negative size",
        "no runs",
        "one run has no interval",
        "not a number",
        "median zero",
        "level 0",
        "level 1.5",
    ],
)
def test_what_has_no_exponent_is_refused(
    sizes: list[float], values: list[np.ndarray], options: dict[str, float]
) -> None:
    with pytest.raises(InputError):
        scaling_exponent(sizes, values, **options)
