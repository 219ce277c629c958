"""Claims as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from giantstep.papers.claims.quantity import quantity_dict
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.source import FINDINGS
from giantstep.papers.claims.stored import stored_records
from giantstep.papers.references import REFERENCES, papers_in
from giantstep.show.page import changes_text, measured_text, region_text
from giantstep.show.tables.parts import MISSING, Cell, counted, dim, make_table
from giantstep.show.tex import plain_words

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
        "giantstep claims NAME measures a claim. The verdicts here are stored ones, of quick runs.",
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
    return Text(plain_words(claim.statement)).append(f" ({plain_words(place)})", style="dim")


def claim_words(records: Sequence[dict[str, Any]]) -> RenderableType:
    """What the claims that were asked for say, where, in which regime, and what decides them."""
    parts: list[RenderableType] = []
    for record in records:
        parts += [
            Text(record["id"], style="bold"),
            Text(plain_words(record["statement"])),
            *_line("source", f"{record['paper']} ({record['kind']})"),
            *_line("assumptions", record["assumptions"]),
            *_line("tested at", record["regime"]),
            *_line("rule", record["rule"]),
            "",
        ]
    return Group(*parts)


def _line(name: str, value: str) -> list[Text]:
    return [Text(f"{name}: {plain_words(value)}", style="dim")] if value else []


def claims_table(records: Sequence[dict[str, Any]]) -> RenderableType:
    """Claim, predicted, measured, verdict."""
    return make_table(
        "",
        ("claim", "quantity", "predicted", "measured", "verdict"),
        (row for record in records for row in _rows(record)),
        unbroken=("claim",),
    )


def findings_report(findings: Findings) -> RenderableType:
    """The verdict of one measurement and its quantities; formulas stay between dollar signs."""
    rows = []
    for quantity in findings.quantities:
        record = quantity_dict(quantity)
        predicted = region_text(record | {"value": quantity.expected})
        interval = {"value": quantity.measured, "interval": (quantity.low, quantity.high)}
        number = measured_text(interval, 3)
        rows.append((quantity.name, predicted, number, _badge(quantity.verdict)))
    columns = ("quantity", "predicted", "measured", "verdict")
    return Group(
        Text(f"Verdict: {findings.verdict}.", STYLES[findings.verdict]),
        make_table("", columns, rows),
    )


def claims_answer(records: Sequence[dict[str, Any]], most: int = 8) -> RenderableType:
    """How many claims hold; of a few claims the verdict and the controls of each."""
    lines = [f"{line}." for line in counts_by_kind(records)]
    if len(records) <= most:
        lines += [f"{record['id']}: {record['verdict']}.{_controls(record)}" for record in records]
    lines += [
        f"The paper and the measurement differ: {record['id']}, see {record['corrected']}."
        for record in records
        if record["verdict"] == "fails" and record["corrected"]
    ]
    return Group(*map(Text, lines), "")


def _controls(record: dict[str, Any]) -> str:
    """Whether the experiments that break an assumption fail, as they must."""
    due = _due(record)
    failed = sum(control["verdict"] == due for control in record["controls"])
    if not record["controls"]:
        return ""
    total = counted(len(record["controls"]), "control")
    return f" Of {total} that break an assumption, {failed} give '{due}', as they should."


def _due(record: dict[str, Any]) -> str:
    """The verdict that a control must have."""
    return "not seen" if record["kind"] in FINDINGS else "fails"


def _rows(record: dict[str, Any]) -> Iterator[list[Cell]]:
    """A row for each quantity, control and repetition of a claim, and what holds instead."""
    name, verdict = record["id"], _badge(record["verdict"])
    for quantity, measured in record["measured"].items():
        predicted = region_text(record["predicted"][quantity])
        yield [name, plain_words(quantity), predicted, measured_text(measured, 3), verdict]
        name, verdict = "", Text("")
    due = _due(record)
    for control in record["controls"]:
        reason = Text(f"control: {plain_words(control['reason'])}", "dim")
        yield ["", reason, due, "", Text(control["verdict"], "dim")]
    for repeated in record["tuned"]:
        yield ["", *dim(f"tuned: {changes_text(repeated)}", "", "", repeated["verdict"])]
    if record["corrected"]:
        yield ["", f"measured: {plain_words(record['measured_instead'])}"]
        yield ["", f"holds instead: {record['corrected']}"]


def _badge(verdict: str) -> Text:
    return Text(verdict, STYLES.get(verdict, ""))


def _verb(count: int, verdict: str) -> str:
    """1 holds, 2 hold, 3 seen."""
    several = {"holds": "hold", "fails": "fail"}.get(verdict, verdict)
    return f"{count} {verdict if count == 1 else several}"


def counts_by_kind(records: Sequence[dict[str, Any]]) -> list[str]:
    """Verdicts of the papers' statements and of findings, a line each."""
    lines = []
    for name, findings in (("statement", False), ("finding", True)):
        members = [r for r in records if (r["kind"] in FINDINGS) == findings]
        counts = {word: sum(r["verdict"] == word for r in members) for word in STYLES}
        listed = ", ".join(_verb(count, word) for word, count in counts.items() if count)
        if members:
            of_papers = "" if findings else " of the papers"
            lines.append(f"{counted(len(members), name)}{of_papers}: {listed}")
    return lines
