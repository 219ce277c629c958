"""Run claims one after another; a record that was written survives a kill and is taken up again."""

from __future__ import annotations

import hashlib
import inspect
import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from giantstep import __version__
from giantstep.papers.claims.quantity import LEVEL, quantity_dict
from giantstep.papers.claims.record import Claim, Findings
from giantstep.records.file import write_whole
from giantstep.records.origin import package_source


def run_claims(
    claims: Sequence[Claim],
    *,
    full: bool = False,
    controls: bool = False,
    seed: int = 0,
    folder: Path | None = None,
    started: Callable[[Claim], None] | None = None,
    processes: int = 1,
) -> Iterator[dict[str, Any]]:
    """The record of every claim in turn; those found in the folder are not run again.

    A record is taken from the folder only if its fingerprint is that of the claim.  An interrupt
    is passed on: the claims before it are in the folder, those it cut short are not.  With
    ``processes``, for claims of ``CLAIMS``, as many are measured at a time.

    >>> from giantstep import CLAIMS
    >>> CLAIMS["one-step-line"].paper
    'arXiv 2305.18270 (JMLR), Theorems 4-5'
    """

    def place(claim: Claim) -> tuple[Path | None, str]:
        path = None if folder is None else folder / f"{claim.id}.json"
        return path, fingerprint(claim, full, controls, seed)

    with ExitStack() as stack:
        ahead: dict[str, Any] = {}
        if processes > 1:
            missing = [
                claim for claim in claims if _is_listed(claim) and _kept(*place(claim)) is None
            ]
            # Spawned: a fork of a process with threads may hang.
            pool = stack.enter_context(
                get_context("spawn").Pool(min(processes, len(missing) or 1), _without_interrupts)
            )
            ahead = {
                claim.id: pool.apply_async(
                    _measured_by_name, (claim.id, full, controls, seed, *place(claim))
                )
                for claim in missing
            }
        for claim in claims:
            path, key = place(claim)
            kept = None if claim.id in ahead else _kept(path, key)
            if kept is not None:
                yield kept
                continue
            if started is not None:
                started(claim)
            if claim.id in ahead:
                yield ahead[claim.id].get()
            else:
                yield _measured(claim, full, controls, seed, path, key)


def _measured(
    claim: Claim, full: bool, controls: bool, seed: int, path: Path | None, key: str
) -> dict[str, Any]:
    """The record of a claim, written as soon as it is there."""
    record = claim_record(claim, full, controls, seed) | {"fingerprint": key}
    if path is not None:
        _write(path, record)
    return record


def _is_listed(claim: Claim) -> bool:
    """Whether another process finds the claim by its name."""
    from giantstep.papers.claims import CLAIMS

    return CLAIMS.get(claim.id) is claim


def _measured_by_name(name: str, *rest: Any) -> dict[str, Any]:
    from giantstep.papers.claims import CLAIMS

    return _measured(CLAIMS[name], *rest)


def _without_interrupts() -> None:
    """An interrupt of the terminal is for the process that waits; it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


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
    """What a stored record must have in common with the claim that is asked for.

    Everything that decides a verdict: the claim as it is written, its size and seed, the experiment
    with the arguments it is bound to (its regions among them), and the source of everything the
    experiment may call.  That is the whole package but for the rooms that only show results, which
    no experiment can import; its text says more than a version, which stays the same while the
    code is worked on.  NumPy, SciPy and the processor are left out: they change the last digits.
    """
    size = claim.full if full else claim.quick
    experiment = claim.experiment
    bound: dict[str, Any] = {}
    while isinstance(experiment, partial):
        bound = experiment.keywords | bound
        experiment = experiment.func
    parts = [
        *(claim.id, claim.statement, claim.paper, claim.regime, claim.rule),
        *(claim.seen, claim.corrected),
        *(_plain(fields) for fields in (claim.fields, claim.tuned, bound, size)),
        {reason: _plain(changes) for reason, changes in claim.controls.items()},
        inspect.getsource(experiment),
        package_source(),
    ]
    text = repr([*parts, LEVEL, full, controls, seed, __version__])
    return hashlib.sha256(text.encode()).hexdigest()


def claim_record(claim: Claim, full: bool, controls: bool, seed: int) -> dict[str, Any]:
    """Measure a claim, with controls and over its tuned fields where asked for, as plain values."""
    begin = time.perf_counter()
    found = claim.run(full, seed)
    record: dict[str, Any] = {
        "id": claim.id,
        "statement": claim.statement,
        "paper": claim.paper,
        "regime": claim.regime,
        "rule": claim.rule,
        "seen": claim.seen,
        "corrected": claim.corrected,
        "setting": _plain(claim.fields),
        "size": "full" if full else "quick",
        "seed": seed,
        "verdict": found.verdict,
        **_numbers(found),
        "plot": None if found.plot is None else asdict(found.plot),
        "controls": [],
        "tuned": [],
    }
    for reason, changes in claim.controls.items() if controls else ():
        other = claim.run(full, seed, changes)
        record["controls"].append(
            {
                "reason": reason,
                "changes": _plain(changes),
                "verdict": other.verdict,
                **_numbers(other),
            }
        )
    for name, values in claim.tuned.items() if controls else ():
        for value in values:
            other = claim.run(full, seed, {name: value})
            record["tuned"].append({"changes": _plain({name: value}), "verdict": other.verdict})
    return record | {"seconds": time.perf_counter() - begin}


def _plain(fields: Mapping[str, Any]) -> dict[str, str]:
    """Fields as texts that are the same in every process; a callable is its name."""
    return {name: getattr(value, "__name__", str(value)) for name, value in fields.items()}


def _numbers(found: Findings) -> dict[str, Any]:
    quantities = [quantity_dict(quantity) for quantity in found.quantities]
    return {
        "predicted": {
            q["name"]: {
                "value": q["expected"],
                "region": q["region"],
                "allowance": q["allowance"],
            }
            for q in quantities
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


def _kept(path: Path | None, key: str) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("fingerprint") == key else None


def _write(path: Path, record: dict[str, Any]) -> None:
    """All of the record or nothing: a kill leaves no half of a file under its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=2, allow_nan=False) + "\n"
    write_whole(path, text.encode())
