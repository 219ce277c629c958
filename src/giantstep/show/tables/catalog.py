"""The catalog as a table."""

from __future__ import annotations

from rich.console import RenderableType

from giantstep.problem.catalog import CATALOG
from giantstep.show.tables.parts import make_table

LONG = 40
"""Characters of a formula that are shown; ``giantstep analyze NAME`` shows more."""


def catalog_report() -> RenderableType:
    """Targets by name, with their source."""
    table = make_table("Targets by name", "name", "formula", "remark", "source")
    for name, entry in CATALOG.items():
        text = entry.expression
        short = text if len(text) <= LONG else text[: LONG - 4] + " ..."
        table.add_row(name, short, entry.remark, entry.source)
    return table
