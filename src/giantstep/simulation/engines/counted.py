"""Normal numbers by their place alone: sample mu and column j under a key, on any device.

The counter-based generator threefry2x32 with twenty rounds (Salmon, Moraes, Dror and Shaw, 2011):
x(mu, j) is a function of (key, mu, j), so that no number depends on how a batch is cut into chunks
or spread over devices.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """Two random words for two words of a counter, arrays of unsigned 32-bit numbers."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ jnp.uint32(0x1BD11BDA))
    first, second = first + keys[0], second + keys[1]
    for group in range(5):
        for turn in ROTATIONS[group % 2]:
            first = first + second
            second = (second << turn) | (second >> (32 - turn))
            second = second ^ first
        first = first + keys[(group + 1) % 3]
        second = second + keys[(group + 2) % 3] + jnp.uint32(group + 1)
    return first, second


def normals(key: Any, first: Any, second: Any, dtype: Any) -> Any:
    """Standard normal numbers sqrt(2) erf^-1(u), u uniform on an even grid of (-1, 1)."""
    high, low = threefry(key, first, second)
    if jnp.dtype(dtype) == jnp.float64:
        fraction = ((high.astype(jnp.int64) << 21) | (low >> 11).astype(jnp.int64), 2**53)
    else:
        fraction = (((high ^ low) >> 8).astype(jnp.int32), 2**24)
    # Odd whole numbers between -end and end: exact, and never the ends.
    number, end = fraction
    uniform = (2 * number + 1 - end).astype(dtype) * jnp.asarray(1.0 / end, dtype)
    return jnp.asarray(2.0**0.5, dtype) * jax.lax.erf_inv(uniform)


def counted_samples(key: Any, first: Any, *, size: int, d: int, dtype: Any) -> tuple[Any, Any]:
    """Inputs and noise of ``size`` samples from number ``first`` on; four words of a key."""
    numbers = jnp.asarray(first, jnp.uint64) + jnp.arange(size, dtype=jnp.uint64)
    low = numbers.astype(jnp.uint32)
    # Beyond 2^32 samples the other word of the counter goes on where the columns end.
    beyond = (numbers >> 32).astype(jnp.uint32) * jnp.uint32(d)
    columns = jnp.arange(d, dtype=jnp.uint32)
    inputs = normals(key[:2], low[:, None], beyond[:, None] + columns, dtype)
    return inputs, normals(key[2:], low, beyond, dtype)
