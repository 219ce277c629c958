"""Processes beside this one: they end when it ends, and leave the terminal's interrupts to it."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from multiprocessing.pool import Pool

from giantstep.simulation.threads import share_processors

PR_SET_PDEATHSIG = 1
"""The number of prctl(2) that names the signal a process gets when its parent has ended."""

LOST = 3
"""Exit code of a process whose parent has ended."""


def end_with_parent(wait: Callable[[], object] | None = None) -> None:
    """End this process once the one that started it has ended, however that was, at any moment.

    A thread waits: ``wait`` returns when the other end of a pipe to the parent is closed, which is
    the pipe of multiprocessing unless another is given.  A thread has no turn while a library
    computes without letting go of the interpreter; Linux ends the process even then.
    """
    parent = multiprocessing.parent_process()
    if wait is None and parent is not None:
        wait = parent.join
    assert wait is not None, "a process that multiprocessing did not start has a pipe of its own"
    waiting = wait

    def watch() -> None:
        waiting()
        os._exit(LOST)

    threading.Thread(target=watch, daemon=True, name="giantstep-parent").start()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold interrupts (Ctrl-C) back: processes started inside never get any, this one gets it then.

    A new process that is interrupted while it loads, or whose parent stops to tell it what to do,
    would print a traceback.
    """
    noted: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    # Any thread may take a signal, and the main one then acts on it: its handler waits, too.
    here = handler is not None and threading.current_thread() is threading.main_thread()
    if here:
        signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    mask = getattr(signal, "pthread_sigmask", None)
    if mask is not None:
        # Where multiprocessing starts its tracker it lets interrupts through again.
        resource_tracker.ensure_running()
    before = None if mask is None else mask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if mask is not None:
            mask(signal.SIG_SETMASK, before)
        if here:
            signal.signal(signal.SIGINT, handler)
        for number in noted[:1]:
            signal.raise_signal(number)


@contextmanager
def process_pool(count: int) -> Iterator[Pool]:
    """Processes with one thread each, for functions that can be imported; gone when it is left."""
    with ExitStack() as stack:
        with interrupts_held():
            # Spawned: a fork of a process with threads may hang.
            pool = multiprocessing.get_context("spawn").Pool(count, one_of_several)
            stack.enter_context(pool)
        yield pool


def one_of_several() -> None:
    """Begin a process of a pool."""
    end_with_parent()
    # Of an accelerator's memory what is needed: others use it too.
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    share_processors()
