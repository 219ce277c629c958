"""Files that a user names: regular ones, so that reading them comes to an end."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from giantstep.errors import InputError

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
"""What a name may stand for beside a file."""

STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Names of what a shell has opened already: a pipe there has a writer, and an end."""


def check_file(path: str | Path, refusal: str, *, stream: bool = False) -> os.stat_result:
    """What the system knows of a file; one that is missing or no file is refused.

    ``refusal`` begins the sentence, which goes on with the name and the reason.  A ``stream`` is
    read once from beginning to end, and may be a pipe that the shell has opened.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", error)
        raise InputError(f"{refusal} {str(path)!r}: {reason}") from None
    kind = stat.S_IFMT(status.st_mode)
    piped = stream and kind == stat.S_IFIFO and str(path).startswith(STREAMS)
    if kind != stat.S_IFREG and not piped:
        held = KINDS.get(kind, "something else")
        raise InputError(f"{refusal} {str(path)!r}: it is {held}, not a file")
    return status


def read_toml(path: Path) -> dict[str, Any]:
    """The keys and values of a TOML file."""
    check_file(path, "file cannot be read, got", stream=True)
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"file cannot be read, got {str(path)!r}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"file must be TOML in UTF-8, got {str(path)!r}: {error}") from None
