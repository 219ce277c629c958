"""Run claims one after another; a record that was written survives a kill and is taken up again."""

from __future__ import annotations

import hashlib
import inspect
import json
import linecache
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from giantstep import __version__
from giantstep.errors import DivergenceError, InputError, NotConvergedError, NoTheoryError
from giantstep.papers.claims.quantity import LEVEL, quantity_dict
from giantstep.papers.claims.record import Changes, Claim, Findings
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
    keys = {claim.id: fingerprint(claim, full, controls, seed) for claim in claims}
    kept = {name: _kept(folder, name, key) for name, key in keys.items()}

    def finished(claim: Claim, parts: Sequence[Part]) -> dict[str, Any]:
        record = _record(claim, parts, full, seed) | {"fingerprint": keys[claim.id]}
        return _written(folder, record)

    with ExitStack() as stack:
        by_name = {claim.id: claim for claim in claims}
        missing = [claim for claim in claims if _is_listed(claim) and kept[claim.id] is None]
        numbers = {claim.id: len(_changes(claim, controls)) for claim in missing}
        done: dict[str, dict[str, Any]] = {}
        gathered: Iterator[tuple[str, list[Part]]] = iter(())
        if (taken := min(processes, sum(numbers.values()))) > 1:
            gathered = _gathered(stack.enter_context(Pool(taken)), numbers, full, seed)
        for claim in claims:
            if (record := kept[claim.id]) is not None:
                yield record
                continue
            if started is not None:
                started(claim)
            if taken <= 1 or claim.id not in numbers:
                changes = _changes(claim, controls)
                yield finished(claim, [_measured(claim, each, full, seed) for each in changes])
                continue
            while claim.id not in done:
                # Those that are there before their turn are written all the same.
                name, parts = next(gathered)
                done[name] = finished(by_name[name], parts)
            yield done[claim.id]


def _gathered(
    pool: Pool, numbers: Mapping[str, int], full: bool, seed: int
) -> Iterator[tuple[str, list[Part]]]:
    """The parts of each claim, so many of it, once a pool has measured all of them."""
    calls = [(name, index) for name, count in numbers.items() for index in range(count)]
    parts: dict[str, dict[int, Part]] = {name: {} for name in numbers}
    for number, part in pool.run([(_measured_by_name, (*call, full, seed)) for call in calls]):
        if isinstance(part, Exception):
            raise part
        name, index = calls[number]
        parts[name][index] = part
        if len(parts[name]) == numbers[name]:
            yield name, [parts[name][place] for place in range(numbers[name])]


@dataclass(frozen=True)
class Part:
    """The findings of one experiment of a claim, the seconds it took and those of the processor."""

    findings: Findings
    seconds: float
    processor_seconds: float


def _changes(claim: Claim, controls: bool) -> list[Changes]:
    """What each experiment of a claim changes: nothing, then the controls and the tuned values."""
    return [Changes(), *claim.controls.values(), *claim.tuned] if controls else [Changes()]


def _measured(claim: Claim, changes: Changes, full: bool, seed: int) -> Part:
    wall, processor = time.perf_counter(), time.process_time()
    # Matrices are small: threads of BLAS that wait for each other took four times the work.
    with single_blas(), _told_of_own(claim):
        findings = claim.run(full, seed, changes)
    return Part(findings, time.perf_counter() - wall, time.process_time() - processor)


@contextmanager
def _told_of_own(claim: Claim) -> Iterator[None]:
    """What stops the experiment of a user's claim, in one sentence with its file and line."""
    try:
        yield
    except (InputError, DivergenceError, NoTheoryError, NotConvergedError, OSError, MemoryError):
        raise
    except Exception as error:
        if _is_listed(claim):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        package = str(Path(__file__).parents[2])
        own = [frame for frame in frames if not frame.filename.startswith(package)]
        where = f" in {own[-1].filename!r}, line {own[-1].lineno}" if own else ""
        raise InputError(
            f"the experiment of the claim {claim.id!r} must run, it failed{where}: "
            f"{type(error).__name__}: {error}"
        ) from None


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
    records = (
        _kept(folder, claim.id, fingerprint(claim, full, controls, seed)) for claim in claims
    )
    return [record for record in records if record is not None]


def fingerprint(claim: Claim, full: bool, controls: bool, seed: int) -> str:
    """What a stored record must have in common with the claim that is asked for.

    Everything that decides a verdict: the claim as it is written, its size and seed, the experiment
    with the arguments it is bound to, and the source of everything the experiment may call.  That
    is the whole package but for the rooms that only show results, which no experiment can import;
    its text says more than a version, which stays the same while the code is worked on.  NumPy,
    SciPy and the processor are left out: they change the last digits.
    """
    experiment = claim.experiment
    bound: dict[str, Any] = {}
    while isinstance(experiment, partial):
        bound = experiment.keywords | bound
        experiment = experiment.func
    parts = [
        *(claim.id, claim.statement, claim.source, claim.regime, claim.rule),
        *(claim.measured_instead, claim.corrected),
        *(plain(fields) for fields in (claim.setting, claim.options, bound)),
        plain(claim.full if full else claim.quick),
        *(plain(changes) for changes in (claim.controls, claim.tuned)),
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
    """The findings of the experiments of a claim, in the order of _changes, as plain values."""
    findings, *others = [part.findings for part in parts]
    count = len(claim.controls)
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
        "setting": texts(claim.setting),
        "options": texts(claim.options),
        "size": "full" if full else "quick",
        "seed": seed,
        "verdict": claim.judged(findings),
        **_numbers(findings),
        "plot": None if findings.plot is None else asdict(findings.plot),
        "controls": [
            {"reason": reason, **_outcome(claim, changes, other), **_numbers(other)}
            for (reason, changes), other in zip(claim.controls.items(), others, strict=False)
        ],
        "tuned": [
            _outcome(claim, changes, other)
            for changes, other in zip(claim.tuned, others[count:], strict=False)
        ],
        "seconds": sum(part.seconds for part in parts),
        "processor_seconds": sum(part.processor_seconds for part in parts),
    }


def _outcome(claim: Claim, changes: Changes, findings: Findings) -> dict[str, Any]:
    """What a control or a tuned value changes, and the verdict that it has."""
    changed = texts(changes.setting) | texts(changes.options)
    return {"changes": changed, "verdict": claim.judged(findings)}


def texts(fields: Mapping[str, Any]) -> dict[str, str]:
    """Fields or options as texts that are the same in every process."""
    return {name: str(plain(value)) for name, value in fields.items()}


def plain(value: Any) -> Any:
    """A value without addresses in memory: a function is its name, a record its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        members = {item.name: plain(getattr(value, item.name)) for item in fields(value)}
        return {type(value).__name__: members}
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(part) for part in value)
    return getattr(value, "__name__", value)


def _numbers(findings: Findings) -> dict[str, Any]:
    quantities = [quantity_dict(quantity) for quantity in findings.quantities]
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


def _kept(folder: Path | None, name: str, key: str) -> dict[str, Any] | None:
    """The record of a claim in a folder, None where there is none of this fingerprint."""
    if folder is None:
        return None
    try:
        record = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("fingerprint") == key else None


def _written(folder: Path | None, record: dict[str, Any]) -> dict[str, Any]:
    """The record, which is now in the folder if there is one.

    All of it or nothing: a kill leaves no half of a file under its name.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=2, allow_nan=False) + "\n"
        write_whole(folder / f"{record['id']}.json", text.encode())
    return record
