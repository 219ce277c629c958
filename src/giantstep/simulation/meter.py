"""Progress of a simulation in samples."""

from __future__ import annotations

from collections.abc import Callable


class Meter:
    """Counts samples as they are used and reports the share of those expected."""

    def __init__(self, expected: int, report: Callable[[float, int], None] | None) -> None:
        self.expected, self.report, self.done = max(expected, 1), report, 0

    def add(self, samples: int) -> None:
        self.done += samples
        if self.report is not None:
            self.report(min(self.done / self.expected, 1.0), self.done)
