"""Giant steps as a plain script would take them: the batch in memory, one thread of NumPy."""

from __future__ import annotations

import numpy as np


def plain_numpy(d: int, n: int, p: int, steps: int) -> None:
    """The staircase target with ReLU neurons, fresh batches of n samples."""
    rng = np.random.Generator(np.random.SFC64(0))
    rows = rng.standard_normal((p, d), dtype=np.float32) / np.float32(np.sqrt(d))
    a = np.where(np.arange(p) % 2 == 0, 1.0, -1.0).astype(np.float32)
    for _ in range(steps):
        x = rng.standard_normal((n, d), dtype=np.float32)
        pre = x @ rows.T
        y = x[:, 0] + x[:, 1] + x[:, 0] ** 2 - x[:, 1] ** 2
        c = (y - np.maximum(pre, 0) @ a / p)[:, None] * (a / p) * (pre > 0)
        rows = rows + np.float32(p / n) * (c.T @ x)
