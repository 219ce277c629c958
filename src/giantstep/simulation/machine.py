"""How fast this machine is: small timed runs, once, and what they say of every kind of work.

``python -m giantstep.simulation.machine ENGINE`` times them in a process of its own with a single
thread, by the time of the processor: other work on the machine then hardly counts.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

import numpy as np

from giantstep.problem.activation import Activation
from giantstep.problem.randomness import generator
from giantstep.problem.setting import Setting
from giantstep.problem.target import Target
from giantstep.simulation.cost import Work, work
from giantstep.simulation.limits import within_limit
from giantstep.simulation.processes import end_with_parent
from giantstep.simulation.rates import (
    Rates,
    fitted_rates,
    keep_rates,
    kept_rates,
    machine_name,
)
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import cores, use_threads

BARE: dict[str, Any] = {"readout_n": 0, "test_n": 0, "d": 10_000, "step_size": 0.1}

PROBES: dict[str, list[dict[str, Any]]] = {
    "deferred": [
        BARE | {"n": 200_000, "p": 2, "steps": 1},
        BARE | {"n": 30_000, "p": 96, "steps": 1},
        BARE | {"n": 50_000, "p": 16, "steps": 1, "activation": "erf"},
        BARE | {"n": 100_000, "p": 2, "steps": 1, "target": "tanh(x1) + sin(x2)"},
        BARE | {"n": 100, "p": 2, "steps": 40},
        BARE | {"n": 1000, "p": 256, "steps": 1},
        BARE | {"n": 30_000, "p": 8, "steps": 3, "batches": "reused"},
        BARE | {"n": 100, "p": 2, "steps": 20, "batches": "reused"},
        BARE | {"n": 4, "p": 4, "steps": 2000, "record": "log"},
        {"n": 100, "p": 2, "steps": 10, "readout_n": 100, "test_n": 100, "step_size": 0.1},
        {"n": 100, "p": 32, "steps": 1, "readout_n": 30_000, "test_n": 30_000, "step_size": 0.1},
    ],
    "dense": [
        BARE | {"d": 50, "n": 200, "p": 8, "steps": 1},
        BARE | {"d": 50, "n": 200, "p": 8, "steps": 20},
        BARE | {"d": 1000, "n": 20_000, "p": 8, "steps": 1},
        BARE | {"d": 500, "n": 10_000, "p": 200, "steps": 1},
        BARE | {"d": 100, "n": 30_000, "p": 128, "steps": 1, "activation": "erf"},
        {"d": 50, "n": 200, "p": 8, "steps": 1, "readout_n": 200, "test_n": 200},
        {"d": 100, "n": 200, "p": 300, "steps": 2, "readout_n": 2000, "test_n": 2000},
        {"d": 200, "n": 200, "p": 32, "steps": 1, "readout_n": 20_000, "test_n": 20_000},
    ],
}
"""Settings in which one kind of work or another prevails, a tenth of a second each."""

HARDLY = ("sides", "matvecs")
"""Work that takes a processor hardly any time beside the cubes and what is moved."""

REPEATS = 2
"""Times a probe is run, the shorter one counts: the first also loads and warms up."""

# What a core of a server of 2023 took, for machines that were not measured.
_CORE = {
    "normals": 8e-9,
    "rows": 2e-8,
    "products": 4e-11,
    "exact": 8e-11,
    "values": 1.0,
    "labels": 1.0,
    "cubes": 1e-9,
    "moved": 5e-9,
    "passes": 5e-4,
    "blocks": 2e-4,
    "steps": 1e-3,
    "moments": 1e-3,
    "small_steps": 1e-4,
    "compiled": 0.3,
}
TYPICAL = {"deferred": Rates(_CORE), "dense": Rates(_CORE)}


def unit_work(setting: Setting) -> dict[str, float]:
    """The work of one run; values of functions in seconds that they take by themselves."""
    done = asdict(work(setting))
    done["values"] *= _activation_time(setting.activation)
    done["labels"] *= _target_time(setting.target)
    return done


@lru_cache(maxsize=64)
def _activation_time(activation: Activation) -> float:
    """Seconds for a value in a block of samples: half of what it takes with its slope."""
    z = np.linspace(-3.0, 3.0, 2**14, dtype=np.float32).reshape(4, -1)
    return _shortest(lambda: activation.with_slope(z)) / (2 * z.size)


@lru_cache(maxsize=64)
def _target_time(target: Target) -> float:
    if target.column:
        return 0.0
    z = np.linspace(-3.0, 3.0, 2**12, dtype=np.float32)
    return _shortest(lambda: target([z] * target.r)) / z.size


def _shortest(function: Any, repeats: int = 5) -> float:
    times = []
    with np.errstate(all="ignore"):
        for _ in range(repeats):
            begin = time.perf_counter()
            function()
            times.append(time.perf_counter() - begin)
    return min(times)


def measured_rates(engine: str) -> Rates:
    """Time the probes of an engine in this process, and fit the seconds of every kind of work."""
    normal, product = _normal_time(), _product_time()
    # In float64 numbers are twice as large.
    timed = {"normals": normal, "rows": 2 * normal, "products": product, "exact": 2 * product}
    timed |= {"values": 1.0, "labels": 1.0}
    others = [field.name for field in fields(Work) if field.name not in (*timed, *HARDLY)]
    probes = []
    for given in PROBES[engine]:
        setting = Setting(**({"target": "x1 + x1*x2", "engine": engine} | given))
        seconds = min(_processor_time(setting) for _ in range(REPEATS))
        probes.append((unit_work(setting), seconds))
    return fitted_rates(timed, others, probes)


def _normal_time() -> float:
    key, out = generator(0, 0, 0, 0), np.empty(2**16, np.float32)
    return _shortest(lambda: key.standard_normal(out=out, dtype=np.float32)) / out.size


def _product_time() -> float:
    """Seconds of a multiply-add in the product of a block of samples with a few neurons."""
    left, right = np.ones((64, 64), np.float32), np.ones((64, 4096), np.float32)
    return _shortest(lambda: left @ right) / (left.size * right.shape[1])


def _processor_time(setting: Setting) -> float:
    begin = time.process_time()
    simulate(setting)
    return time.process_time() - begin


def _measured_speedup() -> float:
    """How many times as fast all threads are as one, in a pass over many samples."""
    setting = Setting("x1 + x1*x2", **(BARE | {"n": 400_000, "p": 8, "steps": 1}))
    times = []
    for threads in (1, all_cores := cores()):
        use_threads(threads)
        times.append(_shortest(lambda: simulate(setting), repeats=2))
    use_threads(all_cores)
    return float(np.clip(times[0] / times[1], 1.0, all_cores))


def known_rates(engine: str) -> Rates | None:
    """The rates of this machine where they were measured, for every kind of work there is."""
    found = kept_rates(machine_name(), engine)
    names = {field.name for field in fields(Work)} - set(HARDLY)
    return found if found is not None and names <= found.seconds.keys() else None


def rates(engine: str, *, again: bool = False) -> Rates | None:
    """The rates of this machine, measured now where they are not known; None without the memory."""
    known = None if again else known_rates(engine)
    if known is not None:
        return known
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "giantstep.simulation.machine", engine]
    # A pipe that only this process holds open: the other one ends with it.
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            command, env=environment, stdin=reading, capture_output=True, text=True
        )
    finally:
        os.close(reading)
        os.close(writing)
    # Below 0: ended by a signal, as by the system where memory is short.
    if done.returncode < 0 or done.returncode == errno.ENOMEM:
        return None
    done.check_returncode()
    found = Rates(**json.loads(done.stdout))
    keep_rates(machine_name(), engine, found)
    return found


def main() -> None:
    """Print the rates of an engine on one thread, and the speedup of all, as JSON."""
    end_with_parent(sys.stdin.read)
    try:
        within_limit()
        speedup = _measured_speedup()
        use_threads(1)
        found = measured_rates(sys.argv[1])
    except MemoryError:
        sys.exit(errno.ENOMEM)
    print(json.dumps(asdict(found) | {"speedup": speedup}))


if __name__ == "__main__":
    main()
