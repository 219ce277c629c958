"""A process of its own for the mathematics: warm, and gone for good when it is killed."""

from __future__ import annotations

import asyncio
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any

from giantstep.explorer.examples import DEMO
from giantstep.simulation.processes import Process

Message = tuple[str, bytes]
"""The name of a message and its JSON."""


class Worker:
    """The handle of a process that takes one task after the other.

    ``warm`` is set when it has loaded what it needs.  Its messages are events, then one of
    ``result``, ``problem`` or ``bug``; ``died`` where the process ended without one.
    """

    def __init__(self) -> None:
        self._process = Process()
        self._process.call(warm_up)
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self.alive, self.warm = True, asyncio.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                kind, message = self._process.message()
                if kind == "event":
                    self._loop.call_soon_threadsafe(self._hear, message)
                elif kind == "error":  # a process that cannot even load is as good as none
                    traceback.print_exception(message)
                    raise EOFError
        except EOFError:
            self.alive = False
            self._process.end()
            lost = ("died", b'{"message":"the computation was stopped"}')
        try:
            self._loop.call_soon_threadsafe(self._hear, lost)
        except RuntimeError:  # the server is gone already
            return

    def _hear(self, message: Message) -> None:
        self.warm.set()
        if message[0] != "warm":
            self._messages.put_nowait(message)

    def send(self, task: str, request: Mapping[str, Any]) -> None:
        """Ask for a task; a process that is gone has said so already."""
        self._process.call(perform, task, dict(request))

    async def messages(self) -> AsyncIterator[Message]:
        """What the task says, its end the last."""
        while True:
            message = await self._messages.get()
            yield message
            if message[0] in ENDS:
                return

    def kill(self) -> None:
        """End the process at once, whatever it computes."""
        self.alive = False
        self._process.kill()


ENDS = frozenset({"result", "problem", "bug", "died"})
"""Names of the messages that end a task."""


FIRST = {name: DEMO[name] for name in ("target", "activation")}
WARMING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("analyze", FIRST),
    ("predict", {"setting": DEMO, "draft": True}),
)
"""What a process computes before its first task: it loads what most tasks need."""

LATER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("analyze", {"target": "tanh(x1*x2) + x3", "activation": "relu"}),
    ("wide", {"setting": FIRST | {"d": 100, "p": "d"}, "draft": True}),
)
"""After that, when nobody asks: what targets that are no polynomials and wide networks need."""


# -- in the process itself ------------------------------------------------------------------------

LOADS: list[Callable[[], object]] = []
"""What the process still has to load for tasks that may come."""


def warm_up() -> None:
    """Load what tasks need; whoever waits already is served first."""
    from giantstep.explorer.tasks import TASKS
    from giantstep.simulation.worker import is_called, say

    for rehearsed in WARMING:
        if not is_called():
            rehearse(*rehearsed)
    say("event", ("warm", b""))
    # Those of the claims load JAX, which no analysis needs.
    LOADS.extend(partial(rehearse, *rehearsed) for rehearsed in LATER)
    LOADS.extend(task.load for task in TASKS.values())
    load_when_idle()


def rehearse(task: str, request: dict[str, Any]) -> None:
    """Do a task whose answer nobody gets."""
    from giantstep.explorer.tasks import TASKS

    TASKS[task].load()(request, lambda name, value: None)


def load_when_idle(*, seconds: float = 1.0) -> None:
    """After so many seconds without a task load what later ones may need, until one comes."""
    from giantstep.simulation.worker import is_called

    while LOADS and not is_called(seconds):
        LOADS.pop(0)()
        seconds = 0.0


def perform(task: str, request: dict[str, Any]) -> None:
    """Do a task: its events, then its answer, or the sentence why there is none."""
    from giantstep.explorer.problems import SENTENCES, problem
    from giantstep.explorer.tasks import TASKS
    from giantstep.explorer.views.plain import encoded
    from giantstep.simulation.threads import single_blas
    from giantstep.simulation.worker import say

    def tell(name: str, value: Any) -> None:
        say("event", (name, encoded(value)))

    try:
        with single_blas():
            answer = TASKS[task].load()(request, throttled(tell))
        tell("result", answer)
    except SENTENCES as error:
        tell("problem", problem(error))
    except Exception as error:  # a bug: its traceback belongs on the terminal
        traceback.print_exc()
        tell("bug", {"message": f"a defect of giantstep: {error!r}"})
    load_when_idle()


def throttled(tell: Callable[[str, Any], None], *, seconds: float = 0.1) -> Callable[..., None]:
    """Events as they come, but for progress: ten times a second looks smooth."""
    said = 0.0

    def emit(name: str, value: Any) -> None:
        nonlocal said
        now = time.monotonic()
        if name == "progress":
            if now - said < seconds:
                return
            said = now
        tell(name, value)

    return emit
