"""Processes beside this one, which call functions for it and end when it ends.

Each is a new interpreter (a fork of a process with threads may hang) that runs
``giantstep.simulation.worker``, and never the script of the user.  Calls go in and messages come
out through its standard streams.  It has a session of its own, so that an interrupt of the
terminal (Ctrl-C) is for this process alone.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, Self

SHARING = "sharing"
"""Told to a process that is one of several: it has one thread, and leaves the others to them."""

Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function that can be imported by its name, and its arguments."""


class ProcessLostError(RuntimeError):
    """The process of a call ended before the call did, as when memory runs out."""


class Process:
    """A process that calls functions, one after the other.

    Its messages are (kind, value): any ``event`` that a function sends by ``worker.say``, then its
    ``result``, or the exception as ``error``.
    """

    def __init__(self, *words: str, command: Sequence[str] = (sys.executable,)) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [*command, "-m", "giantstep.simulation.worker", *words],
            env=os.environ | {"PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Ask for a call; a process that has ended says so when its message is asked for."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            send(self._process.stdin, pickle.dumps((function, arguments)))

    def message(self) -> tuple[str, Any]:
        """The next message; EOFError where the process has ended."""
        assert self._process.stdout is not None
        try:
            kind, value = pickle.loads(receive(self._process.stdout))
        except (OSError, ValueError):  # closed by another thread
            raise EOFError from None
        return kind, value

    def outcome(self, function: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
        """Call a function and wait for its end: its ``result`` or its ``error``."""
        self.call(function, *arguments)
        while (message := self.message())[0] == "event":
            pass
        return message

    def kill(self) -> None:
        """End the process at once, whatever it computes."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process and close what leads to it; a call it has not read goes with it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()


def send(stream: IO[bytes], content: bytes) -> None:
    """Write one message: its length, then its bytes."""
    stream.write(len(content).to_bytes(8) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read one message; EOFError at the end of the stream."""
    length = int.from_bytes(_exactly(stream, 8))
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content


class Pool:
    """Processes with one thread each; used in a ``with``, which ends them however it is left."""

    def __init__(self, count: int, *, tries: int = 2) -> None:
        """``tries``: a call whose process was lost, say to the memory killer, is made again."""
        self.processes = [Process(SHARING) for _ in range(count)]
        self.tries, self.closed = tries, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.closed = True
        for process in self.processes:
            process.end()

    def map(self, function: Callable[..., Any], values: Sequence[Any]) -> list[Any]:
        """The results for some values, in their order; the first exception is raised."""
        results = dict(self.run([(function, (value,)) for value in values]))
        for result in results.values():
            if isinstance(result, BaseException):
                raise result
        return [results[number] for number in range(len(values))]

    def run(self, calls: Sequence[Call]) -> Iterator[tuple[int, Any]]:
        """The number and the result of each call as it ends; an exception in place of a result."""
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        for number in range(len(calls)):
            waiting.put(number)

        def attend(place: int) -> None:
            while not self.closed:
                try:
                    number = waiting.get_nowait()
                except queue.Empty:
                    return
                done.put((number, self._attempt(place, calls[number])))

        for place in range(len(self.processes)):
            threading.Thread(target=attend, args=(place,), daemon=True).start()
        for _ in calls:
            yield done.get()

    def _attempt(self, place: int, call: Call) -> Any:
        """The result of a call by the process at a place, or by a new one if that is lost."""
        function, arguments = call
        for _ in range(self.tries):
            try:
                return self.processes[place].outcome(function, *arguments)[1]
            except EOFError:
                if self.closed:
                    break
            self.processes[place].end()
            self.processes[place] = Process(SHARING)
        return ProcessLostError(f"its process was lost {self.tries} times, as when memory runs out")
