"""Progress on standard error: a bar for samples, a line for what is being done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[float, int], None] | None]:
    """A bar on standard error with rate and time left; nothing where it is not a terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("simulating"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("simulating", total=1.0, rate="")
        start = time.perf_counter()

        def report(share: float, samples: int) -> None:
            rate = samples / max(time.perf_counter() - start, 1e-9)
            bar.update(task, completed=share, rate=f"{rate:,.0f} samples/s")

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
