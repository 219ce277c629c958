"""What commands share: files that are never overwritten silently, JSON on standard output."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter, Token

from giantstep.errors import InputError, shown
from giantstep.records.drafts import remove_drafts
from giantstep.records.file import write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

# A target may begin with a minus sign: -x1 + x2 is no option.
Typed = Annotated[str, Parameter(allow_leading_hyphen=True)]


def _folder(kind: Any, tokens: Sequence[Token]) -> Path:
    """A folder as it is typed; an empty text would be the current one."""
    text = tokens[0].value
    if not text.strip():
        raise ValueError(f"a folder needs a name, got {text!r}")
    return Path(text)


def _whole(kind: Any, tokens: Sequence[Token]) -> int:
    """A whole number as it is typed; 1.5 is none, and is not rounded."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"a whole number is needed, got {shown(text)}") from None


Whole = Annotated[int, Parameter(converter=_whole)]


# How results are said and where they go: the last options of a command, before those of a setting
# that few people need.
_OUTPUT = Group("Output", sort_key=0.5)
Out = Annotated[Path | None, Parameter(group=_OUTPUT, metavar="FOLDER", converter=_folder)]
OutAt = Annotated[Path, Parameter(group=_OUTPUT, metavar="FOLDER", converter=_folder)]
Switch = Annotated[bool, Parameter(negative="", show_default=False)]
_Said = Annotated[bool, Parameter(group=_OUTPUT, negative="", show_default=False)]
Json = Annotated[_Said, Parameter(help="Print the record as JSON instead of tables.")]
Overwrite = Annotated[
    _Said, Parameter(help="Replace files that something else has left there; runs are kept.")
]
Quiet = Annotated[_Said, Parameter(help="No table and no progress.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Output:
    """The options of commands that make a record, which they print or write into a folder."""

    json: Json = False
    out: Out = None  # every command says which files it writes
    overwrite: Overwrite = False
    quiet: Quiet = False

    def reserve(self, *names: str, replace: bool = False) -> list[Path] | None:
        """The files to write; ``replace`` says that those in the folder may be replaced."""
        return reserve(self.out, *names, overwrite=self.overwrite or replace)

    def present(
        self,
        record: Callable[[], dict[str, Any]],
        report: Callable[[], RenderableType],
        *lines: str,
    ) -> None:
        """Print the record as JSON, or the report and lines below it; nothing if quiet."""
        present(record, report, *lines, json=self.json, quiet=self.quiet)


PLAIN = Output()
"""What commands do unless told otherwise."""


def reserve(out: Path | None, *names: str, overwrite: bool = False) -> list[Path] | None:
    """The files to write; a folder that cannot be written or holds them is refused beforehand.

    Drafts of writers that were killed are removed.
    """
    if out is None:
        return None
    refuse_taken(out, *names, overwrite=overwrite)
    try:
        out.mkdir(parents=True, exist_ok=True)
        remove_drafts(out)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise InputError(f"out cannot be written, got {str(out)!r}: {error.strerror}") from None
    return [out / name for name in names]


def refuse_taken(out: Path, *names: str, overwrite: bool = False) -> None:
    """Refuse a folder that holds files of these names, or that cannot be written to."""
    there = next(each for each in (out, *out.absolute().parents) if each.exists())
    if not there.is_dir():
        raise InputError(f"out must be a folder, got the file {str(there)!r}")
    if not os.access(there, os.W_OK):
        raise InputError(f"out cannot be written, got {str(out)!r}: {os.strerror(errno.EACCES)}")
    held = [name for name in names if (out / name).exists()]
    if held and not overwrite:
        raise InputError(f"out already holds {held[0]}, got {str(out)!r}; --overwrite replaces it")


def picture_line(files: Sequence[Path] | None) -> list[str]:
    """Where the picture is, the last of the files that were written."""
    return [] if files is None else [f"picture: {files[-1]}"]


def present(
    record: Callable[[], dict[str, Any]],
    report: Callable[[], RenderableType],
    *lines: str,
    json: bool,
    quiet: bool = False,
) -> None:
    """Print a record as JSON, or its report and lines below it; nothing if quiet."""
    if json:
        print(as_json(record()))
    elif not quiet:
        from giantstep.show.tables.parts import show

        for part in (report(), *lines):
            show(part)


def as_json(record: dict[str, Any]) -> str:
    return json.dumps(record, indent=2, allow_nan=False)


def write_json(record: dict[str, Any], path: Path) -> None:
    """All of it or nothing: a kill or a full disk leaves what was there."""
    write_whole(path, (as_json(record) + "\n").encode())
