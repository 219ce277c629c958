"""A limit of the memory that a process may address (``ulimit -v``), seen to before work begins."""

from __future__ import annotations

from mmap import mmap

try:
    import resource
except ImportError:  # not on Windows, which has no such limits
    resource = None  # type: ignore[assignment]


def within_limit(*, buffer_bytes: int = 128 * 2**20, side: int = 256) -> None:
    """Where addresses are limited (ulimit -v): one thread, which has its buffers from now on.

    OpenBLAS asks again without end for a buffer that it cannot have, and nothing interrupts it.
    Each thread that calls it at the same time takes one, and keeps it for later calls.  The two
    libraries of linear algebra take 32 MiB each at their first call, and as much again for rounding
    up (``buffer_bytes``); no library computes a product of this ``side`` without a buffer.
    """
    if resource is None or resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    try:
        import numpy as np
        from scipy.linalg.blas import dgemm

        from giantstep.simulation.threads import use_threads

        use_threads(1)
        mmap(-1, buffer_bytes).close()
    except (OSError, MemoryError, ImportError):
        raise MemoryError("the limit of memory of this shell (ulimit -v) is too low") from None
    square = np.ones((side, side))
    _ = square @ square
    dgemm(1.0, square, square)
