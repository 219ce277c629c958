"""What commands share: files that are never overwritten silently, JSON on standard output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from giantstep.errors import InputError

# A target may begin with a minus sign: -x1 + x2 is no option.
Expression = Annotated[str, Parameter(allow_leading_hyphen=True)]


def reserve(out: Path | None, name: str, overwrite: bool = False) -> Path | None:
    """The file to write, refused before any work is done if it is there already."""
    if out is None:
        return None
    if out.exists() and not out.is_dir():
        raise InputError(f"out must be a folder, got the file {str(out)!r}")
    path = out / name
    if path.exists() and not overwrite:
        raise InputError(f"out already holds {name}, got {str(out)!r}")
    return path


def emit(
    record: dict[str, Any], to_stdout: bool, path: Path | None, overwrite: bool = False
) -> None:
    """Write a record as JSON, to a file and to standard output where asked for."""
    text = json.dumps(record, indent=2, allow_nan=False)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if overwrite else "x", encoding="utf-8") as file:
            file.write(text + "\n")
    if to_stdout:
        print(text)
