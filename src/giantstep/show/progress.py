"""Progress on standard error: a bar for samples, a line for what is being done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:  # an analysis loads nothing of sweeps
    from giantstep.sweeps.sweep import Progress as Progressing


EARLY = 0.05
"""Share of the work before which no time left is shown: compiling a function, which happens once,
made a run of five seconds one of half an hour."""


@contextmanager
def told(console: Console, text: Callable[[], str], every: float) -> Iterator[None]:
    """A line ``every`` so many seconds about work under way, where there is no terminal."""
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(every):
            console.print(text(), soft_wrap=True, highlight=False)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Pace:
    """How far a simulation is and how fast it goes, counted from its first report."""

    def __init__(self) -> None:
        self.begun = time.perf_counter()
        self.reports: list[tuple[float, float, int]] = []
        self.count = 0

    def note(self, share: float, samples: int) -> None:
        """Take a report; the first and the last one are kept."""
        self.reports = [*self.reports[:1], (time.perf_counter(), share, samples)]
        self.count += 1

    @property
    def rate(self) -> str:
        """Samples a second."""
        (start, _, before), (now, _, samples) = self.reports[0], self.reports[-1]
        return f"{(samples - before) / max(now - start, 1e-9):,.0f} samples/s"

    @property
    def line(self) -> str:
        """All of it in words."""
        if not self.reports:
            passed = timedelta(seconds=round(time.perf_counter() - self.begun))
            return f"predicting, since {passed}"
        share = self.reports[-1][1]
        return ", ".join(filter(None, (f"simulating: {share:.0%}", self.rate, self.left)))

    @property
    def left(self) -> str:
        """The time left; empty at the first two reports, which tell nothing of the rate yet."""
        (start, before, _), (now, share, _) = self.reports[0], self.reports[-1]
        if self.count < 3 or share < EARLY:
            return ""
        seconds = (now - start) * (1.0 - share) / max(share - before, 1e-9)
        return f"{timedelta(seconds=round(seconds))} left"


@contextmanager
def progress_bar(
    quiet: bool, *, every: float = 10.0
) -> Iterator[Callable[[float, int], None] | None]:
    """A bar on standard error with rate and time left.

    Where that is no terminal it is a line of text ``every`` so many seconds.
    """
    console, pace = Console(stderr=True), Pace()
    if quiet:
        yield None
        return
    if not console.is_terminal:
        with told(console, lambda: pace.line, every):
            yield pace.note
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("predicting", total=1.0, rate="", left="")

        def report(share: float, samples: int) -> None:
            pace.note(share, samples)
            bar.update(
                task, description="simulating", completed=share, rate=pace.rate, left=pace.left
            )

        yield report


@contextmanager
def spinner(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done; plain lines without a terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda text: None if quiet else console.print(text)
        return
    with console.status("") as status:
        yield lambda text: status.update(text)


@contextmanager
def patience(text: str, quiet: bool, after: float = 2.0) -> Iterator[None]:
    """A line on standard error about work that takes longer than ``after`` seconds."""
    console = Console(stderr=True)
    if quiet:
        yield
        return
    status = console.status(text) if console.is_terminal else None
    start = status.start if status is not None else lambda: console.print(text)
    timer = threading.Timer(after, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if status is not None:
            status.stop()


@contextmanager
def sweep_progress(
    quiet: bool, *, every: float = 10.0
) -> Iterator[Callable[[Progressing], None] | None]:
    """Runs that are done, rate and time left of a sweep, on standard error.

    Where that is no terminal it is a line of text ``every`` so many seconds.
    """
    console = Console(stderr=True)
    if quiet:
        yield None
        return
    start = time.perf_counter()

    def line(at: Progressing) -> str:
        passed = max(time.perf_counter() - start, 1e-9)
        seconds = passed * (1.0 - at.share) / max(at.share, 1e-9)
        left = f", {timedelta(seconds=round(seconds))} left" if at.share >= EARLY else ""
        failed = f", {at.failed:,} cells failed" if at.failed else ""
        return (
            f"{at.done:,} of {at.total:,} runs and predictions, {at.done / passed:.3g} a second"
            f"{left}{failed}"
        )

    if console.is_terminal:
        with console.status("starting") as status:
            yield lambda at: status.update(line(at))
        return
    latest: list[Progressing] = []

    def text() -> str:
        return line(latest[-1]) if latest else "no run is finished yet"

    with told(console, text, every):
        yield latest.append
