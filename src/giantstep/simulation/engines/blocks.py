"""Where the deferred engine computes with blocks of samples: in NumPy on the cores of the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.language.functions import NUMPY, Namespace
from giantstep.problem.randomness import generator
from giantstep.problem.setting import Setting
from giantstep.simulation.table import reduced
from giantstep.simulation.threads import added_up, ordered, single_blas


@dataclass(frozen=True)
class Where:
    """The stream that a block is of: run, purpose and step."""

    setting: Setting
    run: int
    purpose: int
    step: int


class HostBlocks:
    """Blocks that stay in the cache, a few at a time in threads."""

    block = 4096
    functions: Namespace = NUMPY
    keeps = True
    """Whether blocks are worth keeping for a second pass."""

    def normals(self, where: Where, index: int, samples: int, columns: int) -> Any:
        """Standard normal numbers of block ``index``."""
        setting = where.setting
        rng = generator(setting.seed, where.run, where.purpose, where.step, index)
        return rng.standard_normal((samples, columns), dtype=setting.dtype)

    def array(self, values: Any, like: Any) -> Any:
        """Values with the precision of ``like``."""
        return np.asarray(values, dtype=like.dtype)

    def each(self, part: Callable[[int], Any], count: int) -> Iterator[Any]:
        """part(0), part(1), ... in order."""
        with single_blas(when=count > 1):
            yield from ordered(part, count)

    def added_up(self, parts: Iterator[Sequence[Any]]) -> list[np.ndarray]:
        """Sums of the parts in float64."""
        return added_up(parts)

    def reduced(
        self, reducer: Callable[..., Any], features: Any, labels: Any, arguments: Sequence[Any]
    ) -> Sequence[Any]:
        """What a reducer makes of the features and labels of a block."""
        return reduced(reducer, features, labels, arguments)


HOST = HostBlocks()
