"""Names of stored results: a digest of everything that a result depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.records.file import FORMAT
from giantstep.records.origin import package_source
from giantstep.simulation.simulate import MEMORY, choose_engine


def resolved(setting: Setting, memory: int = MEMORY) -> Setting:
    """The setting with the engine that ``auto`` stands for; one that no text gives back is refused.

    Chosen for the default memory, it gives a result one name everywhere.
    """
    if setting.unstorable is not None:
        raise InputError(setting.unstorable)
    return with_engine(setting, memory)


def with_engine(setting: Setting, memory: int = MEMORY) -> Setting:
    """The setting with the engine that ``auto`` stands for."""
    engine = choose_engine(setting, memory)
    return setting if setting.engine == engine else setting.vary(engine=engine)


def run_name(setting: Setting, run: int, directions: Float[np.ndarray, "r d"] | None = None) -> str:
    """The file of run k of a resolved setting: the same for any number of runs."""
    digest = None if directions is None else _digest(np.ascontiguousarray(directions).tobytes())
    fields = _fields(setting) | {"runs": None}
    return _name({"kind": "run", "run": run, "setting": fields, "directions": digest})


def prediction_name(setting: Setting, theory: str | None = None) -> str:
    """The file of a prediction, which also depends on the code: theory is written in it."""
    source = package_source()
    return _name(
        {"kind": "prediction", "setting": _fields(setting), "theory": theory, "source": source}
    )


def stored_fields(setting: Setting) -> dict[str, Any]:
    """The fields as the file of a result holds them, whatever the number of runs."""
    fields: dict[str, Any] = json.loads(json.dumps(setting.as_dict()))
    del fields["runs"]
    return fields


def different_fields(asked: Mapping[str, Any], held: Mapping[str, Any]) -> list[str]:
    """Names of the fields in which what is held is not what is asked for."""
    return [name for name, value in asked.items() if name not in held or held[name] != value]


def _fields(setting: Setting) -> dict[str, Any]:
    """The fields as plain values; a file is what it holds, not only its name."""
    rows = setting.start_rows
    files = [setting.inputs.path, "" if rows is None else rows.path]
    contents = {path: _digest(Path(path).read_bytes()) for path in files if path}
    return setting.as_dict() | {"files": contents}


def _name(identity: dict[str, Any]) -> str:
    text = json.dumps({"format": FORMAT, **identity}, sort_keys=True)
    return f"{_digest(text.encode())[:32]}.npz"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
