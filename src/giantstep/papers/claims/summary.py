"""The verdicts of stored records as one page: full size, quick size, controls, tuned constants."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from giantstep.errors import InputError
from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.running import plain_fields

TITLE = "The claims of the papers, measured"

INTRODUCTION = (
    "What `giantstep claims --table FOLDER` prints of the records that `giantstep claims` and "
    "`giantstep claims --full --controls` left in folders. Verdicts are followed by the number of "
    "seeds where there are several; a dash is what was not measured, or is not there to be. "
    "Controls violate an assumption and must fail. Where a constant was tuned the verdict is "
    "repeated with other values of it. A claim that fails is contradicted by the measurement; what "
    "holds instead is in [differences.md](differences.md)."
)
COLUMNS = ("claim", "what it says", "paper", "full size", "quick size", "controls", "tuned")

Record = dict[str, Any]


def stored_records(folder: Path) -> list[Record]:
    """All records of claims below a folder, whichever size and seed they are of."""
    found = []
    for path in sorted(folder.rglob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict) and "verdict" in record:
            found.append(record)
    if not found:
        raise InputError(f"table must be a folder with records of claims, got {str(folder)!r}")
    return found


def summary(claims: Mapping[str, Claim], records: Iterable[Record]) -> str:
    """The page in Markdown; a record counts if the claim still says and asks what it did."""
    kept: dict[str, list[Record]] = {name: [] for name in claims}
    for record in records:
        claim = claims.get(record["id"])
        if claim is not None and _is_of(record, claim):
            kept[claim.id].append(record)
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for claim in claims.values():
        found = kept[claim.id]
        cells = (
            claim.id,
            claim.statement,
            claim.paper,
            *(_verdicts(_of_size(found, size)) for size in ("full", "quick")),
            _share(
                [part["verdict"] == "fails" for record in found for part in record["controls"]],
                "fail",
            ),
            _share(
                [
                    part["verdict"] == record["verdict"]
                    for record in found
                    for part in record["tuned"]
                ],
                "the same",
            ),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    everything = [record for found in kept.values() for record in found]
    measured = [_measured(_of_size(everything, size), size) for size in ("full", "quick")]
    parts = [f"# {TITLE}", INTRODUCTION, *(text for text in measured if text), "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _is_of(record: Record, claim: Claim) -> bool:
    now = (claim.statement, claim.rule, plain_fields(claim.fields))
    return now == (record["statement"], record["rule"], record["setting"])


def _of_size(records: Iterable[Record], size: str) -> list[Record]:
    return [record for record in records if record["size"] == size]


def _verdicts(records: Sequence[Record]) -> str:
    """The verdict of one seed, or those of several with their numbers; a seed counts once."""
    counts = Counter({record["seed"]: record["verdict"] for record in records}.values())
    if counts.total() <= 1:
        return next(iter(counts), "-")
    return ", ".join(f"{verdict} {count}" for verdict, count in counts.most_common())


def _share(agree: Sequence[bool], word: str) -> str:
    if not agree:
        return "-"
    return f"all {word}" if all(agree) else f"{sum(agree)} of {len(agree)} {word}"


def _measured(records: Sequence[Record], size: str) -> str:
    """Seeds, verdicts and processor time of all records of a size, in a sentence."""
    if not records:
        return ""
    seeds = ", ".join(str(seed) for seed in sorted({record["seed"] for record in records}))
    verdicts = Counter(record["verdict"] for record in records)
    told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    seconds = sum(record["processor_seconds"] for record in records)
    return f"{size.capitalize()} size, seed {seeds}: {told}; {seconds:.0f} processor seconds."
