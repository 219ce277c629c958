"""A word of the glossary, and the papers that several words name."""

from __future__ import annotations

from dataclasses import dataclass

GIANT = "arXiv 2305.18270"
SPIKES = "arXiv 2310.07891"
TWO_STEPS = "arXiv 2605.17767"
REUSE = "arXiv 2402.03220"


@dataclass(frozen=True)
class Term:
    """A word and its other names, what it means, and where to read on."""

    names: tuple[str, ...]
    text: str
    formula: str = ""
    see: tuple[str, ...] = ()
    paper: str = ""

    @property
    def name(self) -> str:
        return self.names[0]
