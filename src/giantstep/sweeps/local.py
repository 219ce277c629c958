"""Tasks on the processors of this machine: processes that live for many tasks each."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.simulation.cost import on_accelerator
from giantstep.simulation.threads import cores
from giantstep.sweeps.work import Report, Task

TRIES = 2
"""Times a task is given out: a second time where its process was lost, say to the memory killer."""

PROCESS_BYTES = 400 * 2**20
"""Memory of a process beside its arrays: Python, NumPy, SciPy and JAX."""


def available_bytes() -> int | None:
    """Memory that is free on this machine or within its control group; None where none tells."""
    bounds = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        bounds += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
        group = Path("/sys/fs/cgroup")
        most = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        bounds += [int(most) - used] if most.isdigit() else []
    except (OSError, ValueError):
        pass
    return min(bounds) if bounds else None


def share_accelerators() -> None:
    """Let this process and its workers take of an accelerator's memory what they use, not most."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def check_workers(workers: int | None) -> None:
    """Refuse a number of processes that does nothing."""
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")


def process_count(settings: Iterable[Setting], tasks: int, largest_bytes: int) -> int:
    """Processes for so many tasks: one a processor, as far as their memory reaches.

    An accelerator does one thing at a time: one process where any setting runs there.
    """
    if any(on_accelerator(setting) for setting in settings):
        return 1
    free = available_bytes()
    fitting = cores() if free is None else max(1, free // (PROCESS_BYTES + largest_bytes))
    return max(1, min(cores(), tasks, fitting))


class Pool:
    """Processes that do tasks; used in a ``with``, which ends them however it is left."""

    def __init__(self, folder: Path, count: int) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        command = [sys.executable, "-m", "giantstep.sweeps.worker", str(folder)]
        self.command, self.environment = command, os.environ | {"PYTHONPATH": paths}
        self.processes = [self.started() for _ in range(count)]
        self.closed = False

    def started(self) -> subprocess.Popen[str]:
        """A new process, out of reach of the terminal's interrupts: those are for the sweep."""
        return subprocess.Popen(
            self.command,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.closed = True
        for process in self.processes:
            _end(process)

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Report]]:
        """The number and the report of each task as it ends; OSError where none can be written."""
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[int, Report] | OSError] = queue.SimpleQueue()
        for number in range(len(tasks)):
            waiting.put(number)

        def attend(place: int) -> None:
            while not self.closed:
                try:
                    number = waiting.get_nowait()
                except queue.Empty:
                    return
                done.put(self.attempt(place, number, tasks[number]))

        for place in range(len(self.processes)):
            threading.Thread(target=attend, args=(place,), daemon=True).start()
        for _ in tasks:
            ended = done.get()
            if isinstance(ended, OSError):
                raise ended
            yield ended

    def attempt(self, place: int, number: int, task: Task) -> tuple[int, Report] | OSError:
        """Give a task to the process at a place, and again to a new one if that is lost."""
        for _ in range(TRIES):
            process = self.processes[place]
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                print(json.dumps(task), file=process.stdin, flush=True)
                line = process.stdout.readline()
            except (OSError, ValueError):
                line = ""
            if line:
                report = json.loads(line)
                if "unwritten" in report:
                    return OSError(None, report["unwritten"], self.command[-1])
                return number, report
            if self.closed:
                break
            _end(process)
            self.processes[place] = self.started()
        lost = f"its process was lost {TRIES} times, as when memory runs out"
        return number, {"failure": lost, "traceback": None}


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a process and close what leads to it; a task it has not read goes with it."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
