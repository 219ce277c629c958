"""Kurtosis and distance: Gaussian rows are Gaussian in 95 % of samples, others are seen."""

import numpy as np
import pytest
from scipy.stats import binom, kstest

from giantstep.reports.gaussianity import (
    FAR,
    Along,
    Gaussianity,
    distance_noise,
    distances,
    law,
    mean_kurtosis,
)
from giantstep.reports.interval import interval


def covered(columns: int, scale: float = 1.0, draws: int = 400, rows: int = 150) -> float:
    """Share of samples of Gaussian rows whose interval, ``scale`` times as long, holds 3."""
    key, inside = np.random.default_rng(3), 0
    axes = key.standard_normal((columns, 64 if columns > 1 else 1))
    for _ in range(draws):
        found = mean_kurtosis(key.standard_normal((rows, columns)) @ axes)
        inside += abs(found.value - 3.0) <= scale * (found.high - found.value)
    return inside / draws


def test_intervals_of_gaussian_rows_hold_three() -> None:
    """95 % up to three standard errors of 400 draws, 3.3 %."""
    assert covered(1) > 0.917
    assert covered(6) > 0.917


def test_intervals_of_half_the_length_are_seen() -> None:
    assert covered(6, scale=0.5) < 0.917


def test_a_uniform_law_is_seen() -> None:
    """Its kurtosis is 1.8; 200 rows know it to 0.3."""
    found = mean_kurtosis(np.random.default_rng(0).uniform(-1.0, 1.0, (200, 1)))
    assert found.high < 3.0
    assert abs(found.value - 1.8) < 0.3


THREE = (np.array([-(3.0**0.5), 0.0, 3.0**0.5]), np.array([1.0, 4.0, 1.0]) / 6.0)
"""Values and probabilities of a law with mean 0, variance 1 and kurtosis 3."""


def three_values(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).choice(THREE[0], (rows, 1), p=THREE[1])


def test_three_values_are_far_though_their_kurtosis_is_three() -> None:
    values, weights = THREE
    assert weights @ values**4 == pytest.approx(3.0)
    for seed in range(20):
        found = law("x", three_values(200, seed), 0.05)
        assert found.verdict == "far"
        # Kurtosis alone does not see it.
        near = found.kurtosis.low <= 3.0 <= found.kurtosis.high
        assert near or abs(found.kurtosis.value - 3.0) < 1.0
        # Half of the rows in the middle value lie on one side of it: 1/2 - 1/6.
        assert found.distance == pytest.approx(1 / 3, abs=0.12)


def test_distances_are_those_of_kolmogorov() -> None:
    values = np.random.default_rng(1).exponential(size=(80, 2))
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    assert distances(values) == pytest.approx([kstest(column, "norm").statistic for column in z.T])


@pytest.mark.parametrize("rows", [100, 1_200])
def test_gaussian_rows_exceed_the_noise_at_the_level(rows: int) -> None:
    """500 samples at level .05; a noise that is a fifth less is exceeded too often."""
    samples = distances(np.random.default_rng(rows).standard_normal((rows, 500)))
    allowed = binom.ppf([0.0005, 0.9995], 500, 0.05)
    noise = distance_noise(rows, 0.05)
    assert allowed[0] <= np.sum(samples > noise) <= allowed[1]
    assert np.sum(samples > 0.8 * noise) > allowed[1]
    # Lilliefors (1967) has .886/sqrt(rows) for large numbers of rows.
    assert noise == pytest.approx(0.886 / rows**0.5, rel=0.05)


def test_what_noise_hides_is_left_open() -> None:
    key = np.random.default_rng(0)
    assert law("x", key.standard_normal((100, 1)), 0.05).verdict == "open"
    assert law("x", key.standard_normal((2_000, 1)), 0.05).verdict == "close"
    uniform = law("x", key.uniform(size=(4_000, 1)), 0.05)
    assert uniform.verdict == "far"
    assert uniform.distance > FAR


def test_no_kurtosis_is_below_one() -> None:
    """Two values of about the same frequency have kurtosis 1, with an error."""
    found = mean_kurtosis(np.random.default_rng(0).integers(0, 2, (200, 1)).astype(float))
    assert found.low == 1.0
    assert found.value >= 1.0
    assert found.value - 1.96 * found.error < 1.0


def test_rows_of_another_kurtosis_are_not_perhaps_gaussian() -> None:
    """Student's law with 15 degrees of freedom has kurtosis 3.55: 64 columns of 200 rows see it.

    Its distance from a Gaussian stays within the noise.
    """
    key = np.random.default_rng(0)
    found = law("x", key.standard_t(15, (200, 64)), 0.05)
    assert 3.0 < found.kurtosis.low < found.kurtosis.value < 4.0
    assert found.noise > max(FAR, found.distance)
    assert found.verdict == "tails"
    assert law("x", key.standard_normal((200, 64)), 0.05).verdict == "open"
    columns = (interval(1.8, 0.1), interval(5.0, 0.5))
    text = Gaussianity("a", "b", columns, found, ()).sentences[0]
    assert "Along x the rows are not quite Gaussian by their kurtosis" in text


def test_a_direction_without_rows_has_no_verdict() -> None:
    columns = (interval(1.8, 0.1), interval(5.0, 0.5))
    none = law("direction 1", np.zeros((0, 1)), 0.05)
    random = Along("random directions", interval(3.0, 0.1), 0.02, 0.06, "open")
    text = Gaussianity("a", "b", columns, random, (none,)).sentences[0]
    assert text.startswith("Along random directions the rows are perhaps Gaussian")


def test_each_statement_is_told_what_the_law_does_to_it() -> None:
    def along(name: str, verdict: str) -> Along:
        return Along(name, interval(3.0, 0.1), 0.02, 0.03, verdict)

    columns = (interval(1.8, 0.1), interval(5.0, 0.5))
    mixed = Gaussianity(
        "a", "b", columns, along("random directions", "close"), (along("direction 1", "far"),)
    )
    first, _, terms, steps = mixed.sentences
    assert first.startswith(
        "Along direction 1 the rows are far from Gaussian. Along random directions the rows are "
        "close to Gaussian. Kurtosis of columns goes from 1.80 (1.60 to 2.00) (a) to 5.00"
    )
    assert "where direction 1 enters, they are those of a function that is continued" in terms
    assert steps.endswith("rough guides only.")
    close = Gaussianity(
        "a", "b", columns, along("random directions", "close"), (along("direction 1", "close"),)
    )
    assert close.sentences[0].startswith("Along direction 1 and random directions the rows are")
    assert "continued" not in close.sentences[2]
    assert "rough" not in close.sentences[3]
