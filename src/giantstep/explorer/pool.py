"""Warm workers, and calls that answer at once: the newest of a page takes the place of older."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from giantstep.explorer.worker import Worker


class Superseded(Exception):  # noqa: N818 - not an error: nobody waits for the answer
    """A newer call of the same page has taken the place of this one."""


class Slow(Exception):  # noqa: N818 - an answer, not a failure
    """A call has taken as many seconds as it may."""


class Pool:
    """Workers that are idle, and how many calls may be under way.

    ``unasked`` are the seconds of a call that says it is not patient: a page that is typed into
    waits no longer, and says so.  Any other call may take ``patient`` seconds, as a job may.
    ``warm`` processes are there from the start: for an analysis, a prediction and a job; others
    come when more is under way, and stay.  ``at_once`` calls are computed at the same time, those
    that nobody waits for any more counted.  After ``quiet`` seconds without a call the other
    processes are loaded: each takes a core for about two, which the first page needs for itself.
    In ``grace`` seconds a call that nobody waits for may still end; then its process is killed: to
    load another takes as long.
    """

    def __init__(
        self,
        unasked: float = 15.0,
        *,
        patient: float = 900.0,
        warm: int = 3,
        at_once: int = 3,
        quiet: float = 3.0,
        grace: float = 2.0,
    ) -> None:
        self._unasked, self._patient, self._grace = unasked, patient, grace
        self._warm, self._quiet = warm, quiet
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._calls = asyncio.Semaphore(at_once)
        self._called = 0.0
        self._latest: dict[tuple[str, str], asyncio.Task[tuple[str, bytes]]] = {}
        self._filling: asyncio.Task[None] | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Spawn the first process and wait until it is warm; the others follow when it is quiet."""
        first = self._spawned()
        self._idle.append(first)
        await first.warm.wait()
        self._fill()

    def _fill(self) -> None:
        """See to it that there are enough processes, loading one at a time once it is quiet."""
        if self._filling is None or self._filling.done():
            self._filling = asyncio.create_task(self._filled())

    async def _filled(self) -> None:
        self._called = time.monotonic()
        while len(self._all) < self._warm:
            remaining = self._called + self._quiet - time.monotonic()
            if remaining > 0.0:
                await asyncio.sleep(remaining)
                continue
            worker = self._spawned()
            self._idle.append(worker)
            await worker.warm.wait()

    def stop(self) -> None:
        """End every process."""
        if self._filling is not None:
            self._filling.cancel()
        for worker in self._all:
            worker.kill()
        self._idle.clear()

    def _spawned(self) -> Worker:
        worker = Worker()
        self._all.add(worker)
        return worker

    def take(self) -> Worker:
        """An idle worker, one that is warm where there is any."""
        self._idle = [worker for worker in self._idle if worker.alive]
        self._all = {worker for worker in self._all if worker.alive}
        if not self._idle:
            return self._spawned()
        chosen = max(self._idle, key=lambda worker: worker.warm.is_set())
        self._idle.remove(chosen)
        return chosen

    def give_back(self, worker: Worker, *, finished: bool) -> None:
        """A worker that has finished its task waits for the next one; any other is killed."""
        if finished and worker.alive:
            self._idle.append(worker)
        else:
            worker.kill()
            self._all.discard(worker)
            self._fill()

    def drop(self, page: str, task: str) -> None:
        """Give up the call of a task that a page has under way, where it has one."""
        before = self._latest.pop((page, task), None)
        if before is not None:
            before.cancel()

    async def call(self, page: str, task: str, request: Mapping[str, Any]) -> tuple[str, bytes]:
        """The last message of a task; Superseded if the same page asks again meanwhile.

        Slow where it takes too long: after a quarter of an hour unless it is not ``patient``.
        """
        seconds = self._unasked if request.get("patient") is False else self._patient
        self._called = time.monotonic()
        self.drop(page, task)
        key = page, task
        mine = asyncio.create_task(self._answer(task, request))
        self._latest[key] = mine
        try:
            return await asyncio.wait_for(mine, seconds)
        except TimeoutError:
            raise Slow(f"This takes longer than {seconds:.0f} s and was stopped") from None
        except asyncio.CancelledError:
            mine.cancel()
            raise Superseded from None
        finally:
            if self._latest.get(key) is mine:
                del self._latest[key]

    async def _answer(self, task: str, request: Mapping[str, Any]) -> tuple[str, bytes]:
        await self._calls.acquire()
        worker = self.take()
        worker.send(task, request)
        ending = asyncio.create_task(_end(worker))
        try:
            return await asyncio.shield(ending)
        finally:
            leaving = asyncio.create_task(self._leave(worker, ending))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def _leave(self, worker: Worker, ending: asyncio.Task[tuple[str, bytes]]) -> None:
        """Wait a little for a call that nobody waits for, then free its place."""
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(ending), 0.0 if ending.done() else self._grace)
        finished = ending.done() and ending.result()[0] != "died"
        self.give_back(worker, finished=finished)
        self._calls.release()
        if not ending.done():
            await ending


async def _end(worker: Worker) -> tuple[str, bytes]:
    return [message async for message in worker.messages()][-1]
