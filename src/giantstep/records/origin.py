"""Where numbers come from: versions, device, precision, revision and time."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import giantstep
from giantstep.problem.setting import Setting

SHOWING = ("show", "cli")
"""Rooms that only show results: no number depends on them."""

LIBRARIES = ("numpy", "scipy", "jax")
"""Libraries whose version may change the last digits."""

Origin = Mapping[str, Any]
"""Plain values: ``versions``, ``device``, ``dtype``, ``revision`` and ``time``."""


def origin(setting: Setting, engine: str) -> Origin:
    """What a record made now by an engine comes from."""
    return {
        "versions": versions(),
        "device": _device(engine, setting.device),
        "dtype": setting.precision,
        "revision": revision(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@cache
def versions() -> dict[str, str]:
    """The versions of the package, of Python and of the libraries that results depend on."""
    package = {"giantstep": giantstep.__version__, "python": platform.python_version()}
    return package | {name: version(name) for name in LIBRARIES}


@cache
def _device(engine: str, asked: str) -> str:
    """The processor, or what JAX runs on where that is another and the engine is there."""
    if asked != "cpu" and (engine == "dense" or (engine, asked) == ("deferred", "gpu")):
        return device()
    return processor()


@cache
def device() -> str:
    """What JAX runs on: the name of a GPU, or of the processor where there is none."""
    import jax

    first = jax.devices()[0]
    return processor() if first.platform == "cpu" else str(first.device_kind)


@cache
def processor() -> str:
    """The name of the processor, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


@cache
def package_source() -> str:
    """The digest of the package as it runs."""
    return source_digest(Path(giantstep.__file__).parent)


def revision() -> str:
    """The first characters of the digest, which name the revision of the package."""
    return package_source()[:16]


def source_digest(root: Path) -> str:
    """A digest of the Python files of a folder, less the rooms that only show."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in SHOWING:
            digest.update(f"{name.as_posix()}\n{path.read_text(encoding='utf-8')}".encode())
    return digest.hexdigest()
