"""``giantstep claims``: every claim of the papers, or of a file, measured and judged."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Group

from giantstep.cli.output import Json, OutAt, Quiet, Switch, Whole, present, reserve, write_json
from giantstep.errors import InputError, unknown_name
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.differences import differences as differences_page
from giantstep.papers.claims.from_file import claims_in_file
from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.running import run_claims, stored_claims
from giantstep.papers.claims.summary import FINDINGS, STATEMENTS, stored_records, summary
from giantstep.records.file import write_whole
from giantstep.records.plot import Plot
from giantstep.show.page import claims_page
from giantstep.show.progress import spinner
from giantstep.show.tables.claims import claim_words, claims_answer, claims_list, claims_table
from giantstep.show.tables.parts import show
from giantstep.simulation.threads import cores


@Parameter(name="*")
@dataclass(frozen=True)
class Measuring:
    """At which sizes claims are measured, and what beside them."""

    full: Annotated[
        Switch,
        Parameter(
            help="The sizes at which exponents are sharp: twenty minutes on two cores, and an hour "
            "and a half with the controls."
        ),
    ] = False
    controls: Annotated[
        Switch,
        Parameter(
            help="Run each claim's controls too, settings that violate its assumptions and must "
            "fail, and repeat its verdict over the range of every constant that was tuned."
        ),
    ] = False
    seed: Annotated[Whole, Parameter(help="Seed of every simulation.")] = 0
    again: Annotated[Switch, Parameter(help="Run claims anew that the folder holds already.")] = (
        False
    )


@Parameter(name="*")
@dataclass(frozen=True)
class Pages:
    """What is printed of claims without measuring any."""

    list_: Annotated[
        Switch,
        Parameter(
            "--list", help="Measure nothing; list the claims, what each says and its source."
        ),
    ] = False
    differences: Annotated[
        Switch,
        Parameter(
            help="Measure nothing; print where the papers and the measurements differ, as "
            "docs/differences.md."
        ),
    ] = False
    findings: Annotated[
        Switch,
        Parameter(
            help="Only findings: statements of this project or of readers, which no paper makes.  "
            "Without it, and without identifiers, statements and findings are both taken; with "
            "--table statements."
        ),
    ] = False
    table: Annotated[
        tuple[Path, ...],
        Parameter(
            consume_multiple=True,
            negative="",
            show_default=False,
            help="Measure nothing; print the verdicts of all records below these folders, as "
            "docs/claims.md, with --findings as docs/findings.md.",
        ),
    ] = ()


QUICK, NO_PAGES = Measuring(), Pages()
"""What is done unless told otherwise."""


def claims(
    *ids: str,
    file: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    measuring: Measuring = QUICK,
    pages: Pages = NO_PAGES,
    json: Json = False,
    out: OutAt = Path("results/claims"),
    quiet: Quiet = False,
) -> None:
    """Measure and judge statements of the papers, findings beyond them, or claims of your own.

    Parameters
    ----------
    ids:
        Identifiers of the claims to run; all of them if none is given, with --file all of the file.
    file:
        A Python file with claims of your own, a giantstep.Claim each, at its top level.  The file
        is imported: its code runs, so name only files that you trust.
    out:
        Folder for claims.json, claims.html, claims.md, findings.md and the figures; finished
        claims in it are kept.
    """
    if pages.differences:
        print(differences_page(CLAIMS), end="")
        return
    given = {} if file is None else claims_in_file(file)
    listed = CLAIMS | given
    if pages.table:
        records_below = [record for folder in pages.table for record in stored_records(folder)]
        print(summary(listed, records_below, FINDINGS if pages.findings else STATEMENTS), end="")
        return
    if measuring.seed < 0:
        raise InputError(f"seed must not be negative, got {measuring.seed}")
    chosen = [c for c in named_claims(ids, given) if c.source.is_finding or not pages.findings]
    if pages.list_:
        show(claims_list(chosen))
        return
    if not ids:
        chosen = [claim for claim in chosen if _is_possible(claim, quiet)]
    folder = out / ("full" if measuring.full else "quick")
    records, interrupted = _measured(chosen, folder, measuring, quiet)
    _write_pages(listed, folder, measuring)
    words = [claim_words(records)] if ids or file is not None else []
    page = f"page: {folder / 'claims.html'}"
    table = Group(claims_answer(records), *words, claims_table(records), "", page)
    present(lambda: {"claims": records}, lambda: table, json=json, quiet=quiet)
    if interrupted:
        raise KeyboardInterrupt(
            f"interrupted after {len(records)} of {len(chosen)} claims, which are kept in {folder}"
        )


def _measured(
    chosen: Sequence[Claim], folder: Path, measuring: Measuring, quiet: bool
) -> tuple[list[dict[str, Any]], bool]:
    """The records of claims, drawn into the folder, and whether an interrupt cut them short."""
    reserve(folder)
    if measuring.again:
        for claim in chosen:
            (folder / f"{claim.id}.json").unlink(missing_ok=True)
    records: list[dict[str, Any]] = []
    with spinner(quiet) as say:
        measured = run_claims(
            chosen,
            full=measuring.full,
            controls=measuring.controls,
            seed=measuring.seed,
            folder=folder,
            started=lambda claim: say(f"{len(records) + 1} of {len(chosen)}: {claim.id}"),
            processes=cores(),
        )
        try:
            for record in measured:
                records.append(record)
                _draw(record, folder)
        except KeyboardInterrupt:
            # What is finished is shown all the same.
            return records, True
    return records, False


def _write_pages(listed: Mapping[str, Claim], folder: Path, measuring: Measuring) -> None:
    """The record, the page and the lists of every claim the folder holds, earlier ones too."""
    held = stored_claims(
        list(listed.values()),
        folder,
        full=measuring.full,
        controls=measuring.controls,
        seed=measuring.seed,
    )
    write_json({"claims": held}, folder / "claims.json")
    write_whole(folder / "claims.html", claims_page(held).encode())
    for name, page in (("claims.md", STATEMENTS), ("findings.md", FINDINGS)):
        write_whole(folder / name, summary(listed, held, page).encode())


def _is_possible(claim: Claim, quiet: bool) -> bool:
    """Whether the library that a claim needs is installed; if it is not, that is said."""
    possible = not claim.needs or find_spec(claim.needs) is not None
    if not possible and not quiet:
        print(f"{claim.id} is left out: it needs {claim.needs}", file=sys.stderr)
    return possible


def named_claims(names: Sequence[str], given: Mapping[str, Claim]) -> list[Claim]:
    """The claims of these names; for none those that are ``given``, or all of the package."""
    listed = CLAIMS | dict(given)
    for name in names:
        if name not in listed:
            raise unknown_name("claim", name, listed, "giantstep claims --list")
    return [listed[name] for name in dict.fromkeys(names)] or list((given or CLAIMS).values())


def _draw(record: dict[str, Any], folder: Path) -> None:
    """Draw the picture of a claim; claims.html has its statement beside it."""
    path = folder / f"{record['id']}.png"
    if record["plot"] is None:
        return
    from matplotlib.figure import Figure

    from giantstep.show.plots.curves import curves
    from giantstep.show.plots.style import save

    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    axes = curves(figure.subplots(), Plot.from_dict(record["plot"]))
    axes.set_title(f"{record['id']}: {record['verdict']}", fontsize="medium")
    save(figure, path)
