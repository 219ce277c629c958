"""Normal numbers by their place alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32
from scipy.stats import kstest

from giantstep.simulation.engines import counted
from giantstep.simulation.engines.counted import counted_samples, normals, threefry

KEY = np.array([7, 2**32 - 5, 12345, 99], dtype=np.uint32)


def samples(first: int, size: int, d: int = 6, dtype: type = np.float32) -> tuple[np.ndarray, ...]:
    with jax.enable_x64(True):
        found = counted_samples(KEY, np.uint64(first), size=size, d=d, dtype=dtype)
        return tuple(np.asarray(part) for part in found)


def test_the_generator_is_that_of_jax() -> None:
    words = np.random.default_rng(0).integers(2**32, size=(2, 50), dtype=np.uint32)
    expected = threefry_2x32(jnp.asarray(KEY[:2]), jnp.asarray(words.ravel()))
    found = threefry(jnp.asarray(KEY[:2]), *jnp.asarray(words))
    np.testing.assert_array_equal(np.concatenate(found), expected)


@pytest.mark.parametrize("first", [0, 1000, 2**32 - 3])
def test_a_sample_is_a_function_of_its_number(first: int) -> None:
    long, noise = samples(first, 10)
    for start in (1, 4, 7):
        part, own = samples(first + start, 3)
        np.testing.assert_array_equal(part, long[start : start + 3])
        np.testing.assert_array_equal(own, noise[start : start + 3])
    assert len(np.unique(np.c_[long, noise])) == long.size + noise.size


@pytest.mark.slow(sentinel="float64")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_standard_normal(dtype: type) -> None:
    """Kolmogorov-Smirnov on 2^17 numbers, level 1e-3; a shift by .02 is rejected."""
    x, noise = samples(5, 2**14, 8, dtype)
    assert x.dtype == dtype
    for values in (x.ravel(), noise):
        assert kstest(values, "norm").pvalue > 1e-3
    assert kstest(x.ravel() + 0.02, "norm").pvalue < 1e-3
    # Neighbours in either direction have nothing to do with each other: within 4 standard errors.
    for left, right in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1]), (x[:, 0], noise)):
        assert abs(np.mean(left * right)) < 4 / np.sqrt(left.size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("word", [0, 2**32 - 1])
def test_the_ends_are_finite_numbers(
    dtype: type, word: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least and the largest word that a generator gives, compiled."""
    words = jnp.full(3, word, jnp.uint32), jnp.zeros(3, jnp.uint32)
    if dtype is np.float64:
        words = words[0], words[0]
    monkeypatch.setattr(counted, "threefry", lambda *_: words)
    with jax.enable_x64(True):
        found = np.asarray(jax.jit(lambda w: normals(KEY, w, w, dtype))(words[0]))
    assert np.all(np.isfinite(found))
    assert np.all(np.sign(found) == (1 if word else -1))
    assert np.all(np.abs(found) > 5)
