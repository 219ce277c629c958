"""A process of its own for the mathematics: warm, and gone for good when it is killed."""

from __future__ import annotations

import asyncio
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from giantstep.simulation.processes import end_with_parent, interrupts_held

PROGRESS_SECONDS = 0.1
"""Time between two events of progress: ten a second look smooth."""


class Worker:
    """The handle of a spawned process that takes one task after the other.

    Spawned: a fork of a process with threads may hang.  ``warm`` is set when it has loaded what it
    needs.  Its messages are (name, JSON): events,
    then one of ``result``, ``problem`` or ``bug``; ``died`` where the process ended without one.
    """

    def __init__(self) -> None:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=True)
        # Ctrl-C is for the server, which ends its workers itself.
        with interrupts_held():
            self.process.start()
        theirs.close()
        self._connection = ours
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self.alive, self.warm = True, asyncio.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                self._loop.call_soon_threadsafe(self._hear, self._connection.recv())
        except (EOFError, OSError):
            self.alive = False
            self.process.join()
            lost = ("died", b'{"message":"the computation was stopped"}')
        try:
            self._loop.call_soon_threadsafe(self._hear, lost)
        except RuntimeError:  # the server is gone already
            return

    def _hear(self, message: tuple[str, bytes]) -> None:
        self.warm.set()
        if message[0] != "warm":
            self._messages.put_nowait(message)

    def send(self, task: str, request: Mapping[str, Any]) -> None:
        """Ask for a task; a process that is gone has said so already."""
        with suppress(OSError):
            self._connection.send((task, dict(request)))

    async def messages(self) -> AsyncIterator[tuple[str, bytes]]:
        """What the task says, its end the last."""
        while True:
            message = await self._messages.get()
            yield message
            if message[0] in ENDS:
                return

    def kill(self) -> None:
        """End the process at once, whatever it computes."""
        self.alive = False
        self.process.kill()


ENDS = frozenset({"result", "problem", "bug", "died"})
"""Names of the messages that end a task."""


FIRST = {"target": "x1 + x2 + x1^2 - x2^2", "activation": "relu"}
WARMING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("analyze", FIRST),
    ("predict", {"setting": FIRST | {"d": 100, "p": 4, "readout_n": "2d"}, "draft": True}),
)
"""What a process computes before its first task: it loads what most tasks need."""

LATER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("analyze", {"target": "tanh(x1*x2) + x3", "activation": "relu"}),
    ("wide", {"setting": FIRST | {"d": 100, "p": "d"}, "draft": True}),
)
"""After that, when nobody asks: what targets that are no polynomials and wide networks need."""

IDLE = 1.0
"""Seconds without a task after which a process loads what later ones may need."""


def work(connection: Connection) -> None:
    """The life of the process: load what tasks need, then task after task until the pipe closes."""
    end_with_parent()
    from giantstep.explorer.problems import SENTENCES, problem
    from giantstep.explorer.tasks import TASKS
    from giantstep.explorer.views.plain import encoded
    from giantstep.simulation.threads import single_blas

    said = 0.0

    def emit(name: str, value: Any) -> None:
        nonlocal said
        if name == "progress":
            now = time.monotonic()
            if now - said < PROGRESS_SECONDS:
                return
            said = now
        connection.send((name, encoded(value)))

    def rehearse(task: str, request: dict[str, Any]) -> None:
        TASKS[task].load()(request, lambda name, value: None)

    for rehearsed in WARMING:
        if not connection.poll():  # whoever waits already is served first
            rehearse(*rehearsed)
    connection.send(("warm", b""))
    # Those of the claims load JAX, which no analysis needs.
    left: list[Callable[[], object]] = [partial(rehearse, *rehearsed) for rehearsed in LATER]
    left += [task.load for task in TASKS.values()]
    while True:
        pause = IDLE
        while left and not connection.poll(pause):
            left.pop(0)()
            pause = 0.0
        try:
            task, request = connection.recv()
        except EOFError:
            return
        try:
            with single_blas():
                ended = ("result", encoded(TASKS[task].load()(request, emit)))
        except SENTENCES as error:
            ended = ("problem", encoded(problem(error)))
        except Exception as error:  # a bug: its traceback belongs on the terminal
            traceback.print_exc()
            ended = ("bug", encoded({"message": f"a defect of giantstep: {error!r}"}))
        connection.send(ended)
