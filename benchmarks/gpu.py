"""Dense engine on an accelerator: rate of a giant step, where its time goes, and large networks.

d = p = 4096, n = 2^20: one step is 4 n d p operations (preactivations and gradient) and n d normals
drawn on the device.  The yardstick is the device's own product of 8192 x 8192 matrices in the same
precision in the same process, for as long as a step takes.  Then two steps at d = p = 16384,
n = 4d, with leading and with all singular values and their parts, a readout of 16384 neurons on
65536 samples, and the deferred engine on the accelerator beside the processor.  Does nothing
without an accelerator; ``--size N`` takes another size than 16384, and ``--first`` prints only what
auto chooses, and what first and second runs of either choice take, compiling included.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from giantstep.problem.randomness import Purpose
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.dense import DenseEngine
from giantstep.simulation.engines.place import Context
from giantstep.simulation.engines.rounded import MATMUL, product
from giantstep.simulation.estimate import estimate
from giantstep.simulation.matrices import row_spectrum, rows_span
from giantstep.simulation.meter import Meter
from giantstep.simulation.simulate import MEMORY, simulate
from giantstep.simulation.threads import cores

SIZE, SAMPLES = 4096, 2**20

LASTING = 0.3
"""Seconds of products.  Those of tf32 run at 1980 MHz and 391 TFLOP/s for hundredths of a second
on an H200, then at what 700 W allow, 1500 to 1635 MHz and 346 TFLOP/s: a step at 295 is .75 of the
one and .85 of the other."""

wait: Any = jax.block_until_ready


def seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    """Of one call, after a first one that compiles."""
    wait(function())
    start = time.perf_counter()
    for _ in range(repeats):
        result = function()
    wait(result)
    return (time.perf_counter() - start) / repeats


def matmul_rate(precision: str, size: int = 8192) -> float:
    """Operations a second of a plain square matrix product."""
    with Context(MATMUL[precision]):
        x, w = (jax.random.normal(jax.random.key(k), (size, size), np.float32) for k in range(2))
        multiplied: Any = jax.jit(lambda x, w: product(x, w, precision))
        repeats = math.ceil(LASTING / seconds(lambda: multiplied(x, w)))
        return 2 * size**3 / seconds(lambda: multiplied(x, w), repeats)


def engine_of(precision: str) -> DenseEngine:
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
    engine = DenseEngine(setting, MEMORY, Meter(1, None))
    engine.begin(0)
    return engine


def step_rate(precision: str) -> tuple[float, float]:
    """(operations a second, seconds) of one giant step."""
    engine = engine_of(precision)
    engine.step(0)
    start = time.perf_counter()
    engine.step(1)
    wait(engine.weights)
    taken = time.perf_counter() - start
    return 4 * SAMPLES * SIZE**2 / taken, taken


def split(precision: str) -> dict[str, float]:
    """Seconds of the parts of one giant step, each by itself."""
    engine = engine_of(precision)
    stream, size = engine.batch(0), engine.plan.chunk
    chunks = SAMPLES / size
    with engine.context():
        inputs, noise = engine.draw(Purpose.BATCH, 0, 0, size, SAMPLES)
        counts = np.ones(size, dtype=bool)
        readout = engine.readout.astype(engine.setting.dtype)

        def gradient() -> Any:
            return engine.gradient(inputs, noise, counts, stream.layer, stream.fit, readout)

        forward: Any = jax.jit(lambda w, x: product(w, x.T, precision))
        backward: Any = jax.jit(lambda c, x: product(c, x, precision))
        c = forward(engine.weights, inputs)
        part = gradient()
        added: Any = jax.jit(lambda a, b: [x + y for x, y in zip(a, b, strict=True)])
        parts = {
            "generate": seconds(lambda: engine.draw(Purpose.BATCH, 0, 0, size, SAMPLES)),
            "forward": seconds(lambda: forward(engine.weights, inputs)),
            "backward": seconds(lambda: backward(c, inputs)),
            "forward, slopes, labels and backward": seconds(gradient),
            "sums": seconds(lambda: added(part, part)),
        }
        return {name: chunks * value for name, value in parts.items()}


def wide_parts(size: int) -> dict[str, float]:
    """Seconds of what a wide run does beside its steps, each by itself and compiled before."""
    setting = Setting("x1 + x1*x2", start="sphere", **wide(size) | {"readout_n": 0, "test_n": 0})
    engine = DenseEngine(setting, MEMORY, Meter(1, None))
    begin = time.perf_counter()
    engine.begin(0)
    wait(engine.weights)
    found = {"start": time.perf_counter() - begin}
    with engine.context():
        layer = engine.layer
        gram, overlap = layer.gram, layer.overlap
        found["Gram matrix"] = seconds(lambda: engine.layer.gram, 2)
        found["span of the rows"] = seconds(lambda: rows_span(overlap, gram, longest=1.0), 2)
        found["8 leading singular values"] = seconds(lambda: row_spectrum(gram, overlap, 8), 1)
        found["all singular values"] = seconds(lambda: jnp.linalg.eigvalsh(gram), 1)
    return found


def wide(size: int) -> dict[str, Any]:
    return {"d": size, "p": size, "n": 4 * size, "steps": 2, "engine": "dense", "precision": "tf32"}


def large(size: int) -> None:
    """Print the seconds of two steps with leading or all singular values, and of a readout."""
    base = wide(size) | {"start": "sphere", "output_scale": "1/sqrt(p)", "step_size": 2.0}
    steps = base | {"readout_n": 0, "test_n": 0}
    readout = base | {"steps": 0, "readout_n": 4 * size, "test_n": size, "ridge": 1e-3}
    for name, fields in {
        "two steps, 8 leading singular values": steps | {"spectra": 8},
        "two steps, all singular values": steps | {"spectra": size},
        f"readout on {4 * size} samples": readout,
        f"readout on {4 * size} samples, cv": readout | {"ridge": "cv"},
    }.items():
        start = time.perf_counter()
        simulate(Setting("x1 + x1*x2", activation="tanh", **fields))
        print(f"gpu d = p = {size}: {name} in {time.perf_counter() - start:.1f} s", flush=True)


def deferred() -> None:
    """Print the seconds of a giant step of the deferred engine on both, twice each."""
    for n, p in ((10**6, 8), (10**7, 8), (10**8, 8), (10**6, 128), (10**7, 128)):
        fields: dict[str, Any] = {
            "d": 10**6,
            "n": n,
            "p": p,
            "steps": 1,
            "readout_n": 0,
            "test_n": 0,
        }
        times = []
        for device in ("cpu", "gpu", "gpu"):
            begin = time.perf_counter()
            simulate(Setting("x1 + x1*x2", engine="deferred", device=device, **fields))
            times.append(time.perf_counter() - begin)
        print(
            f"gpu deferred n = {n:.0e}, p = {p}: {times[0]:.2f} s on {cores()} cores, "
            f"{times[1]:.2f} s on the accelerator, {times[2]:.2f} s the second time",
            flush=True,
        )


CHOICES: dict[str, dict[str, Any]] = {
    "deferred, p = 8": {"d": 10**6, "n": 10**6, "p": 8},
    "deferred, p = 128": {"d": 10**6, "n": 10**6, "p": 128},
    "deferred, p = 1024": {"d": 10**6, "n": 10**5, "p": 1024},
    "dense, small": {"d": 200, "n": 800, "p": 100, "engine": "dense"},
    "dense, small, readout": {"d": 200, "n": 800, "p": 100, "engine": "dense"}
    | {"readout_n": 800, "test_n": 800},
    "dense, medium": {"d": 2000, "n": 8000, "p": 1000, "engine": "dense"},
    "dense, large": {"d": 4096, "n": 2**17, "p": 4096, "engine": "dense"},
}
"""Settings of one step, with the engine that is tried; auto takes the deferred one for the first
three."""


def choices() -> None:
    """Print what auto takes, and the seconds of the first and the second run with each device.

    A first run compiles: compiled functions stay in the user's cache folder, and a second process
    shows what that saves.  JAX_ENABLE_COMPILATION_CACHE=false shows what it costs without.
    """
    plain: dict[str, Any] = {"steps": 1, "readout_n": 0, "test_n": 0, "runs": 1}
    for name, fields in CHOICES.items():
        setting = Setting("x1 + x1*x2", **plain | fields)
        chosen = estimate(setting, calibrate=False)
        times = {}
        for device in ("cpu", "gpu"):
            for number in ("first", "second"):
                begin = time.perf_counter()
                simulate(setting.vary(device=device, engine=chosen.engine))
                times[device, number] = time.perf_counter() - begin
        best = min(times["cpu", "first"], times["gpu", "first"])
        print(
            f"gpu choice {name}: auto takes {chosen.engine} on {chosen.device}, "
            + ", ".join(f"{' '.join(key)} {value:.2f} s" for key, value in times.items())
            + f"; its first run over the faster one: {times[chosen.device, 'first'] / best:.1f}",
            flush=True,
        )


def main() -> None:
    """Print rates, parts and large runs; with ``--first`` only what auto chooses and misses."""
    if jax.default_backend() == "cpu":
        print("gpu: no accelerator")
        return
    if "--first" in sys.argv:
        choices()
        return
    for precision in ("float32", "tf32", "bf16x3", "bf16"):
        own, (rate, taken) = matmul_rate(precision), step_rate(precision)
        print(
            f"gpu {precision}: a step at d = p = {SIZE}, n = {SAMPLES} in {taken:.3f} s, "
            f"{rate / 1e12:.0f} TFLOP/s, {rate / own:.2f} of {own / 1e12:.0f} for a product",
            flush=True,
        )
        for name, value in split(precision).items():
            print(f"gpu {precision}:   {name} {value:.4f} s", flush=True)
    size = int(sys.argv[sys.argv.index("--size") + 1]) if "--size" in sys.argv else 16384
    for name, value in wide_parts(size).items():
        print(f"gpu d = p = {size}:   {name} {value:.2f} s", flush=True)
    large(size)
    deferred()


if __name__ == "__main__":
    main()
