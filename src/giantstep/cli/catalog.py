"""``giantstep catalog``."""

from __future__ import annotations

from dataclasses import asdict

from giantstep.cli.output import Json, present
from giantstep.problem.catalog import CATALOG


def catalog(*, json: Json = False) -> None:
    """List the papers' targets by name."""
    from giantstep.show.tables.catalog import catalog_report

    entries = {name: asdict(entry) for name, entry in CATALOG.items()}
    present(lambda: entries, catalog_report, json=json)
