"""A word of the glossary, and the papers that several words name."""

from __future__ import annotations

from dataclasses import dataclass

GIANT = "arXiv 2305.18270"
SPIKES = "arXiv 2310.07891"
TWO_STEPS = "arXiv 2605.17767"
REUSE = "arXiv 2402.03220"


@dataclass(frozen=True)
class Term:
    """A word and its other names, what it means, and where to read on.

    The first sentence of ``text`` is the definition; two spaces stand between sentences.  Formulas
    are LaTeX between dollar signs.  ``linked`` are the names that pages of the site link to this
    entry where they use one for the first time.
    """

    names: tuple[str, ...]
    text: str
    formula: str = ""
    see: tuple[str, ...] = ()
    paper: str = ""
    linked: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def definition(self) -> str:
        """The first sentence: what the word means."""
        return self.text.partition("  ")[0]

    @property
    def explanation(self) -> str:
        """What is said after the definition."""
        return self.text.partition("  ")[2]
