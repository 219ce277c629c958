"""Claims as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.source import FINDINGS
from giantstep.papers.claims.stored import stored_records
from giantstep.papers.references import REFERENCES, papers_in
from giantstep.show.page import changes_text, region_text
from giantstep.show.tables.parts import counted, make_table

STYLES = {
    "holds": "green",
    "fails": "red",
    "seen": "green",
    "not seen": "magenta",
    "undecided": "yellow",
}


def claims_list(claims: Sequence[Claim]) -> RenderableType:
    """Statements paper by paper, then findings, with stored verdicts; nothing is measured."""
    parts: list[RenderableType] = [
        "giantstep claims NAME measures a claim; the verdicts here are stored ones, of quick size",
    ]
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(_group(claim), []).append(claim)
    width = max((len(claim.id) for claim in claims), default=0)
    # A list of findings stands after all statements of the papers.
    for title, members in sorted(groups.items(), key=lambda group: group[0].startswith("Findings")):
        table = make_table("", "claim", "verdict", "says")
        for column, least in zip(table.columns, (width, len("undecided")), strict=False):
            column.min_width, column.no_wrap = least, True
        for claim in members:
            verdict = stored_records().get(claim.id, {}).get("verdict", "-")
            table.add_row(claim.id, Text(verdict, STYLES.get(verdict, "")), _told(claim))
        parts += ["", Text(title, style="bold"), table]
    return Group(*parts)


def _group(claim: Claim) -> str:
    """The title under which a claim is listed: its paper, and whether the paper states it."""
    paper = next(iter(papers_in(claim.source.paper)), "")
    title = f"arXiv {paper}" if paper else "claims without a paper"
    if claim.source.is_finding:
        return f"Findings beyond {title}" if paper else "Findings"
    known = f", {REFERENCES[paper].title}" if paper in REFERENCES else ""
    return f"{title}{known}"


def _told(claim: Claim) -> Text:
    """The statement, what kind of statement it is and where it stands."""
    source = claim.source
    place = f"{source.kind}: {source.place}" if source.place else source.kind
    return Text(claim.statement).append(f" ({place})", style="dim")


def claim_words(records: Sequence[dict[str, Any]]) -> RenderableType:
    """What the claims that were asked for say, where, in which regime, and what decides them."""
    parts: list[RenderableType] = []
    for record in records:
        parts += [
            Text(record["id"], style="bold"),
            Text(record["statement"]),
            Text(f"source: {record['paper']} ({record['kind']})", style="dim"),
            *(_line("assumptions", record["assumptions"])),
            Text(f"tested at: {record['regime']}", style="dim"),
            Text(f"rule: {record['rule']}", style="dim"),
            "",
        ]
    return Group(*parts)


def _line(name: str, value: str) -> list[Text]:
    return [Text(f"{name}: {value}", style="dim")] if value else []


def claims_table(records: Sequence[dict[str, Any]]) -> RenderableType:
    """Claim, predicted, measured, verdict; then statements and findings counted apart."""
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
            due = "not seen" if record["kind"] in FINDINGS else "fails"
            table.add_row("", reason, due, "", Text(control["verdict"], "dim"))
        for repeated in record["tuned"]:
            text = Text(f"tuned: {changes_text(repeated)}", "dim")
            table.add_row("", text, "", "", Text(repeated["verdict"], "dim"))
        if record["corrected"]:
            table.add_row("", Text(f"measured: {record['measured_instead']}"), "", "", "")
            table.add_row("", Text(f"holds instead: {record['corrected']}"), "", "", "")
    lines = [
        f"the paper and the measurement differ: {record['id']}, see {record['corrected']}"
        for record in records
        if record["verdict"] == "fails" and record["corrected"]
    ]
    return Group(table, "", *counts_by_kind(records), *lines)


def counts_by_kind(records: Sequence[dict[str, Any]]) -> list[str]:
    """Verdicts of the papers' statements and of findings, a line each."""
    lines = []
    for name, findings in (("statement of the papers", False), ("finding", True)):
        members = [r for r in records if (r["kind"] in FINDINGS) == findings]
        counts = {word: sum(r["verdict"] == word for r in members) for word in STYLES}
        told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        if members:
            lines.append(f"{counted(len(members), name)}: {told}")
    return lines
