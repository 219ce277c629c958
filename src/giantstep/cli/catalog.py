"""``giantstep catalog``."""

from __future__ import annotations

from dataclasses import asdict

from giantstep.cli.output import Said, as_json
from giantstep.problem.catalog import CATALOG


def catalog(*, json: Said = False) -> None:
    """List the papers' targets by name.

    Parameters
    ----------
    json:
        Print the list as JSON instead of a table.
    """
    if json:
        print(as_json({name: asdict(entry) for name, entry in CATALOG.items()}))
        return
    from giantstep.show.tables.catalog import catalog_report
    from giantstep.show.tables.parts import show

    show(catalog_report())
