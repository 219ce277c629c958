"""The papers' figures as a list."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from giantstep.papers.figures.record import Reproduction
from giantstep.show.tables.parts import make_table
from giantstep.show.tex import plain_words


def figures_table(figures: Sequence[Reproduction]) -> RenderableType:
    """Name, title and paper of every figure."""
    return make_table(
        "Figures by name; giantstep reproduce NAME draws one",
        ("figure", "shows", "paper"),
        ((figure.name, plain_words(figure.title), figure.paper) for figure in figures),
    )
