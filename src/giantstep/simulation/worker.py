"""``python -m giantstep.simulation.worker``: a process that calls functions for another one.

It ends with its standard input or with the process that started it, at any moment: one that is
killed takes its workers along.  ``giantstep.simulation.processes`` is the other end.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from typing import Any, BinaryIO

from giantstep.simulation.processes import SHARING, receive, send

CALLS: queue.SimpleQueue[bytes] = queue.SimpleQueue()
"""Calls that have arrived and have not begun."""

ARRIVED = threading.Event()
"""Set when a call has arrived."""

OUT: list[BinaryIO] = []
"""Where messages leave."""


def main() -> None:
    """Make one call after another until there are no more."""
    # Messages are all that may leave through standard output; what is printed joins the errors.
    OUT.append(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    end_with_parent()
    refusal = _refusal() if SHARING in sys.argv else None
    while True:
        call = CALLS.get()
        say(*(_outcome(call) if refusal is None else ("error", refusal)))


def end_with_parent() -> None:
    """End this process once the one that started it has ended, however that was, at any moment.

    A thread reads the calls, and finds the end of them.  It has no turn while a library computes
    without letting go of the interpreter; Linux ends the process even then.
    """
    threading.Thread(target=_listen, daemon=True, name="giantstep-parent").start()
    if sys.platform == "linux":
        # PR_SET_PDEATHSIG = 1 of prctl(2): the signal a process gets when its parent has ended.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def _listen() -> None:
    try:
        while True:
            CALLS.put(receive(sys.stdin.buffer))
            ARRIVED.set()
    except EOFError:
        os._exit(3)


def is_called(seconds: float = 0.0) -> bool:
    """Whether another call arrives within so many seconds: an idle process may load meanwhile."""
    ARRIVED.clear()
    if CALLS.empty():
        ARRIVED.wait(seconds)
    return not CALLS.empty()


def _refusal() -> MemoryError | None:
    """Leave other processors to other processes; why no call can be made, where memory is short."""
    from giantstep.simulation.threads import share_processors

    # Of an accelerator's memory what is needed: others use it too.
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    try:
        share_processors()
    except MemoryError as error:
        return error
    return None


def _outcome(call: bytes) -> tuple[str, Any]:
    """Make a call: its result, or its exception with the traceback as a note."""
    try:
        function, arguments = pickle.loads(call)
        return "result", function(*arguments)
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        return "error", error


def say(kind: str, value: Any) -> None:
    """Send a message; a function that is called may send an ``event`` at any time."""
    try:
        content = pickle.dumps((kind, value))
    except Exception as error:  # whatever a value that cannot be pickled raises
        content = pickle.dumps(("error", RuntimeError(f"{error!r}, of {value!r}")))
    send(OUT[0], content)


if __name__ == "__main__":
    from giantstep.simulation.worker import main as begin  # the module that is_called() is of

    begin()
