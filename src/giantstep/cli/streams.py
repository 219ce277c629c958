"""Standard output and standard error of the command line: open, silent, or the last sentence."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def open_streams() -> None:
    """See to it that standard output and standard error can be written to.

    A file that is opened later would take the number of one that is closed.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open as long as the process lives
    if sys.stdout is None:
        stop("standard output is closed; >/dev/null throws away what is printed", 2)


def print_no_more() -> None:
    """Let what waits to be printed go nowhere: Python would complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def stop(message: str, code: int) -> NoReturn:
    """End with one sentence on standard error."""
    print(f"giantstep: {message}", file=sys.stderr)
    sys.exit(code)
