"""Seconds of every kind of work on a machine, measured once and kept in the user's cache."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from giantstep import __version__
from giantstep.records.file import write_whole
from giantstep.records.origin import processor
from giantstep.simulation.threads import cores

SERIAL = ("passes", "steps", "moments", "small_steps", "compiled", "tuned")
"""Work that threads do not share."""


@dataclass(frozen=True)
class Rates:
    """Seconds for each unit of work, and how many times as fast all threads are as one."""

    seconds: Mapping[str, float]
    speedup: float = 1.0

    def of(self, done: Mapping[str, float], threads: int) -> float:
        """The time of some work, on one thread or on all."""
        shared = self.speedup if threads > 1 else 1.0
        return sum(
            number * self.seconds.get(name, 0.0) / (1.0 if name in SERIAL else shared)
            for name, number in done.items()
        )


def fitted_rates(
    timed: Mapping[str, float],
    others: Sequence[str],
    probes: Sequence[tuple[Mapping[str, float], float]],
    least: float = 0.0,
) -> Rates:
    """Rates from the work and the seconds of some runs.

    What was ``timed`` by itself has one factor in common, which is at ``least`` so much; the
    ``others`` are fitted by non-negative least squares of the relative errors, which lean to the
    low side, so that the median of the ratios is made 1.
    """
    from scipy.optimize import nnls

    rows = [
        [sum(done[name] * each for name, each in timed.items()), *(done[name] for name in others)]
        for done, _ in probes
    ]
    matrix = np.array(rows) / np.array([seconds for _, seconds in probes])[:, None]
    found, _ = nnls(matrix, np.ones(len(probes)))
    if found[0] < least:
        rest, _ = nnls(matrix[:, 1:], 1.0 - least * matrix[:, 0])
        found = np.concatenate([[least], rest])
    factor, *each = (found / np.median(matrix @ found)).tolist()
    own = {name: factor * seconds for name, seconds in timed.items()}
    return Rates(own | dict(zip(others, each, strict=True)))


# -- kept from one call to the next ---------------------------------------------------------------


def cache_file() -> Path:
    """Where the rates of machines are kept: in the user's folder for caches."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "giantstep" / "rates.json"


def machine_name(accelerator: str = "") -> str:
    """The processor and how many cores, the accelerator where it counts, and the version."""
    parts = [processor(), f"{cores()} cores", *([accelerator] if accelerator else [])]
    return ", ".join([*parts, f"giantstep {__version__}"])


def kept_rates(machine: str, kind: str) -> Rates | None:
    """The rates of a machine where they were measured."""
    try:
        held = json.loads(cache_file().read_text(encoding="utf-8"))[machine][kind]
        return Rates({name: float(v) for name, v in held["seconds"].items()}, held["speedup"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def keep_rates(machine: str, kind: str, found: Rates) -> None:
    """Remember the rates of a machine; where they cannot be, they are measured again."""
    path = cache_file()
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        held = {}
    held.setdefault(machine, {})[kind] = asdict(found)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(held, indent=2).encode())
    except OSError:
        return
