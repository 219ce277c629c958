"""Estimated time over measured time, for random settings of both engines.

On one thread of the processor, by its own time, so that other work on the machine hardly counts;
with ``--device gpu`` on an accelerator, by the clock.  ``--count N`` sets the number of settings of
each engine (40), ``--seed`` which they are, ``--each`` prints them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from giantstep.errors import DivergenceError, InputError
from giantstep.problem.setting import Setting

MOST = {"cpu": 1e10, "gpu": 2e13}
"""Floating-point operations of a setting at most: about a second."""

SHOWN = (
    *("engine", "d", "n", "p", "steps", "batches", "deflate", "ridge", "readout_batch"),
    *("precision", "spectra"),
)
"""Fields that the time depends on."""

LARGER = {"cpu": 0.0, "gpu": 1.0}
"""Powers of ten by which samples and neurons are more on an accelerator."""


def random_setting(rng: np.random.Generator, engine: str, device: str) -> Setting | None:
    """A setting of any kind, None where the fields do not go together."""
    more, dense = LARGER[device], engine == "dense"

    def one(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    try:
        return Setting(
            one("x1 + x1*x2", "He3(x1)", "sign(x1)", "tanh(x1) + x2^2"),
            activation=one("relu", "tanh", "erf", "gelu", "tanh(z + 0.5)"),
            d=int(10 ** rng.uniform(1.8, (3.0 + more if dense else 5.0))),
            p=2 * int(10 ** rng.uniform(0, 2 + more * dense)),
            n=int(10 ** rng.uniform(3.5, (5.0 if dense else 6.0) + more)),
            steps=int(rng.integers(1, 5)),
            step_size=0.1,
            batches=one("fresh", "fresh", "reused"),
            noise=one(0, 0.5),
            deflate=one(-1, -1, 0, 1),
            ridge=one("cv", 0.1),
            readout_n="n",
            precision=one("float32", "float32", "float64"),
            spectra=one(0, 0, 5),
            readout_batch=one("fresh", "fresh", "last"),
            engine=engine,
            device=device,
        )
    except InputError:
        return None


def measure(engine: str, count: int, *, seed: int, device: str, each: bool) -> None:
    """Print the quantiles of the ratios, and how many are within a factor of two."""
    import jax

    clear: Callable[[], None] = jax.clear_caches
    from giantstep.simulation.estimate import estimate
    from giantstep.simulation.simulate import simulate

    rng = np.random.default_rng(seed)
    clock = time.process_time if device == "cpu" else time.perf_counter
    ratios: list[float] = []
    while len(ratios) < count:
        setting = random_setting(rng, engine, device)
        try:
            if setting is None or estimate(setting, calibrate=False).flops > MOST[device]:
                continue
            # Both compile their functions, as in processes of their own.
            clear()
            expected = estimate(setting, threads=1)
            clear()
            begin = clock()
            simulate(setting)
        except (InputError, DivergenceError):
            continue
        ratios.append(expected.seconds / (clock() - begin))
        if each:
            fields = {name: value for name, value in setting.as_dict().items() if name in SHOWN}
            print(f"{ratios[-1]:.2f} of {clock() - begin:.2f} s: {fields}", flush=True)
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    within = np.mean([0.5 <= ratio <= 2.0 for ratio in ratios])
    print(
        f"estimate {engine}, {device}: estimated over measured {median:.2f}, 90 % from {low:.2f} "
        f"to {high:.2f}, {within:.0%} of {count} within a factor of 2, "
        f"least {min(ratios):.2f}, largest {max(ratios):.2f}"
    )


def main() -> None:
    """Both engines."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", action="store_true", help="print every setting")
    parser.add_argument("--device", choices=MOST, default="cpu")
    options, _ = parser.parse_known_args()
    if options.device == "cpu":
        # Before JAX is loaded: one thread, as the rates are for.
        flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        os.environ |= {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    from giantstep.simulation.threads import cores, use_threads

    all_cores = cores()
    for engine in ("deferred", "dense"):
        use_threads(1 if options.device == "cpu" else all_cores)
        measure(engine, options.count, seed=options.seed, device=options.device, each=options.each)
    use_threads(all_cores)


if __name__ == "__main__":
    main()
