"""Terms of the glossary for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from giantstep.papers.glossary.term import Term
from giantstep.show.tables.parts import make_table
from giantstep.show.tex import plain_words


def term_report(term: Term) -> RenderableType:
    """What a word means, its formula, its paper, and words to look up next."""
    head = Text(term.name, style="bold")
    if others := ", ".join(term.names[1:]):
        head.append(f" (also {others})", style="not bold dim")
    parts: list[RenderableType] = [head, Text(plain_words(term.text.replace("  ", " ")))]
    if term.formula:
        parts.append(Padding(Text(plain_words(term.formula)), (0, 0, 0, 4)))
    if term.paper:
        parts.append(Text(f"paper: {term.paper}", style="dim"))
    if term.see:
        parts.append(Text(f"see also: {', '.join(term.see)}", style="dim"))
    return Group(*parts)


def terms_table(terms: Sequence[Term]) -> RenderableType:
    """Every word with the first sentence of its explanation."""
    return make_table(
        "Words of the tables; giantstep explain WORD says more",
        ("word", "meaning"),
        ((term.name, plain_words(term.definition)) for term in terms),
    )
