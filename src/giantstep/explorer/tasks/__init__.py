"""What a worker can be asked to do: a record in this list, a file for each.

The server reads the list; the mathematics behind it loads in the workers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

Emit = Callable[[str, Any], None]
"""Sends an event: its name, and plain values."""

Run = Callable[[Mapping[str, Any], Emit], Any]
"""Takes the request of the page, may send events, and returns plain values."""


@dataclass(frozen=True)
class Task:
    """One kind of work, ``run`` as MODULE:FUNCTION of this room.

    A ``call`` (GET or POST /api/NAME) and an ``export`` (POST /api/export/NAME) answer at once; a
    newer one of the same page, or DELETE /api/NAME, ends one that is under way.  A ``job`` (POST
    /api/jobs with its name as ``kind``) waits in a queue, streams events, and can be cancelled.
    """

    name: str
    way: Literal["call", "export", "job"]
    run: str

    def load(self) -> Run:
        """The function itself."""
        module, _, name = self.run.partition(":")
        return getattr(import_module(f"{__name__}.{module}"), name)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("vocabulary", "call", "vocabulary:vocabulary"),
        Task("analyze", "call", "analyze:run"),
        Task("frame", "call", "predict:frame"),
        Task("predict", "call", "predict:run"),
        Task("beside", "call", "side_by_side:predict"),
        Task("wide", "call", "wide:predict"),
        Task("map", "call", "phase:frame"),
        Task("phase", "call", "phase:predict"),
        Task("sweeps", "call", "stored_sweeps:listed"),
        Task("sweep", "call", "stored_sweeps:opened"),
        Task("claims", "call", "claims:listed"),
        Task("claim", "call", "claims:stored"),
        Task("toml", "export", "export:toml"),
        Task("python", "export", "export:python"),
        Task("sweep-toml", "export", "phase:toml"),
        Task("sweep-python", "export", "phase:python"),
        Task("claim-python", "export", "claims:python"),
        Task("learn", "job", "learn:run"),
        Task("compare", "job", "side_by_side:run"),
        Task("spectrum", "job", "wide:run"),
        Task("cells", "job", "phase:run"),
        Task("measure", "job", "claims:run"),
    )
}
