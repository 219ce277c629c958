"""Claims as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.show.page import region_text

STYLES = {"holds": "green", "fails": "red", "undecided": "yellow"}


def claims_table(records: Sequence[dict[str, Any]]) -> RenderableType:
    """Claim, predicted, measured, verdict; then how many hold."""
    table = Table(box=None, pad_edge=False)
    for column in ("claim", "quantity", "predicted", "measured", "verdict"):
        table.add_column(column, overflow="fold", no_wrap=column == "claim")
    for record in records:
        name: str = record["id"]
        verdict = Text(record["verdict"], STYLES[record["verdict"]])
        for quantity, measured in record["measured"].items():
            low, high = measured["interval"]
            interval = "" if low == high else f" [{low:.3g}, {high:.3g}]"
            table.add_row(
                name,
                quantity,
                region_text(record["predicted"][quantity]),
                f"{measured['value']:.3g}{interval}",
                verdict,
            )
            name, verdict = "", Text("")
        for control in record["controls"]:
            reason = Text(f"control: {control['reason']}", "dim")
            table.add_row("", reason, "fails", "", Text(control["verdict"], "dim"))
    counts = {
        verdict: sum(record["verdict"] == verdict for record in records) for verdict in STYLES
    }
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return Group(table, "", f"{len(records)} claims: {summary}")
