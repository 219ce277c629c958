"""What runs take on an accelerator, and how fast it is: parts timed by themselves and small runs.

Most of a short run is compiling: each probe runs twice, and what the first run takes more than the
second is what its functions took to compile.  A process that has just begun takes some seconds
more until the accelerator answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from giantstep.problem.randomness import generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS
from giantstep.simulation.cost import DECOMPOSITION, work
from giantstep.simulation.engines.accelerated import AcceleratedBlocks
from giantstep.simulation.engines.blocks import HOST
from giantstep.simulation.engines.chunks import CHUNK_NUMBERS
from giantstep.simulation.engines.counted import counted_samples
from giantstep.simulation.engines.place import Context, Place
from giantstep.simulation.engines.rounded import MATMUL, product
from giantstep.simulation.rates import (
    Rates,
    fitted_rates,
    keep_rates,
    kept_rates,
    machine_name,
)
from giantstep.simulation.simulate import choose_engine, simulate

BARE: dict[str, Any] = {"readout_n": 0, "test_n": 0, "step_size": 0.1, "start": "sphere"}
SMALL = BARE | {"d": 64, "n": 256, "p": 8, "steps": 1}

PROBES: dict[str, list[dict[str, Any]]] = {
    # Each shape of a block takes seconds to compile: whole blocks have one.
    "deferred": [
        BARE | {"d": 10_000, "n": 1000, "p": 2, "steps": 20},
        BARE | {"d": 10_000, "n": 4 * AcceleratedBlocks(2).block, "p": 2, "steps": 1},
        BARE | {"d": 10_000, "n": 4 * AcceleratedBlocks(96).block, "p": 96, "steps": 2},
        SMALL | {"d": 10_000, "n": 5000, "p": 16, "readout_n": 10**6, "test_n": 1000, "ridge": 0.1},
    ],
    "dense": [
        SMALL,
        SMALL | {"d": 80, "n": 320, "p": 10, "steps": 50},
        SMALL | {"d": 96, "n": 384, "p": 12, "readout_n": 448, "test_n": 480},
        SMALL | {"d": 4096, "n": 2**23, "p": 16},
        SMALL | {"d": 4096, "n": 2**19, "p": 2048, "steps": 2},
        SMALL | {"d": 3584, "n": 2**21, "p": 2304, "steps": 2, "precision": "tf32"},
        SMALL | {"d": 512, "n": 2048, "p": 1024, "readout_n": 8192, "test_n": 8192},
        SMALL | {"d": 1024, "n": 2048, "p": 512, "steps": 2, "spectra": 8},
    ],
}
"""Settings in which one kind of work or another prevails, up to a second each once compiled.

