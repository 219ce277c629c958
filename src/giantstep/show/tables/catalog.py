"""The catalog as a table."""

from __future__ import annotations

from rich.console import RenderableType

from giantstep.problem.catalog import CATALOG
from giantstep.show.tables.parts import make_table, shortened


def catalog_report() -> RenderableType:
    """Targets by name, with their source; ``giantstep analyze NAME`` shows more of a formula."""
    return make_table(
        "Targets by name",
        ("name", "formula", "remark", "source"),
        (
            (name, shortened(entry.expression, 40), entry.remark, entry.source)
            for name, entry in CATALOG.items()
        ),
    )
