"""Progress on standard error: a bar for samples, a line for what is being done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:  # an analysis loads nothing of sweeps
    from giantstep.sweeps.sweep import Progress as Progressing


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[float, int], None] | None]:
    """A bar on standard error with rate and time left; nothing where it is not a terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("predicting", total=1.0, rate="")
        start = time.perf_counter()

        def report(share: float, samples: int) -> None:
            rate = samples / max(time.perf_counter() - start, 1e-9)
            said = f"{rate:,.0f} samples/s"
            bar.update(task, description="simulating", completed=share, rate=said)

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


PATIENCE = 2.0
"""Seconds after which a computation without a bar says that it is at work."""


@contextmanager
def patience(text: str, quiet: bool, after: float = PATIENCE) -> Iterator[None]:
    """A line on standard error about work that takes longer than people wait; none before."""
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


EVERY = 10.0
"""Seconds between the lines of progress where there is no terminal."""


@contextmanager
def sweep_progress(quiet: bool) -> Iterator[Callable[[Progressing], None] | None]:
    """Runs that are done, rate and time left of a sweep, on standard error."""
    console = Console(stderr=True)
    if quiet:
        yield None
        return
    start = time.perf_counter()

    def line(at: Progressing) -> str:
        passed = max(time.perf_counter() - start, 1e-9)
        left = passed * (1.0 - at.share) / max(at.share, 1e-9)
        failed = f", {at.failed:,} cells failed" if at.failed else ""
        return (
            f"{at.done:,} of {at.total:,} runs and predictions, {at.done / passed:.3g} a second, "
            f"{timedelta(seconds=round(left))} left{failed}"
        )

    if console.is_terminal:
        with console.status("starting") as status:
            yield lambda at: status.update(line(at))
        return
    said = [start]

    def report(at: Progressing) -> None:
        if time.perf_counter() - said[0] >= EVERY:
            said[0] = time.perf_counter()
            console.print(line(at), soft_wrap=True, highlight=False)

    yield report
