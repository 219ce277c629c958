"""Run claims one after another; a record that was written survives a kill and is taken up again."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from giantstep import __version__
from giantstep.papers.claims.record import Claim, Findings, quantity_dict


def run_claims(
    claims: Sequence[Claim],
    *,
    full: bool = False,
    controls: bool = False,
    seed: int = 0,
    folder: Path | None = None,
    started: Callable[[Claim], None] | None = None,
) -> Iterator[dict[str, Any]]:
    """The record of every claim as it is finished; those found in the folder are not run again.

    A record is taken from the folder only if claim, size, seed and version are the same.
    """
    for claim in claims:
        key = fingerprint(claim, full, controls, seed)
        path = None if folder is None else folder / f"{claim.id}.json"
        kept = None if path is None else _kept(path, key)
        if kept is not None:
            yield kept
            continue
        if started is not None:
            started(claim)
        record = claim_record(claim, full, controls, seed) | {"fingerprint": key}
        if path is not None:
            _write(path, record)
        yield record


def stored_claims(
    claims: Sequence[Claim], folder: Path, *, full: bool, controls: bool, seed: int
) -> list[dict[str, Any]]:
    """The records of these claims that the folder holds."""
    found = (
        _kept(folder / f"{claim.id}.json", fingerprint(claim, full, controls, seed))
        for claim in claims
    )
    return [record for record in found if record is not None]


def fingerprint(claim: Claim, full: bool, controls: bool, seed: int) -> str:
    """What a stored record must have in common with the claim that is asked for."""
    size = claim.full if full else claim.quick
    parts = [claim.id, claim.statement, _plain(claim.fields), _plain(claim.control), _plain(size)]
    text = repr([*parts, full, controls, seed, __version__])
    return hashlib.sha256(text.encode()).hexdigest()


def claim_record(claim: Claim, full: bool, controls: bool, seed: int) -> dict[str, Any]:
    """Measure a claim, and its control where asked for: everything as plain values."""
    begin = time.perf_counter()
    found = claim.run(full, seed)
    record: dict[str, Any] = {
        "id": claim.id,
        "statement": claim.statement,
        "paper": claim.paper,
        "regime": claim.regime,
        "rule": claim.rule,
        "setting": _plain(claim.fields),
        "size": "full" if full else "quick",
        "seed": seed,
        "verdict": found.verdict,
        **_numbers(found),
        "plot": None if found.plot is None else asdict(found.plot),
        "control": None,
    }
    if controls:
        other = claim.run(full, seed, control=True)
        record["control"] = {
            "reason": claim.control_reason,
            "changes": _plain(claim.control),
            "verdict": other.verdict,
            **_numbers(other),
        }
    return record | {"seconds": time.perf_counter() - begin}


def _plain(fields: Mapping[str, Any]) -> dict[str, str]:
    """Fields as texts that are the same in every process; a callable is its name."""
    return {name: getattr(value, "__name__", str(value)) for name, value in fields.items()}


def _numbers(found: Findings) -> dict[str, Any]:
    quantities = [quantity_dict(quantity) for quantity in found.quantities]
    return {
        "predicted": {
            q["name"]: {"value": q["expected"], "region": q["region"]} for q in quantities
        },
        "measured": {
            q["name"]: {
                "value": q["measured"],
                "interval": [q["low"], q["high"]],
                "deviation_in_standard_errors": q["deviation"],
                "verdict": q["verdict"],
            }
            for q in quantities
        },
    }


def _kept(path: Path, key: str) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("fingerprint") == key else None


def _write(path: Path, record: dict[str, Any]) -> None:
    """All of the record or nothing: a kill leaves no half of a file under its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    os.replace(draft, path)
