"""Normal numbers a second on the CPU: NumPy's generators against JAX's.

The engines draw with SFC64 in threads; this is the measurement behind that choice.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from benchmarks._timing import best

COUNT = 4_000_000


def main() -> None:
    """Print nanoseconds for one normal of each generator, one thread for NumPy, all for JAX."""
    rows = {}
    for kind in (np.random.SFC64, np.random.PCG64DXSM, np.random.Philox, np.random.MT19937):
        rng, out = np.random.Generator(kind(0)), np.empty(COUNT, np.float32)

        def numpy_draw(rng: Any = rng, out: Any = out) -> None:
            rng.standard_normal(dtype=np.float32, out=out)

        rows[f"numpy {kind.__name__}, one thread"] = best(numpy_draw)
    for implementation in ("threefry2x32", "rbg", "unsafe_rbg"):
        key = jax.random.key(0, impl=implementation)
        draw = jax.jit(lambda key: jax.random.normal(key, (COUNT,)))

        def jax_draw(draw: Any = draw, key: Any = key) -> None:
            draw(key).block_until_ready()

        rows[f"jax {implementation}, all threads"] = best(jax_draw)
    base = min(rows.values())
    for name, value in rows.items():
        print(
            f"generator {name:30s} {value / COUNT * 1e9:6.2f} ns  {value / base:5.2f} x the fastest"
        )


if __name__ == "__main__":
    main()
