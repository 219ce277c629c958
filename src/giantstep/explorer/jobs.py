"""Long work: a queue, one running job a page, events for whoever listens, and cancel."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from giantstep.explorer.pool import Pool
from giantstep.explorer.worker import ENDS, Worker


class Full(Exception):  # noqa: N818 - an answer, not a failure
    """As many jobs wait as may, of this page or of all."""


@dataclass
class Job:
    """One job: its events so far, each (name, JSON), and the files it has made.

    Events beyond ``most_bytes`` are left out, but for the end.
    """

    page: str
    task: str
    request: Mapping[str, Any]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    state: str = "queued"
    events: list[tuple[str, bytes]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    size: int = 0
    most_bytes: int = 2**25
    worker: Worker | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        return self.state not in ("queued", "running")

    def add(self, name: str, data: bytes) -> None:
        """Keep an event; of progress only the newest, in its place."""
        if name == "file":
            made = json.loads(data)
            self.files[made["name"]] = made["text"]
            return
        if name == "progress" and self.events and self.events[-1][0] == "progress":
            self.events[-1] = (name, data)
        elif self.size + len(data) <= self.most_bytes or name in ENDS:
            self.events.append((name, data))
            self.size += len(data)
        self.wake()

    def wake(self) -> None:
        """Tell the listeners that there is something new."""
        self.news.set()
        self.news = asyncio.Event()

    async def listen(self, after: int = 0) -> AsyncIterator[tuple[int, str, bytes]]:
        """Events with their numbers, those from before first, until the job has ended."""
        shown: tuple[int, bytes] | None = None
        while True:
            # Progress is replaced where it stands: its last place is looked at again.
            while after < len(self.events):
                name, data = self.events[after]
                after += 1
                shown = (after, data)
                yield after, name, data
            if shown is not None and after and self.events[after - 1][1] is not shown[1]:
                name, data = self.events[after - 1]
                shown = (after, data)
                yield after, name, data
                continue
            if self.ended:
                return
            await self.news.wait()

    def as_dict(self) -> dict[str, Any]:
        """What a list of jobs shows."""
        return {"id": self.id, "kind": self.task, "state": self.state, "files": sorted(self.files)}


class Jobs:
    """All jobs of the server, in the order in which they were asked for."""

    def __init__(
        self,
        pool: Pool,
        *,
        running: int = 2,
        queued: int = 8,
        waiting: int = 64,
        kept: int = 24,
    ) -> None:
        """Jobs ``running`` at the same time, whatever the number of pages; ``queued`` ones of one
        page and ``waiting`` ones of all at most; ``kept`` ones that are finished, whose results can
        still be fetched.
        """
        self._pool, self._running, self._kept = pool, running, kept
        self._queued, self._waiting = queued, waiting
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Cancel everything, from any thread: streams end, and the server can stop."""
        for job in list(self._jobs.values()):
            self._loop.call_soon_threadsafe(self.cancel, job)

    def of(self, page: str) -> list[Job]:
        return [job for job in self._jobs.values() if job.page == page]

    def find(self, number: str) -> Job | None:
        return self._jobs.get(number)

    def submit(self, page: str, task: str, request: Mapping[str, Any]) -> Job:
        """Put a job into the queue of its page."""
        waiting = [job.page for job in self._jobs.values() if job.state == "queued"]
        if waiting.count(page) >= self._queued or len(waiting) >= self._waiting:
            raise Full
        job = Job(page, task, request)
        self._jobs[job.id] = job
        self._forget()
        self._advance()
        return job

    def cancel(self, job: Job) -> None:
        """End a job, waiting or running: its process is killed."""
        if job.ended:
            return
        job.state = "cancelled"
        job.add("cancelled", b"{}")
        if job.worker is not None:
            job.worker.kill()
        self._advance()

    def _forget(self) -> None:
        ended = [job for job in self._jobs.values() if job.ended]
        for job in ended[: max(0, len(ended) - self._kept)]:
            del self._jobs[job.id]

    def _advance(self) -> None:
        """Start the jobs whose turn it is."""
        running = [job for job in self._jobs.values() if job.worker is not None]
        busy = {job.page for job in running}
        for job in list(self._jobs.values()):
            if len(busy) >= self._running:
                return
            if job.state == "queued" and job.page not in busy:
                busy.add(job.page)
                job.state, job.worker = "running", self._pool.take()
                task = asyncio.create_task(self._run(job, job.worker))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _run(self, job: Job, worker: Worker) -> None:
        job.add("started", b"{}")
        worker.send(job.task, job.request)
        name = "died"
        async for name, data in worker.messages():
            if job.state == "running":
                if name in ENDS:
                    job.state = "finished" if name == "result" else "failed"
                job.add(name, data)
        job.worker = None
        self._pool.give_back(worker, finished=name != "died")
        self._advance()
