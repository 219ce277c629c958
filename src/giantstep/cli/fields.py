"""The record's fields as flags of a command, and as keys of a TOML file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from cyclopts import Group, Parameter

from giantstep.errors import InputError
from giantstep.problem.files import read_toml
from giantstep.problem.setting import GROUPS, LINEAR_WIDTH, Setting

_SECTIONS = {group: Group(group, sort_key=place) for place, group in enumerate(GROUPS)}
_SECTION_OF = {field: _SECTIONS[group] for group, fields in GROUPS.items() for field in fields}

# Options of every command that takes a setting, beside its fields.
File = Annotated[Path | None, Parameter(group=_SECTIONS["Experiment"], metavar="FILE")]
Memory = Annotated[str, Parameter(group=_SECTIONS["Computation"], metavar="BYTES")]


def _flags(name: str, defaults: Mapping[str, Any] = MappingProxyType({})) -> type:
    """One flag for each field of the record, read as text: the record itself checks it."""
    flags = [
        (
            field,
            Annotated[
                str | None,
                Parameter(
                    help=Setting.fields[field].in_words(defaults.get(field)),
                    group=group,
                    metavar=Setting.fields[field].takes,
                    allow_leading_hyphen=True,
                    show_default=False,
                ),
            ],
            None,
        )
        for field, group in _SECTION_OF.items()
    ]
    made = dataclasses.make_dataclass(name, flags, frozen=True)
    # The command line looks for the fields in the module a class says it comes from.
    made.__module__ = __name__
    return made


Fields = _flags("Fields")
LinearWidthFields = _flags("LinearWidthFields", LINEAR_WIDTH | {"steps": "as many as step sizes"})


def given_fields(target: str | None, fields: Any, file: Path | None) -> dict[str, Any]:
    """What was given: keys of the file, over them the flags, over them the target."""
    given = read_toml(file) if file is not None else {}
    typed: dict[str, Any] = vars(fields) if fields is not None else {}
    given |= {name: value for name, value in typed.items() if value is not None}
    return given if target is None else given | {"target": target}


def memory_bytes(text: str) -> int:
    """A number of bytes from a text such as 512 MiB."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(GiB|MiB|KiB|)\s*", text)
    size = float(match[1]) * 1024.0 ** ["", "KiB", "MiB", "GiB"].index(match[2]) if match else 0
    if size < 1:
        raise InputError(f"memory must be a size such as '512 MiB', got {text!r}")
    return int(size)
