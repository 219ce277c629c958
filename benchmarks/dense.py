"""The dense engine on the CPU: against plain loops that hold the batch in memory, and its memory.

Aims: within 1.5 times of the best of a plain NumPy and a plain JAX loop; n = d^2 within the memory
it states (``--full``: d = 4096, several minutes; otherwise d = 1024); two steps at linear width
with all spectra in a minute (``--full``: d = p = 4000, n = 8000).
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from functools import partial
from typing import Any

from benchmarks._plain import plain_numpy
from benchmarks._timing import best
from giantstep.problem.setting import Setting
from giantstep.simulation.cost import peak_bytes
from giantstep.simulation.simulate import simulate

TARGET = "x1 + x2 + x1^2 - x2^2"


def plain_jax(d: int, n: int, p: int, steps: int) -> None:
    """The plain steps as one compiled function."""
    import jax
    import jax.numpy as jnp

    a = jnp.where(jnp.arange(p) % 2 == 0, 1.0, -1.0)

    @jax.jit
    def step(rows: Any, key: Any) -> Any:
        x = jax.random.normal(key, (n, d))
        pre = x @ rows.T
        y = x[:, 0] + x[:, 1] + x[:, 0] ** 2 - x[:, 1] ** 2
        c = (y - jnp.maximum(pre, 0) @ a / p)[:, None] * (a / p) * (pre > 0)
        return rows + p / n * (c.T @ x)

    rows: Any = jax.random.normal(jax.random.key(0), (p, d)) / d**0.5
    for t in range(steps):
        rows = step(rows, jax.random.key(t + 1))
    rows.block_until_ready()


def engine(d: int, n: int, p: int, steps: int) -> None:
    """The same by the dense engine."""
    fields: dict[str, Any] = {"d": d, "n": n, "p": p, "steps": steps, "engine": "dense"}
    simulate(Setting(TARGET, start="sphere", readout_n=0, test_n=0, **fields))


def measure(d: int, memory: int = 2**31) -> None:
    """Time and memory of one step at n = d^2, above a process that has taken a small one."""
    fields: dict[str, Any] = {"engine": "dense", "readout_n": 0, "test_n": 0, "steps": 1, "p": 8}
    simulate(Setting("x1 + x1^2", d=64, n=256, **fields))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    setting = Setting("x1 + x1^2", d=d, n="d^2", **fields)
    start = time.perf_counter()
    simulate(setting, memory=memory)
    seconds = time.perf_counter() - start
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    stated, whole = peak_bytes(setting, memory), setting.n * d * 4
    print(
        f"dense    n = d^2, d = {d}: {seconds:.1f} s, {used / 2**20:.0f} MiB above the process at "
        f"rest, stated {stated / 2**20:.0f} MiB, whole batch {whole / 2**30:.0f} GiB"
    )


def main() -> None:
    """Print the ratios for a few shapes, then the memory of n = d^2."""
    for d, n, p in ((1000, 20_000, 8), (1000, 20_000, 200), (2000, 8000, 1000)):
        loops = (plain_numpy, plain_jax, engine)
        times = {loop.__name__: best(partial(loop, d, n, p, 2), 3) for loop in loops}
        own = times["engine"]
        reference = min(times["plain_numpy"], times["plain_jax"])
        print(
            f"dense    d = {d}, n = {n}, p = {p}, T = 2: engine {own:.2f} s, numpy "
            f"{times['plain_numpy']:.2f} s, jax {times['plain_jax']:.2f} s, ratio to the best "
            f"{own / reference:.2f} (aim below 1.5)"
        )
    width = 4000 if "--full" in sys.argv else 1000
    wide = Setting(
        "x1 + He2(x1)/1.4",
        d=width,
        n="2d",
        p=width,
        steps=2,
        step_size="p^0.9",
        start="gaussian",
        readout_start="gaussian",
        output_scale="1/sqrt(p)",
        readout_n=0,
        test_n=0,
    )
    start = time.perf_counter()
    simulate(wide)
    steps = time.perf_counter() - start
    simulate(wide.vary(spectra=width))
    everything = time.perf_counter() - start - steps
    print(
        f"dense    d = p = {width}, n = {2 * width}, T = 2: steps {steps:.1f} s, with all spectra "
        f"and alignments {everything:.1f} s (aim 60 s at 4000)"
    )
    size = 4096 if "--full" in sys.argv else 1024
    alone = multiprocessing.get_context("spawn").Process(target=measure, args=(size,))
    alone.start()
    alone.join()
    if alone.exitcode:
        sys.exit(alone.exitcode)


if __name__ == "__main__":
    main()
