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
    here = threading.current_thread() is threading.main_thread()
    if not here or handler is not signal.default_int_handler:
        # A command in the background may have been told to ignore interrupts.
        yield
        return
    heard = _Handler()
    signal.signal(signal.SIGINT, heard)
    sys.unraisablehook = heard.ignored
    try:
        yield
    finally:
        heard.rest()
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, handler)


class _Handler:
    """Raises an interrupt, unless it would be lost where the program is: then a moment later."""

    def __init__(self, loading_seconds: float = 10.0) -> None:
        """``loading_seconds`` that libraries may take to load: then it is raised there, too."""
        self.loading_seconds, self.last = loading_seconds, float("inf")
        self.raised: threading.Event | None = None
        """What a thread waits for that interrupts again and again; none, if no thread runs."""

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        self.last = min(self.last, now + self.loading_seconds)
        if now < self.last and _would_be_lost(frame):
            self.repeat()
            return
        self.rest()
        raise KeyboardInterrupt

    def ignored(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Take what Python can only print: an interrupt comes again, all else is printed."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self.repeat()
        else:
            sys.__unraisablehook__(unraisable)

    def repeat(self) -> None:
        """Interrupt the main thread again and again, until that has been raised."""
        if self.raised is None:
            self.raised = threading.Event()
            threading.Thread(target=_repeat, args=(self.raised,), daemon=True).start()

    def rest(self) -> None:
        """Let the thread end that interrupts again and again."""
        self.last = float("inf")
        if self.raised is not None:
            self.raised.set()
            self.raised = None


def _would_be_lost(frame: FrameType | None) -> bool:
    """Whether a frame is part of an import, or of the hook for exceptions that Python ignores."""
    while frame is not None:
        code = frame.f_code
        hook = code is _Handler.ignored.__code__
        if hook or code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _repeat(raised: threading.Event, seconds: float = 0.02) -> None:
    """Interrupt the main thread, also while it waits for something."""
    while not raised.wait(seconds):
        if sys.platform == "win32":
            signal.raise_signal(signal.SIGINT)
        else:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
