"""Gaussian vectors by their coordinates: Bartlett's matrix, compression, what is revealed."""

import math

import numpy as np
import pytest

from giantstep.gaussian.coordinates import Known, bartlett, compressed


@pytest.mark.parametrize(("k", "m"), [(1, 3), (3, 3), (4, 50), (5, 3)])
def test_bartlett_has_the_law_of_a_gram_matrix(k: int, m: int) -> None:
    """Mean and variance of the Wishart matrix: E = m I, Var = m (2 m on the diagonal).

    20,000 draws, within 5 standard errors in 2 k^2 comparisons; m + 1 degrees are rejected.
    """
    rng = np.random.default_rng(0)
    draws = np.array([bartlett(rng, k, m) for _ in range(20_000)])
    grams = draws @ draws.swapaxes(1, 2)
    error = np.sqrt(m * (1 + np.eye(k)) / len(grams))
    assert np.all(np.abs(grams.mean(axis=0) - m * np.eye(k)) < 5 * error)
    assert not np.all(np.abs(grams.mean(axis=0) - (m + 1) * np.eye(k)) < 5 * error)
    ratio = grams.var(axis=0) / (m * (1 + np.eye(k)))
    # Relative error of a variance: at most sqrt(kurtosis/N) with kurtosis below 20 at m = 3.
    assert np.all(np.abs(ratio - 1) < 5 * math.sqrt(20 / len(grams)))


def test_compression_keeps_every_inner_product() -> None:
    rows = np.random.default_rng(0).standard_normal((4, 15))
    small = compressed(rows, 3)
    assert small.shape == (4, 7)
    np.testing.assert_allclose(small @ small.T, rows @ rows.T, atol=1e-12)
    np.testing.assert_array_equal(small[:, :3], rows[:, :3])


def test_what_is_revealed_is_what_the_combinations_are() -> None:
    """U^T Z_new = L for an orthonormal U, and what is known stays; U itself is the wrong answer."""
    key = np.random.default_rng(0)
    n, d = 30, 50
    known = Known.at_first(key.standard_normal((n, 4)))
    matrices: list[np.ndarray] = []

    def lengths(k: int) -> np.ndarray:
        matrices.append(bartlett(key, k, d - 4))
        return matrices[-1]

    def normals(k: int) -> np.ndarray:
        return key.standard_normal((n, k))

    first = known.reveal(key.standard_normal((n, 3)), lengths, normals)
    np.testing.assert_array_equal(first.data[:, :4], known.data)
    np.testing.assert_allclose(first.used.T @ first.used, np.eye(3), atol=1e-12)
    new = first.data[:, 4:]
    np.testing.assert_allclose(first.used.T @ new, matrices[0], atol=1e-12)
    assert not np.allclose(new, first.used @ matrices[0], atol=0.1)
    # The second combinations are those of the first and one more: one new direction.
    c = np.concatenate([first.used, key.standard_normal((n, 1))], axis=1)
    second = first.reveal(c, lengths, normals)
    assert second.data.shape == (n, 8)
    # Outside what was known, the combinations used before have nothing left.
    np.testing.assert_allclose(first.used.T @ second.data[:, 7:], 0.0, atol=1e-12)
    assert second.reveal(c, lengths, normals).data.shape == (n, 8)
