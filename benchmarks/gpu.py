"""Dense engine on an accelerator: floating-point rate of a giant step against the device's own.

d = p = 4096, n = 2^20: one step is 4 n d p operations (preactivations and gradient) and n d normals
drawn on the device.  The yardstick is the device's own product of 8192 x 8192 matrices in the same
precision in the same process.  Does nothing without an accelerator.
"""

from __future__ import annotations

import time
from typing import Any

import jax

from giantstep.problem.setting import Setting
from giantstep.simulation.engines.dense import MATMUL, DenseEngine
from giantstep.simulation.meter import Meter

SIZE, SAMPLES = 4096, 2**20


def matmul_rate(precision: str, size: int = 8192, repeats: int = 8) -> float:
    """Operations a second of a plain square matrix product."""
    with jax.default_matmul_precision(MATMUL[precision]):
        x, w = (jax.random.normal(jax.random.key(k), (size, size)) for k in range(2))
        product: Any = jax.jit(lambda x, w: x @ w)
        product(x, w).block_until_ready()
        start = time.perf_counter()
        for _ in range(repeats):
            result = product(x, w)
        result.block_until_ready()
        seconds = time.perf_counter() - start
    return repeats * 2 * size**3 / seconds


def step_rate(precision: str) -> tuple[float, float]:
    """(operations a second, seconds) of one giant step."""
    setting = Setting(
        "x1 + x2 + x1^2 - x2^2",
        d=SIZE,
        p=SIZE,
        n=SAMPLES,
        steps=2,
        engine="dense",
        readout_n=0,
        test_n=0,
        precision=precision,
    )
    engine = DenseEngine(setting, 32 * 2**30, Meter(1, None))
    engine.begin(0)
    engine.step(0)
    start = time.perf_counter()
    engine.step(1)
    seconds = time.perf_counter() - start
    return 4 * SAMPLES * SIZE**2 / seconds, seconds


def main() -> None:
    """Print both rates for float32 and tf32."""
    if jax.default_backend() == "cpu":
        print("gpu      no accelerator here")
        return
    for precision in ("float32", "tf32"):
        own = matmul_rate(precision)
        rate, seconds = step_rate(precision)
        print(
            f"gpu      {precision}: step {rate / 1e12:6.1f} TFLOP/s in {seconds:.2f} s, "
            f"matmul {own / 1e12:6.1f} TFLOP/s, ratio {rate / own:.2f}"
        )


if __name__ == "__main__":
    main()
