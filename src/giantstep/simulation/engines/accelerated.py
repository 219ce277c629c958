"""Blocks of samples of the deferred engine on an accelerator: large, and drawn there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from giantstep.problem.randomness import generator
from giantstep.simulation.engines.blocks import HostBlocks, Where
from giantstep.simulation.engines.counted import counted_samples
from giantstep.simulation.engines.place import keep_compiled
from giantstep.simulation.engines.traced import JAX

NUMBERS = 2**26
"""Of a block with p neurons and as many coordinates: keeps an accelerator's cores busy."""


class AcceleratedBlocks(HostBlocks):
    """Few large blocks, one after the other."""

    functions = JAX
    keeps = False

    def __init__(self, p: int) -> None:
        keep_compiled()
        self.block = max(NUMBERS // (2 * p + 8), 4096)

    def normals(self, where: Where, index: int, samples: int, columns: int) -> Any:
        """By the numbers of the samples alone, so that nothing depends on the block."""
        setting = where.setting
        key = generator(setting.seed, where.run, where.purpose, where.step).integers(
            2**32, size=4, dtype=np.uint32
        )
        first = np.uint64(index * self.block)
        return _drawn(key, first, size=samples, d=columns, dtype=setting.dtype)

    def array(self, values: Any, like: Any) -> Any:
        """Values with the precision of ``like``."""
        return jnp.asarray(values, dtype=like.dtype)

    def each(self, part: Callable[[int], Any], count: int) -> Iterator[Any]:
        """part(0), part(1), ... in order."""
        return map(part, range(count))

    def added_up(self, parts: Iterator[Sequence[Any]]) -> list[np.ndarray]:
        """Sums of the parts in float64, brought to the host."""
        sums: Any = None
        for part in parts:
            wide = [value.astype(jnp.float64) for value in part]
            sums = wide if sums is None else [s + v for s, v in zip(sums, wide, strict=True)]
        return [np.asarray(value) for value in sums]

    def reduced(
        self, reducer: Callable[..., Any], features: Any, labels: Any, arguments: Sequence[Any]
    ) -> Sequence[Any]:
        """What a reducer makes of the features and labels of a block."""
        values = [jnp.asarray(argument, dtype=features.dtype) for argument in arguments]
        sums: Sequence[Any] = reducer(features, labels, *values)
        return sums


@partial(jax.jit, static_argnames=("size", "d", "dtype"))
def _drawn(key: Any, first: Any, *, size: int, d: int, dtype: Any) -> Any:
    return counted_samples(key, first, size=size, d=d, dtype=dtype)[0]
