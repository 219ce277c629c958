"""``giantstep catalog``."""

from __future__ import annotations

from dataclasses import asdict

from giantstep.cli.output import emit
from giantstep.problem.catalog import CATALOG


def catalog(*, json: bool = False) -> None:
    """List the papers' targets by name.

    Parameters
    ----------
    json:
        Print the list as JSON instead of a table.
    """
    emit({name: asdict(entry) for name, entry in CATALOG.items()}, json, None)
    if not json:
        from giantstep.show.tables import catalog_report, show

        show(catalog_report())
