"""Claims as a table for the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.stored import stored_records
from giantstep.papers.references import REFERENCES, papers_in
from giantstep.show.page import changes_text, region_text
from giantstep.show.tables.parts import counted, make_table

STYLES = {"holds": "green", "fails": "red", "undecided": "yellow"}


def claims_list(claims: Sequence[Claim]) -> RenderableType:
    """What every claim says, paper by paper, with its stored verdict; nothing is measured."""
    papers: dict[str, list[Claim]] = {}
    for claim in claims:
        papers.setdefault(next(iter(papers_in(claim.paper)), ""), []).append(claim)
    parts: list[RenderableType] = [
        "giantstep claims NAME measures a claim; verdicts here are stored ones, of quick size",
    ]
    width = max(len(claim.id) for claim in claims)
    for paper, its in papers.items():
        known = f", {REFERENCES[paper].title}" if paper in REFERENCES else ""
        title = f"arXiv {paper}{known}" if paper else "Others"
        table = make_table("", "claim", "verdict", "says")
        for column, least in zip(table.columns, (width, len("undecided")), strict=False):
            column.min_width, column.no_wrap = least, True
        for claim in its:
            verdict = stored_records().get(claim.id, {}).get("verdict", "-")
            table.add_row(claim.id, Text(verdict, STYLES.get(verdict, "")), _told(claim))
        parts += ["", Text(title, style="bold"), table]
    return Group(*parts)


def _told(claim: Claim) -> Text:
    """The statement, and where in the paper it is."""
    place = re.sub(r"^arXiv \S+?(?: \((?:JMLR|PMLR)\))?(?:, |$)", "", claim.paper)
    return Text(claim.statement).append(f" ({place})" if place else "", style="dim")


def claim_words(records: Sequence[dict[str, Any]]) -> RenderableType:
    """What the claims that were asked for say, where, in which regime, and what decides them."""
    parts: list[RenderableType] = []
    for record in records:
        parts += [
            Text(record["id"], style="bold"),
            Text(record["statement"]),
            Text(f"{record['paper']}; {record['regime']}", style="dim"),
            Text(f"rule: {record['rule']}", style="dim"),
            "",
        ]
    return Group(*parts)


def claims_table(records: Sequence[dict[str, Any]]) -> RenderableType:
    """Claim, predicted, measured, verdict; then how many hold and which the papers got wrong."""
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
        for repeated in record["tuned"]:
            text = Text(f"tuned: {changes_text(repeated)}", "dim")
            table.add_row("", text, "", "", Text(repeated["verdict"], "dim"))
        if record["corrected"]:
            table.add_row("", Text(f"seen: {record['seen']}"), "", "", "")
            table.add_row("", Text(f"holds instead: {record['corrected']}"), "", "", "")
    counts = {
        verdict: sum(record["verdict"] == verdict for record in records) for verdict in STYLES
    }
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    lines = [f"{counted(len(records), 'claim')}: {summary}"]
    lines += [
        f"the papers and the measurements differ: {record['id']}, see {record['corrected']}"
        for record in records
        if record["corrected"]
    ]
    return Group(table, "", *lines)