No two of the dense engine have a d and a p in common: every operation of theirs is compiled, as in
a run that comes first.  Of probes that shared shapes most was compiled already, and estimates were
a fifth of what ten runs on an H200 took; without these probes they were 0.75 to 1.28 of it.
"""

FITTED = {
    "deferred": ("cubes", "passes", "blocks", "steps", "moments", "small_steps"),
    "dense": ("matvecs", "passes", "blocks", "steps", "moments"),
}
"""What cannot be timed by itself; the deferred engine decomposes on the host."""

COMPILED = ("compiled", "tuned")
"""What only the first run of a setting in a process takes."""

TUNED = 128
"""Sides of matrices from which on more kernels are tried for a float32 product."""

SHORTEST = 0.1
"""Seconds of compiling; less is chance, as where another probe has had the same shapes."""

BUDGET = 60.0
"""Seconds of probes after which no other is begun: people wait for the estimate."""

SIZE = 4096
"""Of the square matrices that parts are timed with: enough for an accelerator to be busy."""

# What one H200 took, for accelerators that were not measured: parts timed by themselves and fitted
# to probes; normals from 2^23 samples of 4096 in the 0.35 s that compiling left of their run.
TYPICAL = {
    "deferred": Rates(
        {
            "normals": 6.4e-12,
            "products.float32": 3.9e-14,
            "exact": 3.4e-14,
            "values": 3e-11,
            "labels": 3e-11,
            "cubes": 1e-9,
            "blocks": 6e-3,
            "steps": 2e-3,
            "moments": 1e-3,
            "compiled": 3.9,
        }
    ),
    "dense": Rates(
        {
            "normals": 1.0e-11,
            "rows": 2.4e-8,
            "products.float32": 4.0e-14,
            "products.tf32": 6.5e-15,
            "products.bf16": 4.2e-15,
            "products.bf16x3": 1.1e-14,
            "exact": 3.4e-14,
            "values": 3.2e-12,
            "labels": 3.2e-12,
            "cubes": 1.0e-13,
            "sides": 1e-5,
            "matvecs": 4.0e-4,
            "moved": 7.9e-12,
            "passes": 0.011,
            "compiled": 1.9,
            "tuned": 0.5,
        }
    ),
}


def unit_work(setting: Setting) -> dict[str, float]:
    """The work of one run: products by their precision, blocks as an accelerator takes them."""
    done = asdict(work(setting))
    done[f"products.{setting.precision}"] = done.pop("products")
    p, d = setting.p, setting.d
    if choose_engine(setting) == "deferred":
        block = AcceleratedBlocks(p).block
        done["blocks"] *= HOST.block / block
        done["compiled"] = _shapes(setting, block) / setting.runs
        done["tuned"] = 0.0
    else:
        done["blocks"] *= CHUNK_NUMBERS["cpu"] * (1.0 + p / d) / CHUNK_NUMBERS["gpu"]
        # The gradient of each block is added to the sum of those before.
        done["moved"] += done["blocks"] * p * d
        # Functions of the matrices that are looked at.
        done["compiled"] += 1.0 / setting.runs
        large = setting.precision == "float32" and min(d, p) >= TUNED
        done["tuned"] = done["compiled"] * large
        # Where rows are dependent their span takes a decomposition.
        whole = len(setting.recorded) if p > d else int(STARTS[setting.start].paired)
        done["cubes"] += whole * DECOMPOSITION * p**3
        done["sides"] += whole * p
    done["blocks"] = max(done["blocks"], done["passes"])
    return done


def _shapes(setting: Setting, block: int) -> int:
    """Shapes of blocks, whole ones and the last, for which operations are compiled."""
    counts = [setting.n]
    if setting.readout_n:
        counts += [setting.readout_n, setting.test_n]
        counts += [setting.readout_n] * (setting.ridge == "cv" or len(setting.ridge) > 1)
    if setting.deflate >= 0:
        counts += counts
    return sum((count >= block) + (count % block > 0) for count in counts)


def measured_rates(engine: str) -> Rates:
    """Time the parts and the probes of an engine, and fit what the parts leave over.

    Where the probes take longer than BUDGET the last ones are left out, and what can then not be
    fitted is that of a typical accelerator.
    """
    probes = [
        Setting(**({"target": "x1 + x1*x2", "engine": engine} | given)) for given in PROBES[engine]
    ]
    if engine == "deferred":
        probes = [setting.vary(device="gpu") for setting in probes]
    # The first run also wakes the accelerator and its libraries.
    _seconds_of_run(probes[0].vary(d=56, n=300, p=6, steps=1, readout_n=100, test_n=100, spectra=1))
    timed = {name: each for name, each in _parts().items() if name not in FITTED[engine]}
    running, compiling, spent = [], [], 0.0
    for setting in probes:
        if spent > BUDGET:
            break
        done = dict.fromkeys(timed, 0.0) | unit_work(setting)
        first, second = _seconds_of_run(setting), _seconds_of_run(setting)
        spent += first + second
        running.append((done, second))
        if first - second > SHORTEST:
            compiling.append((done, first - second))
    typical = TYPICAL[engine].seconds
    if len(running) < len(probes):
        run = timed | {name: typical.get(name, 0.0) for name in FITTED[engine]}
    else:
        run = dict(fitted_rates(timed, FITTED[engine], running, least=1.0).seconds)
    seen = [name for name in COMPILED if any(done[name] for done, _ in compiling)]
    compiled = {name: typical.get(name, 0.0) for name in COMPILED}
    if compiling:
        compiled |= fitted_rates({}, seen, compiling).seconds
    return Rates({**run, **compiled})


def _seconds_of_run(setting: Setting) -> float:
    begin = time.perf_counter()
    simulate(setting)
    return time.perf_counter() - begin


def _parts() -> dict[str, float]:
    """Seconds for a unit of what an accelerator does by itself."""
    square = SIZE**2
    with Context("highest"):
        draw: Any = jax.jit(partial(counted_samples, size=SIZE, d=SIZE, dtype=np.float32))
        key, first = np.arange(4, dtype=np.uint32), np.uint64(0)
        one = draw(key, first)[0]
        wide = one.astype(jnp.float64)
        squared: Any = jax.jit(lambda x: x @ x.T)
        tanh: Any = jax.jit(lambda x: (jnp.tanh(x), 1.0 - jnp.tanh(x) ** 2))
        value = _seconds(tanh, one) / (2 * square)
        found = {
            "normals": _seconds(draw, key, first) / square,
            "exact": _seconds(squared, wide) / (SIZE * square),
            "values": value,
            "labels": value,
            "moved": _seconds(jnp.add, wide, wide) / square,
        }
        found |= _decompositions(squared(wide) / SIZE)
    for precision in ("float32", "tf32", "bf16", "bf16x3"):
        with Context(MATMUL[precision]):
            multiplied: Any = jax.jit(partial(product, precision=precision))
            found[f"products.{precision}"] = _seconds(multiplied, one, one) / (SIZE * square)
    # Drawn in float64 on the host, normalised, rounded and sent.
    found["rows"] = 1.5 * _seconds(generator(0, 0, 0, 0).standard_normal, square) / square
    return found


def _decompositions(gram: Any) -> dict[str, float]:
    """Seconds for each side and for each multiplication, from a small matrix and a large one."""
    from scipy.optimize import nnls

    rows = []
    for side in (len(gram) // 8, len(gram)):
        taken = _seconds(jnp.linalg.eigh, gram[:side, :side], repeats=1)
        rows.append([side / taken, DECOMPOSITION * side**3 / taken])
    sides, cubes = nnls(np.array(rows), np.ones(2))[0].tolist()
    return {"sides": sides, "cubes": cubes}


def _seconds(function: Callable[..., Any], *arguments: Any, repeats: int = 5) -> float:
    """Of one call, after a first one that compiles."""
    wait: Any = jax.block_until_ready
    wait(function(*arguments))
    begin = time.perf_counter()
    for _ in range(repeats):
        result = function(*arguments)
    wait(result)
    return (time.perf_counter() - begin) / repeats


def accelerator_name() -> str:
    """The accelerators of this machine, as its rates are kept."""
    place = Place("auto")
    kind = jax.devices()[0].device_kind
    return kind if place.count == 1 else f"{place.count} x {kind}"


def known_rates(engine: str) -> Rates | None:
    """The rates of this accelerator where they were measured."""
    return kept_rates(machine_name(accelerator_name()), f"{engine} on gpu")


def rates(engine: str, *, again: bool = False) -> Rates:
    """The rates of this accelerator, measured now where they are not known."""
    known = None if again else known_rates(engine)
    if known is not None:
        return known
    found = measured_rates(engine)
    keep_rates(machine_name(accelerator_name()), f"{engine} on gpu", found)
    return found
