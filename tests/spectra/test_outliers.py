"""Outliers: Tracy-Widom's law, the false-positive rate on pure noise, planted spikes found.

False positives are pooled over three shapes and compared with the binomial interval that holds them
with probability .9995 (two-sided).  Six comparisons are made: a true level fails once in 300 seeds.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.stats import binom

from giantstep import InputError, make_activation
from giantstep.spectra.bulk import Bulk
from giantstep.spectra.outliers import centre, count_above, count_outliers
from giantstep.spectra.start import feature_bulk, weight_bulk
from giantstep.spectra.tracy_widom import (
    tracy_widom_cdf,
    tracy_widom_moments,
    tracy_widom_quantile,
)

RUNS = 300
"""Runs a shape."""


def largest(matrix: np.ndarray) -> float:
    """The largest singular value."""
    gram = matrix @ matrix.T if matrix.shape[0] < matrix.shape[1] else matrix.T @ matrix
    last = len(gram) - 1
    return math.sqrt(eigh(gram, eigvals_only=True, subset_by_index=[last, last])[0])


def false_positives(tops: np.ndarray, bulk: Bulk, level: float) -> int:
    return sum(count_outliers(np.array([top]), bulk, level).count for top in tops)


def consistent(found: int, runs: int, level: float) -> bool:
    """Whether so many false positives in so many runs agree with the level."""
    low, high = binom.interval(0.9995, runs, level)
    return bool(low <= found <= high)


def passing(tops: np.ndarray, bulk: Bulk, part: float) -> int:
    """How many pass the edge by only a part of the Tracy-Widom quantile at .01."""
    edge = bulk.upper
    limit = edge.place + edge.shift + part * tracy_widom_quantile(0.99) * edge.scale
    return int(np.sum(tops**2 > limit))


# -- Tracy-Widom ----------------------------------------------------------------------------------


def test_tracy_widom_published_values() -> None:
    mean, variance = tracy_widom_moments()
    assert mean == pytest.approx(-1.2065335745820, abs=1e-10)
    assert variance == pytest.approx(1.607781034581, abs=1e-10)
    assert tracy_widom_quantile(0.95) == pytest.approx(0.9793, abs=5e-5)
    assert tracy_widom_quantile(0.99) == pytest.approx(2.0234, abs=1e-4)
    assert tracy_widom_cdf(-20.0) == 0.0
    assert tracy_widom_cdf(20.0) == 1.0
    with pytest.raises(InputError, match="level must lie between 0 and 1, got 2"):
        count_outliers(np.ones(3), weight_bulk(10, 10), level=2.0)


# -- the false-positive rate ----------------------------------------------------------------------


@pytest.mark.parametrize("start", ["gaussian", "sphere"])
def test_weights_of_pure_noise(start: str) -> None:
    shapes = [(100, 100), (150, 100), (60, 120)]
    found = np.zeros(5, dtype=int)
    for p, d in shapes:
        tops = np.empty(RUNS)
        for run in range(RUNS):
            w = np.random.default_rng([1, p, d, run]).standard_normal((p, d))
            w /= math.sqrt(d) if start == "gaussian" else np.linalg.norm(w, axis=1, keepdims=True)
            tops[run] = largest(w)
        bulk = weight_bulk(p, d, start)
        found += [
            false_positives(tops, bulk, 0.01),
            false_positives(tops, bulk, 0.1),
            passing(tops, bulk, 0.0),
            passing(tops, bulk, 0.5),
            false_positives(tops, replace(bulk, fixed_rows=False), 0.1),
        ]
    runs = RUNS * len(shapes)
    assert consistent(found[0], runs, 0.01)
    assert consistent(found[1], runs, 0.1)
    # No Tracy-Widom term: the edge itself; half of it: the quantile 1.01 in place of 2.02.
    assert not consistent(found[2], runs, 0.01)
    assert not consistent(found[3], runs, 0.01)
    # Rows of fixed length lie lower: noticed when that is left out.
    assert consistent(found[4], runs, 0.1) == (start == "gaussian")


def test_lower_end_of_pure_noise() -> None:
    """Rows on the sphere fall below the lower end as often as stated; its scale is its own."""
    shapes, found, wrong = [(60, 120), (150, 100)], 0, 0
    for p, d in shapes:
        bulk = weight_bulk(p, d)
        low, scale = bulk.ends[0][0], bulk.upper.scale
        for run in range(RUNS):
            w = np.random.default_rng([6, p, run]).standard_normal((p, d))
            w /= np.linalg.norm(w, axis=1, keepdims=True)
            smallest = np.linalg.eigvalsh(w @ w.T if p < d else w.T @ w)[0]
            found += len(count_outliers(np.sqrt([smallest]), bulk, 0.1).below)
            wrong += int(smallest < low.place + low.shift - tracy_widom_quantile(0.9) * scale)
    assert consistent(found, RUNS * len(shapes), 0.1)
    assert not consistent(wrong, RUNS * len(shapes), 0.1)


# -- spikes and their places ----------------------------------------------------------------------


def test_planted_spikes_are_found_where_they_should_be() -> None:
    """theta = 2, 3 above the threshold c^(1/4): sqrt((1 + t^2)(c + t^2))/t; .5 is not seen."""
    p, d = 300, 400
    key = np.random.default_rng(3)
    left = np.linalg.qr(key.standard_normal((p, 3)))[0]
    right = np.linalg.qr(key.standard_normal((d, 3)))[0]
    w = key.standard_normal((p, d)) / math.sqrt(d) + left @ np.diag([3.0, 2.0, 0.5]) @ right.T
    found = count_outliers(
        np.linalg.svd(w, compute_uv=False), weight_bulk(p, d, "gaussian"), level=0.001
    )
    assert (found.count, len(found.below), len(found.between)) == (2, 0, 0)
    predicted = [math.sqrt((1 + t**2) * (p / d + t**2)) / t for t in (3.0, 2.0)]
    # A spike fluctuates by about 1/sqrt(d) = .05.
    np.testing.assert_allclose(found.above, predicted, atol=4 / math.sqrt(d))
    assert found.level == 0.001
    assert found.threshold > weight_bulk(p, d).edges[0][1]


def test_values_below_and_between_are_told_apart() -> None:
    bulk = Bulk(np.array([1.0, 30.0]), np.array([0.25, 0.25]), 400)
    (low, inner), (outer, high) = bulk.edges
    inside = np.array([0.5 * (low + inner), 0.5 * (outer + high)])
    lost = np.array([0.5 * low, 0.5 * (inner + outer), 1.5 * high])
    found = count_outliers(np.r_[inside, lost, 0.0], bulk)
    assert found.below == pytest.approx(lost[:1])
    assert found.between == pytest.approx(lost[1:2])
    assert found.above == pytest.approx(lost[2:])


def test_the_mean_of_the_features_is_a_spike_until_it_is_removed() -> None:
    n, d, p = 300, 150, 200
    key, activation = np.random.default_rng(4), make_activation("relu")
    w = key.standard_normal((p, d))
    phi = np.maximum(key.standard_normal((n, d)) @ (w / np.linalg.norm(w, axis=1)[:, None]).T, 0)
    bulk = feature_bulk(activation, n, d, p)
    for features, count in ((phi, 1), (centre(phi), 0), (centre(phi, neurons=True), 0)):
        values = np.linalg.svd(features / math.sqrt(n), compute_uv=False)
        assert count_outliers(values, bulk, 0.001).count == count
    assert np.abs(centre(phi, neurons=True).mean(axis=1)).max() < 1e-12


def test_margin_without_a_predicted_bulk() -> None:
    found = count_above(np.array([3.0, 2.2, 2.05, 1.0]), edge=2.0)
    assert (found.count, found.threshold, found.level) == (2, pytest.approx(2.1), 1.0)
    with pytest.raises(InputError, match="edge must be positive, got -1"):
        count_above(np.ones(3), -1.0)
    with pytest.raises(InputError, match="margin must not be negative, got -1"):
        count_above(np.ones(3), 1.0, -1.0)
    with pytest.raises(InputError, match="singular_values must be finite"):
        count_above(np.array([math.nan]), 1.0)
