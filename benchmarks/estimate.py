"""Estimated time over measured time, for random settings of both engines on one thread.

Measured is the time of the processor, so that other work on the machine hardly counts.  ``--count
N`` sets the number of settings of each engine (40), ``--seed`` which they are.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import numpy as np

from giantstep.errors import DivergenceError, InputError
from giantstep.problem.setting import Setting

MOST = 1e10
"""Floating-point operations of a setting at most: about a second."""


def random_setting(rng: np.random.Generator, engine: str) -> Setting | None:
    """A setting of any kind, None where the fields do not go together."""

    def one(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    try:
        return Setting(
            one("x1 + x1*x2", "He3(x1)", "sign(x1)", "tanh(x1) + x2^2"),
            activation=one("relu", "tanh", "erf", "gelu", "tanh(z + 0.5)"),
            d=int(10 ** rng.uniform(1.8, 3.0 if engine == "dense" else 5.0)),
            p=2 * int(10 ** rng.uniform(0, 2)),
            n=int(10 ** rng.uniform(3.5, 5.0 if engine == "dense" else 6.0)),
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
        )
    except InputError:
        return None


def measure(engine: str, count: int, seed: int) -> None:
    """Print the quantiles of the ratios, and how many are within a factor of two."""
    from giantstep.simulation.estimate import estimate
    from giantstep.simulation.simulate import simulate

    rng = np.random.default_rng(seed)
    ratios: list[float] = []
    while len(ratios) < count:
        setting = random_setting(rng, engine)
        try:
            expected = None if setting is None else estimate(setting, threads=1)
            if setting is None or expected is None or expected.flops > MOST:
                continue
            begin = time.process_time()
            simulate(setting)
        except (InputError, DivergenceError):
            continue
        ratios.append(expected.seconds / (time.process_time() - begin))
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    within = np.mean([0.5 <= ratio <= 2.0 for ratio in ratios])
    print(
        f"estimate {engine}: estimated over measured {median:.2f}, 90 % from {low:.2f} to "
        f"{high:.2f}, {within:.0%} of {count} within a factor of 2, "
        f"least {min(ratios):.2f}, largest {max(ratios):.2f}"
    )


def main() -> None:
    """Both engines."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options, _ = parser.parse_known_args()
    # Before JAX is loaded: one thread, as the rates are for.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    from giantstep.simulation.threads import cores, use_threads

    all_cores = cores()
    for engine in ("deferred", "dense"):
        use_threads(1)
        measure(engine, options.count, options.seed)
    use_threads(all_cores)


if __name__ == "__main__":
    main()
