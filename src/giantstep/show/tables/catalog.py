"""The catalog as a table."""

from __future__ import annotations

from rich.console import RenderableType

from giantstep.problem.catalog import CATALOG
from giantstep.show.tables.parts import make_table


def catalog_report() -> RenderableType:
    """Targets by name, with their source."""
    table = make_table("Targets by name", "name", "source", "remark")
    for name, entry in CATALOG.items():
        table.add_row(name, entry.source, entry.remark)
    return table
