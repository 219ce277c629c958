"""Records of the claims that the package holds: those of ``giantstep claims`` at quick size.

An installed package does not write into itself: ``python -m giantstep.papers.claims.stored FILE``
takes the claims.json of that command into the sources.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from giantstep.papers.figures.stored import rounded

LEFT_OUT = ("fingerprint", "controls", "tuned")
"""What a stored record does without: it is shown, and never taken for one of today's code."""


@lru_cache(maxsize=1)
def stored_records() -> dict[str, dict[str, Any]]:
    """The records by the identifiers of their claims."""
    text = (files("giantstep.papers.claims") / "data" / "quick.json").read_text(encoding="utf-8")
    return {record["id"]: record for record in json.loads(text)["claims"]}


def as_text(records: Sequence[Mapping[str, Any]]) -> str:
    """One line a claim, numbers as those of stored figures."""
    lines = [
        json.dumps(rounded({k: v for k, v in record.items() if k not in LEFT_OUT}))
        for record in records
    ]
    return '{"claims": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    records = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["claims"]
    place = Path(__file__).parent / "data" / "quick.json"
    place.write_text(as_text(records), encoding="utf-8")
