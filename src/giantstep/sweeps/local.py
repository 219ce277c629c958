"""How many processes of this machine a sweep may have."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.simulation.cost import on_accelerator
from giantstep.simulation.threads import cores


def available_bytes() -> int | None:
    """Memory that is free on this machine or within its control group; None where none tells."""
    bounds = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        bounds += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
        group = Path("/sys/fs/cgroup")
        most = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        bounds += [int(most) - used] if most.isdigit() else []
    except (OSError, ValueError):
        pass
    return min(bounds) if bounds else None


def share_accelerators() -> None:
    """Let this process and its workers take of an accelerator's memory what they use, not most."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def check_workers(workers: int | None) -> None:
    """Refuse a number of processes that does nothing."""
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")


def process_count(
    settings: Iterable[Setting],
    tasks: int,
    largest_bytes: int,
    *,
    process_bytes: int = 400 * 2**20,
) -> int:
    """Processes for so many tasks: one a processor, as far as their memory reaches.

    ``process_bytes`` is the memory of a process beside its arrays: Python, NumPy, SciPy and JAX.
    An accelerator does one thing at a time: one process where any setting runs there.
    """
    if any(on_accelerator(setting) for setting in settings):
        return 1
    free = available_bytes()
    fitting = cores() if free is None else max(1, free // (process_bytes + largest_bytes))
    return max(1, min(cores(), tasks, fitting))
