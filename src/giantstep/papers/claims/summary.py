"""The verdicts of stored records as one page: full size, quick size, controls, tuned constants."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantstep.errors import InputError
from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.running import texts


@dataclass(frozen=True)
class Page:
    """A page of verdicts: which claims it lists, and what it says above them."""

    title: str
    introduction: str
    findings: bool


COLUMNS = (
    "claim",
    "what it says",
    "full size",
    "quick size",
    "controls",
    "tuned",
    "kind",
    "source",
    "assumptions",
)
READING = (
    "Verdicts are followed by the number of seeds where there are several; a dash stands where "
    "nothing was measured. Controls violate an assumption, and the statement must fail there. "
    "Where a constant of the experiment was tuned, the verdict is repeated with other values of "
    "it: `stable` if it is the same with all of them, `depends` otherwise. Assumptions have "
    "numbers, and their list stands below the table."
)
STATEMENTS = Page(
    title="The statements of the papers, measured",
    introduction=(
        "Statements that the papers make, each tested inside the assumptions of its source. "
        "This page is what `giantstep claims --table FOLDER` prints of the records that "
        "`giantstep claims` and `giantstep claims --full --controls` left in folders. " + READING
    )
    + " A statement that fails is contradicted by the measurement; what holds instead is on the "
    "page [where the papers and the measurements differ](differences.md). What lies outside the "
    "assumptions of the papers is among the [findings](findings.md).",
    findings=False,
)
FINDINGS = Page(
    title="Findings beyond the papers, measured",
    introduction=(
        "Statements of this project and answers to questions that readers ask: no paper makes "
        "them, or their settings lie outside the assumptions of the paper. They are `seen` or "
        "`not seen`, and no paper is contradicted where one is not seen. This page is what "
        "`giantstep claims --findings --table FOLDER` prints. " + READING
    ),
    findings=True,
)

Record = dict[str, Any]


def stored_records(folder: Path) -> list[Record]:
    """All records of claims below a folder, whichever size and seed they are of."""
    contents = (
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.json"))
    )
    records = [
        content for content in contents if isinstance(content, dict) and "verdict" in content
    ]
    if not records:
        raise InputError(f"table must be a folder with records of claims, got {str(folder)!r}")
    return records


def summary(claims: Mapping[str, Claim], records: Iterable[Record], page: Page = STATEMENTS) -> str:
    """The page in Markdown; a record counts if the claim still says and asks what it did."""
    claims = {n: c for n, c in claims.items() if c.source.is_finding == page.findings}
    kept: dict[str, list[Record]] = {name: [] for name in claims}
    for record in records:
        claim = claims.get(record["id"])
        if claim is not None and _is_of(record, claim):
            kept[claim.id].append(record)
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    made = (claim.source.assumptions for claim in claims.values())
    numbers = {text: f"A{k}" for k, text in enumerate(dict.fromkeys(filter(None, made)), 1)}
    for claim in claims.values():
        records_of_claim = kept[claim.id]
        cells = (
            claim.id,
            claim.statement,
            *(_verdicts(_of_size(records_of_claim, size)) for size in ("full", "quick")),
            _controls(records_of_claim),
            _tuned(records_of_claim),
            claim.source.kind,
            claim.source.citation,
            numbers.get(claim.source.assumptions, "-"),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    everything = [record for some in kept.values() for record in some]
    measured = [_measured(_of_size(everything, size), size) for size in ("full", "quick")]
    parts = [
        f"# {page.title}",
        page.introduction,
        *(text for text in measured if text),
        "\n".join(lines),
    ]
    if numbers:
        listed = (f"- **{number}**: {text}" for text, number in numbers.items())
        parts += ["## Assumptions", "\n".join(listed)]
    return "\n\n".join(parts) + "\n"


def _is_of(record: Record, claim: Claim) -> bool:
    now = (claim.statement, claim.rule, texts(claim.setting), texts(claim.options))
    return now == tuple(record[key] for key in ("statement", "rule", "setting", "options"))


def _of_size(records: Iterable[Record], size: str) -> list[Record]:
    return [record for record in records if record["size"] == size]


def _verdicts(records: Sequence[Record]) -> str:
    """The verdict of one seed, or those of several with their numbers; a seed counts once."""
    counts = Counter({record["seed"]: record["verdict"] for record in records}.values())
    if counts.total() <= 1:
        return next(iter(counts), "-")
    return ", ".join(f"{verdict} {count}" for verdict, count in counts.most_common())


def _controls(records: Sequence[Record]) -> str:
    """How many controls of these records fail, as all of them must."""
    verdicts = [part["verdict"] in ("fails", "not seen") for r in records for part in r["controls"]]
    if not verdicts:
        return "-"
    return "all fail" if all(verdicts) else f"{sum(verdicts)} of {len(verdicts)} fail"


def _tuned(records: Sequence[Record]) -> str:
    """Whether the verdict is the same over the range of every tuned constant."""
    same = [part["verdict"] == r["verdict"] for r in records for part in r["tuned"]]
    if not same:
        return "-"
    return "stable" if all(same) else f"depends ({sum(same)} of {len(same)} the same)"


def _measured(records: Sequence[Record], size: str) -> str:
    """Seeds, verdicts and processor time of all records of a size, in a sentence."""
    if not records:
        return ""
    seeds = ", ".join(str(seed) for seed in sorted({record["seed"] for record in records}))
    verdicts = Counter(record["verdict"] for record in records)
    told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    seconds = sum(record["processor_seconds"] for record in records)
    return f"{size.capitalize()} size, seed {seeds}: {told}; {seconds:.0f} processor seconds."
