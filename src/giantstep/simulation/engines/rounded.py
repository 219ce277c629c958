"""Products of samples in the precision of a setting: bfloat16 and three of its products included.

A number is rounded to eight bits (bf16: relative errors up to 2^-9), or split into two such parts
whose three larger products are added up (bf16x3: up to 2^-16); products are exact and their sums in
float32.  Roundings of many samples are nearly independent, and a giant step averages over them.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

MATMUL = {
    "float32": "highest",
    "float64": "highest",
    "tf32": "tensorfloat32",
    "bf16": "tensorfloat32",
    "bf16x3": "highest",
}
"""Of every other product: readouts have few samples beside the steps."""


def product(left: Any, right: Any, precision: str) -> Any:
    """left @ right."""
    if not precision.startswith("bf16"):
        return left @ right
    (high, low), (up, down) = _parts(left), _parts(right)
    if precision == "bf16":
        return _multiplied(high, up)
    return _multiplied(high, up) + (_multiplied(high, down) + _multiplied(low, up))


def _parts(values: Any) -> tuple[Any, Any]:
    """The numbers rounded to bfloat16 (8 bits of exponent, 7 of mantissa), and what is left."""
    # A conversion there and back would be taken for none by the compiler.
    high = jax.lax.reduce_precision(values, 8, 7)
    return high, jax.lax.reduce_precision(values - high, 8, 7)


def _multiplied(left: Any, right: Any) -> Any:
    parts = (left.astype(jnp.bfloat16), right.astype(jnp.bfloat16))
    return jnp.matmul(*parts, preferred_element_type=jnp.float32)
