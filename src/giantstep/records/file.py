"""A Trajectory as one file: its arrays and a text, complete or not there at all.

The file is an npz: every array under its name, and under ``record`` a JSON text (bytes in UTF-8)
with the resolved setting and what ``Trajectory`` holds beside arrays.  Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.errors import InputError
from giantstep.problem.files import check_file
from giantstep.problem.setting import Setting
from giantstep.records.drafts import draft_of
from giantstep.records.origin import origin
from giantstep.records.spectrum import Spectrum

if TYPE_CHECKING:
    from giantstep.records.trajectory import Trajectory

FORMAT = 2
"""Raised when what a file holds, or the numbers that a setting draws, become others."""

PLAIN = (
    *("engine", "seconds", "theory", "many_neurons", "from_runs", "own_runs", "notes"),
    "interrupted",
    *("uncertainty_freedom", "relative_uncertainty", "readout_relative_uncertainty"),
)
"""Fields of a Trajectory that are in the text; its origin and its setting are there too."""

UNREADABLE = (
    *(OSError, ValueError, EOFError, KeyError, TypeError, MemoryError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
)
"""What reading a truncated or foreign file may raise in zipfile, NumPy, JSON and our own checks."""


def write_whole(path: Path, content: bytes) -> None:
    """All of a file or nothing: written under another name in the folder, synced, renamed.

    A kill at any moment leaves at most a draft ``.NAME.*.part``; an OSError names the file.
    """
    draft = draft_of(path)
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    # The name itself is on the disk only when the folder is.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def packed(arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> bytes:
    """The bytes of a file with these arrays and this text."""
    text = json.dumps({"format": FORMAT, **record}, allow_nan=False).encode()
    buffer = io.BytesIO()
    np.savez(buffer, record=np.frombuffer(text, np.uint8), **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def unpacked(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the text of a file; InputError names a file that is truncated or foreign."""
    if path.exists():
        check_file(path, "file must be a whole result, got")
    try:
        # NumPy leaves open the file of a broken archive: ours is closed.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if "record" not in file:  # a foreign file, whose arrays may be huge
                raise KeyError("record")
            record = json.loads(file["record"].tobytes())
            if record["format"] != FORMAT:
                raise ValueError(f"format {record['format']!r} is not {FORMAT}")
            arrays = {name: file[name] for name in file.files if name != "record"}
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise unreadable(path, error) from None
    return arrays, record


def unreadable(path: Path, error: Exception) -> InputError:
    """The sentence about a file that is none of ours, or not all of one."""
    missing = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    reason = " ".join(missing.split()) or type(error).__name__
    return InputError(f"file must be a whole result, got {str(path)!r}: {reason}")


@lru_cache(maxsize=2**12)
def _setting(text: str) -> Setting:
    """A setting from its text: to build one takes milliseconds, and many runs have the same."""
    return Setting(**json.loads(text))


def trajectory_bytes(trajectory: Trajectory, **record: Any) -> bytes:
    """A Trajectory as the bytes of its file; ``record`` is put into the text beside it."""
    setting = trajectory.setting
    if setting.unstorable is not None:
        raise InputError(setting.unstorable)
    plain = {name: getattr(trajectory, name) for name in PLAIN}
    made = trajectory.origin or origin(setting, trajectory.engine)
    arrays = trajectory.arrays()
    if trajectory.rows is not None:
        arrays["rows"] = trajectory.rows
    about = {"setting": setting.as_dict(), "seed": setting.seed, "origin": dict(made)}
    return packed(arrays, about | plain | record)


def restored(path: Path) -> Trajectory:
    """The Trajectory of a file."""
    return rebuilt(path, *unpacked(path))


def rebuilt(path: Path, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> Trajectory:
    """The Trajectory of the arrays and the text of a file."""
    from giantstep.records.trajectory import SPECTRA, Trajectory

    names = {field.name for field in fields(Trajectory)}
    spectra: dict[str, dict[str, Any]] = {}
    try:
        values: dict[str, Any] = {name: record[name] for name in PLAIN}
        for name, array in arrays.items():
            matrix, _, part = name.partition(".")
            if part and matrix in SPECTRA:
                spectra.setdefault(matrix, {})[part] = array
            elif name in names:
                values[name] = array
            else:
                raise ValueError(f"unknown array {name!r}")
        values |= {matrix: Spectrum(**parts) for matrix, parts in spectra.items()}
        values |= {"notes": tuple(values["notes"]), "origin": dict(record["origin"])}
        setting = _setting(json.dumps(record["setting"]))
        steps, shape = len(setting.recorded), values["overlap"].shape
        # A theory may have the rows of a sample of the neurons.
        neurons = min(shape[2], setting.p) if values["theory"] is not None else setting.p
        if shape[1:] != (steps, neurons, setting.target.r) and not setting.target.column:
            raise ValueError(f"overlap has the shape {shape}")
        return Trajectory(setting, **values)
    except UNREADABLE as error:
        raise unreadable(path, error) from None
