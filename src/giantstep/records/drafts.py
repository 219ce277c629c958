"""Drafts of files that are being written: their names, and which of them nobody will finish."""

from __future__ import annotations

import os
import platform
import secrets
import time
from pathlib import Path


def draft_of(path: Path) -> Path:
    """A name in the folder of a file for its draft, which says who writes it."""
    return path.with_name(f".{path.name}.{_machine()}.{os.getpid()}.{secrets.token_hex(4)}.part")


def remove_drafts(folder: Path, stale: float = 3600.0) -> None:
    """Remove what killed writers have left in a folder; those that still write are left alone.

    A draft of another machine counts as left after ``stale`` seconds.
    """
    for draft in folder.glob(".*.part"):
        *_, machine, writer, _, _ = ["", "", *draft.name.split(".")]
        here = machine == _machine() and writer.isdigit()
        try:
            age = time.time() - draft.stat().st_mtime
            if age > stale or (here and not _may_write(int(writer), age)):
                draft.unlink()
        except OSError:  # finished, removed by another, or on a disk that is read only
            continue


def _machine() -> str:
    """The name of this machine, without dots."""
    return platform.node().replace(".", "-")


def _may_write(process: int, age: float, clocks: float = 2.0) -> bool:
    """Whether a process of this machine may be the writer of a draft last written ``age`` ago.

    The clock of a disk may differ from that of the processes by ``clocks`` seconds.

    One that has ended cannot, even if nobody has noticed its end (a zombie), nor can one that has
    started since and was given the same number.
    """
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        pass
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # a system without /proc
        return True
    # proc(5): the name in parentheses may hold spaces; the start is counted in ticks since boot.
    state, *numbers = text.rpartition(")")[2].split()
    started = int(numbers[18]) / os.sysconf("SC_CLK_TCK")
    return state not in "ZX" and time.clock_gettime(time.CLOCK_BOOTTIME) - started > age - clocks
