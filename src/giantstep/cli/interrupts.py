"""Interrupts (Ctrl-C) that end a command wherever they come."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_heard() -> Iterator[None]:
    """Raise interrupts where they are passed on, and a moment later where they would be lost.

    Libraries that are being loaded drop exceptions, or take them for a missing part.  In a callback
    of the garbage collector (JAX has one) or of a weak reference an exception is lost.  Python
    prints it as ignored, and the command would go on.
    """
    hook, handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    # A command in the background may have been told to ignore interrupts.
    here = threading.current_thread() is threading.main_thread()
    taken = here and handler is signal.default_int_handler
    if taken:
        signal.signal(signal.SIGINT, _Handler())
    sys.unraisablehook = _raise_again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        if taken:
            signal.signal(signal.SIGINT, handler)


class _Handler:
    """Raises an interrupt, unless libraries are being loaded: then a moment later."""

    def __init__(self, loading_seconds: float = 10.0) -> None:
        """``loading_seconds`` that libraries may take to load: then it is raised there, too."""
        self.loading_seconds, self.last = loading_seconds, float("inf")

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        self.last = min(self.last, now + self.loading_seconds)
        if now < self.last and _loads(frame):
            _interrupt_later()
            return
        self.last = float("inf")
        raise KeyboardInterrupt


def _loads(frame: FrameType | None) -> bool:
    """Whether a frame is part of an import."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _raise_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Take what Python can only print: an interrupt comes again, all else is printed."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _interrupt_later()
    else:
        sys.__unraisablehook__(unraisable)


def _interrupt_later(seconds: float = 0.02) -> None:
    """Try again soon to raise an interrupt that could not be raised."""
    timer = threading.Timer(seconds, _interrupt)
    timer.daemon = True
    timer.start()


def _interrupt() -> None:
    """Interrupt the main thread, also while it waits for something."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
