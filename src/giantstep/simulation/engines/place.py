"""Where the arrays of the dense engine live: one device, or samples spread over several.

Several are the devices of this process, or of all processes after ``jax.distributed.initialize()``,
each of which then runs the same program: weights are everywhere, samples are spread, and sums over
samples are the same everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from giantstep.errors import InputError

LIBRARY = {"xla_gpu_enable_triton_gemm": False}
"""How functions are compiled for a GPU: products are those of its library.

Else XLA writes kernels for every product, and compiles and times dozens of them.  On an H200 the
first run of four settings took 32, 17, 16 and 6.3 s with them and 9.7, 5.2, 5.2 and 3.4 s without,
the next ones 0.96, 0.87, 1.10 and 0.91 s and 0.91, 0.50, 0.65 and 0.54 s; steps of 2^20 samples at
d = p = 4096 took 1.42 s (float32), 0.23 s (tf32) and 0.37 s (bf16x3), and 1.40, 0.24 and 0.37 s.
"""


class Place:
    """The devices of a kind: cpu, gpu, or auto for the best there are."""

    def __init__(self, kind: str = "auto") -> None:
        self.kind = kind
        devices = _devices(kind)
        self.count = len(devices)
        self.on_cpu = devices[0].platform == "cpu"
        self.options = library_options() if devices[0].platform == "gpu" else None
        if not self.on_cpu:
            keep_compiled()
        self.spread: NamedSharding | None = None
        self.whole: NamedSharding | None = None
        if self.count > 1:
            mesh, parts = Mesh(np.array(devices), ("samples",)), (("samples",), ())
            spec: Any = PartitionSpec
            self.spread, self.whole = (NamedSharding(mesh, spec(*names)) for names in parts)

    def memory(self, host: int, *, share: float = 0.5) -> int:
        """Bytes that arrays may take, ``host`` where they live in the memory of the host.

        They take a ``share`` of an accelerator's memory: what compiled functions need for
        themselves comes on top.
        """
        if self.on_cpu:
            return host
        limit: int = _devices(self.kind)[0].memory_stats()["bytes_limit"]
        return int(share * limit) * self.count

    def put(self, array: Any, dtype: Any) -> Any:
        """An array that every device has; what was found here by ``compiled`` is there already."""
        if isinstance(array, jax.Array):
            return array.astype(dtype)
        host = np.asarray(array, dtype)
        return jnp.asarray(host) if self.whole is None else jax.device_put(host, self.whole)

    def samples(self, draw: Callable[[int, int], Any], size: int) -> Any:
        """``draw(first, end)`` of ``size`` samples, each device with its own share of them."""
        if self.spread is None:
            drawn = draw(0, size)
            return drawn if self.on_cpu else jax.device_put(drawn)
        like = draw(0, 0)

        def own(index: Any) -> Any:
            return draw(*index[0].indices(size)[:2])

        return jax.make_array_from_callback((size, *like.shape[1:]), self.spread, own)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of samples, whose results every device has."""
        compiled: Callable[..., Any] = jax.jit(
            function, out_shardings=self.whole, compiler_options=self.options
        )
        return compiled

    def found(self, value: Any) -> Any:
        """A result as an array of NumPy, or where it was found on an accelerator."""
        return np.asarray(value) if self.on_cpu else value


def keep_compiled() -> None:
    """Keep functions compiled for an accelerator in the user's cache folder, for the next process.

    Where JAX has a cache of the user's own it stays as it is.
    """
    config: Any = jax.config
    if config.jax_compilation_cache_dir is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        config.update("jax_compilation_cache_dir", os.path.join(home, "giantstep", "jax"))
        # Every function is kept: an engine compiles many that take less than a second each.
        config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def library_options() -> dict[str, bool] | None:
    """LIBRARY, but for what a user has set in XLA_FLAGS."""
    set_by_user = os.environ.get("XLA_FLAGS", "")
    return {name: value for name, value in LIBRARY.items() if name not in set_by_user} or None


def _devices(kind: str) -> list[Any]:
    try:
        return list(jax.devices() if kind == "auto" else jax.devices(kind))
    except RuntimeError:
        raise InputError(
            f"device must be auto or cpu where JAX sees no {kind}, got {kind!r}"
        ) from None


class Context:
    """float64 enabled, products as precise as asked, on a kind of device, for this thread only."""

    def __init__(self, precision: str, kind: str = "auto") -> None:
        self.managers = [jax.enable_x64(True), jax.default_matmul_precision(precision)]
        if kind != "auto":
            self.managers.append(jax.default_device(_devices(kind)[0]))

    def __enter__(self) -> None:
        for manager in self.managers:
            manager.__enter__()

    def __exit__(self, *details: object) -> None:
        for manager in reversed(self.managers):
            manager.__exit__(*details)
