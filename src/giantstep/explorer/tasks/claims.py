"""The claims of the papers: their stored records, and one of them measured anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from giantstep.errors import InputError, shown
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.export import dated
from giantstep.explorer.views.claims import claim_view
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.running import run_claims
from giantstep.papers.claims.source import KINDS
from giantstep.papers.claims.stored import stored_records
from giantstep.show.tex import plain_words


def listed(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """Every claim: identifier, statement, paper and the verdict of its stored record."""
    stored = stored_records()
    claims = [
        {
            "id": claim.id,
            "statement": _set(claim.statement),
            "kind": claim.source.kind,
            "finding": claim.source.is_finding,
            "paper": _set(claim.source.citation),
            "verdict": stored[claim.id]["verdict"] if claim.id in stored else None,
        }
        for claim in CLAIMS.values()
    ]
    return {"claims": claims}


def stored(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """A claim with all that its stored record says; without numbers where there is none."""
    claim = _claim(request)
    names = ("id", "statement", "regime", "rule", "measured_instead", "corrected")
    about = {name: _set(getattr(claim, name)) for name in names} | {
        "kind": KINDS[claim.source.kind],
        "finding": claim.source.is_finding,
        "paper": _set(claim.source.citation),
        "assumptions": _set(claim.source.assumptions),
    }
    record = stored_records().get(claim.id)
    return about | {"record": None if record is None else claim_view(record)}


def run(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """Measure a claim at its quick size."""
    claim, seed = _claim(request), _seed(request)
    [record] = run_claims([claim], seed=seed)
    emit("file", {"name": "table.csv", "text": _table(record)})
    return claim_view(record)


def python(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """A script that measures the claim, and the command that does."""
    claim, seed = _claim(request), _seed(request)
    text = (
        f"# giantstep claims {claim.id} --seed {seed}\n"
        "from giantstep import CLAIMS\n\n"
        f"findings = CLAIMS[{claim.id!r}].run(seed={seed})\n"
        "for quantity in findings.quantities:\n"
        "    print(quantity)\n"
        "print(findings.verdict)\n"
    )
    return {"name": f"{claim.id}.py", "text": dated(text)}


def _set(text: str) -> str:
    """A text of a record for the page, which sets formulas between dollar signs, but no code."""
    return text.replace("`", "")


def _claim(request: Mapping[str, Any]) -> Claim:
    name = str(request.get("id", ""))
    if name not in CLAIMS:
        raise InputError(f"claim must be one of the list, got {shown(name)}")
    return CLAIMS[name]


def _seed(request: Mapping[str, Any]) -> int:
    text = str(request.get("seed", 0)).strip()
    # Ten digits are enough, and thousands of them are too many for int.
    if not text.isdecimal() or len(text) > 10 or int(text) >= 2**31:
        raise InputError(f"seed must be a whole number below 2^31, got {shown(text)}")
    return int(text)


def _table(record: Mapping[str, Any]) -> str:
    """The quantities as lines of CSV."""
    lines = ["quantity,predicted,low,high,measured,interval_low,interval_high,verdict"]
    for name, measured in record["measured"].items():
        theory = record["predicted"][name]
        numbers = [theory["value"], *theory["region"], measured["value"], *measured["interval"]]
        cells = ["" if number is None else repr(number) for number in numbers]
        quoted = plain_words(name).replace('"', '""')
        lines.append(",".join([f'"{quoted}"', *cells, measured["verdict"]]))
    return "\n".join(lines) + "\n"
