"""Claims as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.source import FINDINGS
from giantstep.papers.claims.stored import stored_records
from giantstep.papers.references import REFERENCES, papers_in
from giantstep.show.page import changes_text, measured_text, region_text
from giantstep.show.tables.parts import MISSING, Cell, counted, dim, make_table

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
        verdicts = {c.id: stored_records().get(c.id, {}).get("verdict", MISSING) for c in members}
        table = make_table(
            "",
            ("claim", "verdict", "says"),
            ((c.id, _badge(verdicts[c.id]), _statement(c)) for c in members),
            unbroken=("claim", "verdict"),
        )
        for column, least in zip(table.columns, (width, len("undecided")), strict=False):
            column.min_width = least
        parts += ["", Text(title, style="bold"), table]
    return Group(*parts)


def _group(claim: Claim) -> str:
    """The title under which a claim is listed: its paper, and whether the paper states it."""
    paper = next(iter(papers_in(claim.source.paper)), "")
    title = f"arXiv {paper}" if paper else "claims without a paper"
    if claim.source.is_finding:
        return f"Findings beyond {title}" if paper else "Findings"
    name = f", {REFERENCES[paper].title}" if paper in REFERENCES else ""
    return f"{title}{name}"


def _statement(claim: Claim) -> Text:
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
            *_line("assumptions", record["assumptions"]),
            Text(f"tested at: {record['regime']}", style="dim"),
            Text(f"rule: {record['rule']}", style="dim"),
            "",
        ]
    return Group(*parts)


def _line(name: str, value: str) -> list[Text]:
    return [Text(f"{name}: {value}", style="dim")] if value else []


def claims_table(records: Sequence[dict[str, Any]]) -> RenderableType:
    """Claim, predicted, measured, verdict; then statements and findings counted apart."""
    table = make_table(
        "",
        ("claim", "quantity", "predicted", "measured", "verdict"),
        (row for record in records for row in _rows(record)),
        unbroken=("claim",),
    )
    lines = [
        f"the paper and the measurement differ: {record['id']}, see {record['corrected']}"
        for record in records
        if record["verdict"] == "fails" and record["corrected"]
    ]
    return Group(table, "", *counts_by_kind(records), *lines)


def _rows(record: dict[str, Any]) -> Iterator[list[Cell]]:
    """A row for each quantity, control and repetition of a claim, and what holds instead."""
    name, verdict = record["id"], _badge(record["verdict"])
    for quantity, measured in record["measured"].items():
        predicted = region_text(record["predicted"][quantity])
        yield [name, quantity, predicted, measured_text(measured, 3), verdict]
        name, verdict = "", Text("")
    due = "not seen" if record["kind"] in FINDINGS else "fails"
    for control in record["controls"]:
        reason = Text(f"control: {control['reason']}", "dim")
        yield ["", reason, due, "", Text(control["verdict"], "dim")]
    for repeated in record["tuned"]:
        yield ["", *dim(f"tuned: {changes_text(repeated)}", "", "", repeated["verdict"])]
    if record["corrected"]:
        yield ["", f"measured: {record['measured_instead']}"]
        yield ["", f"holds instead: {record['corrected']}"]


def _badge(verdict: str) -> Text:
    return Text(verdict, STYLES.get(verdict, ""))


def counts_by_kind(records: Sequence[dict[str, Any]]) -> list[str]:
    """Verdicts of the papers' statements and of findings, a line each."""
    lines = []
    for name, findings in (("statement of the papers", False), ("finding", True)):
        members = [r for r in records if (r["kind"] in FINDINGS) == findings]
        counts = {word: sum(r["verdict"] == word for r in members) for word in STYLES}
        listed = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        if members:
            lines.append(f"{counted(len(members), name)}: {listed}")
    return lines
