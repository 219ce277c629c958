"""``giantstep catalog``."""

from __future__ import annotations

from dataclasses import asdict

from giantstep.catalog import CATALOG
from giantstep.commands.output import emit


def catalog(*, json: bool = False) -> None:
    """List the papers' targets by name.

    Parameters
    ----------
    json:
        Print the list as JSON instead of a table.
    """
    emit({name: asdict(entry) for name, entry in CATALOG.items()}, json, None)
    if not json:
        from giantstep.report import catalog_report, show

        show(catalog_report())
