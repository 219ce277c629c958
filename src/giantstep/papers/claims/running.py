"""Run claims one after another; a record that was written survives a kill and is taken up again."""

from __future__ import annotations

import hashlib
import inspect
import json
import linecache
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from giantstep import __version__
from giantstep.papers.claims.quantity import LEVEL, quantity_dict
from giantstep.papers.claims.record import Claim, Findings
from giantstep.records.file import write_whole
from giantstep.records.origin import package_source
from giantstep.simulation.processes import Pool
from giantstep.simulation.threads import single_blas


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
    ``processes``, for claims of ``CLAIMS``, as many experiments run at a time.

    >>> from giantstep import CLAIMS
    >>> CLAIMS["one-step-line"].source.paper
    'arXiv 2305.18270'
    """

    def place(claim: Claim) -> tuple[Path | None, str]:
        path = None if folder is None else folder / f"{claim.id}.json"
        return path, fingerprint(claim, full, controls, seed)

    def finished(claim: Claim, parts: Sequence[Part]) -> dict[str, Any]:
        path, key = place(claim)
        record = _record(claim, parts, full, seed) | {"fingerprint": key}
        if path is not None:
            _write(path, record)
        return record

    with ExitStack() as stack:
        ahead: Iterator[tuple[int, Any]] = iter(())
        calls: list[tuple[str, int]] = []
        parts: dict[str, dict[int, Part]] = {}
        done: dict[str, dict[str, Any]] = {}
        by_name = {claim.id: claim for claim in claims}
        numbers = {
            claim.id: len(_changes(claim, controls))
            for claim in claims
            if _is_listed(claim) and _kept(*place(claim)) is None
        }
        if (taken := min(processes, sum(numbers.values()))) > 1:
            pool = stack.enter_context(Pool(taken))
            calls = [(name, index) for name, count in numbers.items() for index in range(count)]
            ahead = pool.run([(_measured_by_name, (*call, full, seed)) for call in calls])
        for claim in claims:
            kept = None if claim.id in numbers else _kept(*place(claim))
            if kept is not None:
                yield kept
                continue
            if started is not None:
                started(claim)
            if not calls or claim.id not in numbers:
                yield finished(
                    claim, [_measured(claim, c, full, seed) for c in _changes(claim, controls)]
                )
                continue
            while claim.id not in done:
                # Those that are there before their turn are written all the same.
                number, part = next(ahead)
                if isinstance(part, Exception):
                    raise part
                name, index = calls[number]
                measured = parts.setdefault(name, {})
                measured[index] = part
                if len(measured) == numbers[name]:
                    in_order = [measured[place] for place in range(numbers[name])]
                    done[name] = finished(by_name[name], in_order)
            yield done[claim.id]


@dataclass(frozen=True)
class Part:
    """What one experiment of a claim found, the seconds it took and those of the processor."""

    found: Findings
    seconds: float
    processor_seconds: float


def _changes(claim: Claim, controls: bool) -> list[Mapping[str, Any]]:
    """The fields that each experiment of a claim changes: none, those of controls, tuned ones."""
    if not controls:
        return [{}]
    tuned = [{name: value} for name, values in claim.tuned.items() for value in values]
    return [{}, *claim.controls.values(), *tuned]


def _measured(claim: Claim, changes: Mapping[str, Any], full: bool, seed: int) -> Part:
    wall, processor = time.perf_counter(), time.process_time()
    # Matrices are small: threads of BLAS that wait for each other took four times the work.
    with single_blas():
        found = claim.run(full, seed, changes)
    return Part(found, time.perf_counter() - wall, time.process_time() - processor)


def _is_listed(claim: Claim) -> bool:
    """Whether another process finds the claim by its name."""
    from giantstep.papers.claims import CLAIMS

    return CLAIMS.get(claim.id) is claim


def _measured_by_name(name: str, index: int, full: bool, seed: int) -> Part:
    from giantstep.papers.claims import CLAIMS

    # The claim itself comes first, with the controls or without.
    return _measured(CLAIMS[name], _changes(CLAIMS[name], True)[index], full, seed)


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
        *(claim.id, claim.statement, claim.source, claim.regime, claim.rule),
        *(claim.measured_instead, claim.corrected),
        *(plain_fields(fields) for fields in (claim.fields, claim.tuned, bound, size)),
        {reason: plain_fields(changes) for reason, changes in claim.controls.items()},
        *(inspect.getsource(experiment), _file_text(experiment)),
        package_source(),
    ]
    text = repr([*parts, LEVEL, full, controls, seed, __version__])
    return hashlib.sha256(text.encode()).hexdigest()


def _file_text(experiment: Callable[..., Any]) -> str:
    """All that the file of an experiment says: that of a user's claim is not in the package."""
    path = inspect.getsourcefile(experiment) or ""
    linecache.checkcache(path)
    return "".join(linecache.getlines(path))


def _record(claim: Claim, parts: Sequence[Part], full: bool, seed: int) -> dict[str, Any]:
    """What the experiments of a claim found, in the order of _changes, as plain values."""
    found, *others = [part.found for part in parts]
    changes = [plain_fields(fields) for fields in _changes(claim, bool(others))[1:]]
    reasons = list(claim.controls) if others else []
    rest = list(zip(changes, others, strict=True))
    return {
        "id": claim.id,
        "statement": claim.statement,
        "kind": claim.source.kind,
        "paper": claim.source.citation,
        "assumptions": claim.source.assumptions,
        "regime": claim.regime,
        "rule": claim.rule,
        "measured_instead": claim.measured_instead,
        "corrected": claim.corrected,
        "setting": plain_fields(claim.fields),
        "size": "full" if full else "quick",
        "seed": seed,
        "verdict": claim.judged(found),
        **_numbers(found),
        "plot": None if found.plot is None else asdict(found.plot),
        "controls": [
            {"reason": reason, "changes": fields, "verdict": claim.judged(other), **_numbers(other)}
            for reason, (fields, other) in zip(reasons, rest, strict=False)
        ],
        "tuned": [
            {"changes": fields, "verdict": claim.judged(other)}
            for fields, other in rest[len(reasons) :]
        ],
        "seconds": sum(part.seconds for part in parts),
        "processor_seconds": sum(part.processor_seconds for part in parts),
    }


def plain_fields(fields: Mapping[str, Any]) -> dict[str, str]:
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
