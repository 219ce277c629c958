"""Timing shared by the benchmarks: the best of a few, since other work only adds time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def best(function: Callable[[], Any], repeats: int = 5) -> float:
    """Shortest wall time of a call, after one that warms up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
