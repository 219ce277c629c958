"""Where a statement stands: in which paper, as what, and under which assumptions."""

from __future__ import annotations

from dataclasses import dataclass

from giantstep.errors import InputError, shown

STATEMENTS = {
    "theorem": "a theorem of the paper",
    "conjecture": "a conjecture of the paper or of its slides",
    "figure or table": "a figure or a table of the paper",
    "slide": "a slide of the authors",
    "notebook": "a notebook of the authors",
    "abstract": "a sentence of the paper's abstract",
}
"""Kinds of statement that authors make: their verdict is "holds", "fails" or "undecided"."""

FINDINGS = {
    "reader's question": "a question that a reader asks about the paper",
    "ours": "a statement of this project",
}
"""Kinds of statement that no paper makes: their verdict is "seen", "not seen" or "undecided"."""

KINDS = STATEMENTS | FINDINGS


@dataclass(frozen=True)
class Source:
    """The source of a statement.

    ``paper`` is the arXiv number of the paper, ``place`` where in it, in its slides or in its
    notebooks the statement stands.  ``assumptions`` are those of the source; a finding says there
    which of them it leaves.

    >>> from giantstep import CLAIMS
    >>> source = CLAIMS["one-step-line"].source
    >>> source.kind, source.paper
    ('theorem', 'arXiv 2305.18270')
    """

    kind: str = "ours"
    paper: str = ""
    place: str = ""
    assumptions: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                f"kind of a source must be one of {', '.join(KINDS)}, got {shown(self.kind)}"
            )

    @property
    def is_finding(self) -> bool:
        """Whether no paper makes the statement."""
        return self.kind in FINDINGS

    @property
    def citation(self) -> str:
        """Paper and place in one line; of a finding, what it goes beyond."""
        where = ", ".join(part for part in (self.paper, self.place) if part)
        if not self.is_finding:
            return where
        return f"beyond {where}" if where else self.kind
