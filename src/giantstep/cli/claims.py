"""``giantstep claims``: every claim of the papers, or of a file, measured and judged."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from giantstep.cli.output import OutAt, Said, Switch, as_json, reserve, write_json
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
from giantstep.show.tables.claims import claim_words, claims_list, claims_table
from giantstep.show.tables.parts import show
from giantstep.simulation.threads import cores


def claims(
    *ids: str,
    file: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    full: Switch = False,
    controls: Switch = False,
    seed: int = 0,
    list_: Annotated[bool, Parameter("--list", negative="", show_default=False)] = False,
    json: Said = False,
    out: OutAt = Path("results/claims"),
    again: Switch = False,
    differences: Switch = False,
    findings: Switch = False,
    table: Annotated[
        tuple[Path, ...], Parameter(consume_multiple=True, negative="", show_default=False)
    ] = (),
    quiet: Said = False,
) -> None:
    """Measure and judge statements of the papers, findings beyond them, or claims of your own.

    Parameters
    ----------
    ids:
        Identifiers of the claims to run; all of them if none is given, with --file all of the file.
    file:
        A Python file with claims of your own, a giantstep.Claim each, at its top level.  The file
        is imported: its code runs, so name only files that you trust.
    full:
        The sizes at which exponents are sharp: twenty minutes on two cores, and an hour and a half
        with the controls.
    controls:
        Run each claim's controls too, settings that violate its assumptions and must fail, and
        repeat its verdict over the range of every constant that was tuned.
    seed:
        Seed of every simulation.
    list_:
        Measure nothing; list the claims, what each says and its source.
    json:
        Print the records as JSON instead of a table.
    out:
        Folder for claims.json, claims.html, claims.md, findings.md and the figures; finished
        claims in it are kept.
    again:
        Run claims anew that the folder holds already.
    differences:
        Measure nothing; print where the papers and the measurements differ, as docs/differences.md.
    findings:
        Only findings: statements of this project or of readers, which no paper makes.  Without it,
        and without identifiers, statements and findings are both taken; with --table statements.
    table:
        Measure nothing; print the verdicts of all records below these folders, as docs/claims.md,
        with --findings as docs/findings.md.
    quiet:
        No table and no progress.
    """
    if differences:
        print(differences_page(CLAIMS), end="")
        return
    given = {} if file is None else claims_in_file(file)
    known = CLAIMS | given
    if table:
        records_below = [r for folder in table for r in stored_records(folder)]
        print(summary(known, records_below, FINDINGS if findings else STATEMENTS), end="")
        return
    if seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    chosen = [c for c in named_claims(ids, given) if c.source.is_finding or not findings]
    if list_:
        show(claims_list(chosen))
        return
    if not ids:
        chosen = [claim for claim in chosen if _is_possible(claim, quiet)]
    folder = out / ("full" if full else "quick")
    reserve(folder)
    if again:
        for claim in chosen:
            (folder / f"{claim.id}.json").unlink(missing_ok=True)
    records: list[dict[str, Any]] = []
    interrupted = False
    with spinner(quiet) as say:

        def started(claim: Claim) -> None:
            say(f"{len(records) + 1} of {len(chosen)}: {claim.id}")

        found = run_claims(
            chosen,
            full=full,
            controls=controls,
            seed=seed,
            folder=folder,
            started=started,
            processes=cores(),
        )
        try:
            for record in found:
                records.append(record)
                _draw(record, folder)
        except KeyboardInterrupt:
            # What is finished is shown all the same.
            interrupted = True
    if json:
        print(as_json({"claims": records}))
    # The page and the list show every claim the folder holds, those of earlier calls too.
    everything = list(known.values())
    held = stored_claims(everything, folder, full=full, controls=controls, seed=seed)
    write_json({"claims": held}, folder / "claims.json")
    write_whole(folder / "claims.html", claims_page(held).encode())
    for name, page in (("claims.md", STATEMENTS), ("findings.md", FINDINGS)):
        write_whole(folder / name, summary(known, held, page).encode())
    if not json and not quiet:
        if ids or file is not None:
            show(claim_words(records))
        show(claims_table(records))
        show(f"page: {folder / 'claims.html'}")
    if interrupted:
        raise KeyboardInterrupt(
            f"interrupted after {len(records)} of {len(chosen)} claims, which are kept in {folder}"
        )


def _is_possible(claim: Claim, quiet: bool) -> bool:
    """Whether the library that a claim needs is installed; if it is not, that is said."""
    possible = not claim.needs or find_spec(claim.needs) is not None
    if not possible and not quiet:
        print(f"{claim.id} is left out: it needs {claim.needs}", file=sys.stderr)
    return possible


TITLE = 80
"""Characters of a line above a figure."""


def named_claims(names: Sequence[str], given: Mapping[str, Claim]) -> list[Claim]:
    """The claims of these names; for none those that are ``given``, or all of the package."""
    known = CLAIMS | dict(given)
    for name in names:
        if name not in known:
            raise unknown_name("claim", name, known, "giantstep claims --list")
    return [known[name] for name in dict.fromkeys(names)] or list((given or CLAIMS).values())


def _draw(record: dict[str, Any], folder: Path) -> None:
    path = folder / f"{record['id']}.png"
    if record["plot"] is None:
        return
    from matplotlib.figure import Figure

    from giantstep.show.plots.curves import curves
    from giantstep.show.plots.style import save

    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    axes = curves(figure.subplots(), Plot.from_dict(record["plot"]))
    words = textwrap.fill(record["statement"], TITLE)
    axes.set_title(f"{words}\n({record['id']}: {record['verdict']})", fontsize="small")
    save(figure, path)
