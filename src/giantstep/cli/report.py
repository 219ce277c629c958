"""``giantstep report``: what can be learned from a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from giantstep.cli.output import PLAIN, Output, Switch, Whole, refuse_taken, reserve
from giantstep.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from giantstep.reports.record import Report

Columns = Annotated[
    list[str] | None, Parameter(consume_multiple=False, negative="", metavar="NAME")
]


def report(
    file: Path,
    /,
    *,
    label: Annotated[str, Parameter(metavar="NAME")],
    drop: Columns = None,
    task: str = "auto",
    quick: Switch = False,
    jobs: Whole = 2,
    seed: Whole = 0,
    output: Output = PLAIN,
) -> None:
    """Say what can be learned from a table, and write a page that shows it.

    Every number is measured on rows that no fit has seen. The answer is printed, and a folder gets
    report.html, report.json and the fitted estimator.

    Parameters
    ----------
    file:
        A table: CSV (commas, semicolons or tabs, names in the first line), Parquet or npz.
    label:
        Column that is to be predicted.
    drop:
        A column that is left out, such as a number of the row; may be given several times.
    task:
        What the label is: numbers, classes, or auto. Whole numbers with at most ten different
        values are classes unless told otherwise.
    quick:
        About a quarter of the work, with wider intervals, above all of what other models gain.
    jobs:
        Processes that work at the same time, this one among them; at most one a processor.
    seed:
        Seed of the split into parts.
    output.out:
        Folder for the page, the JSON and the estimator; the file's name and -report by default.
    """
    from giantstep.reports.files import read_table
    from giantstep.reports.plan import FULL, QUICK
    from giantstep.reports.report import begin, finish
    from giantstep.reports.saving import WARNING, model_name

    table = read_table(file, label, drop or ())
    folder = output.out or Path(f"{file.stem}-report")
    names = ("report.html", "report.json", model_name())
    refuse_taken(folder, *names, overwrite=output.overwrite)
    with _progress(output.quiet) as note:
        work = begin(
            table,
            task=task,
            plan=QUICK if quick else FULL,
            jobs=jobs,
            seed=seed,
            title=file.name,
            note=note,
        )
        record = finish(work, note)
    try:
        # Only now: a table that is refused leaves no folder.
        reserve(folder, *names, overwrite=output.overwrite)
        paths = record.save(folder, overwrite=True)
    except (InputError, OSError):
        # A full disk, or files that another report has written meanwhile: the answer is shown.
        output.present(record.as_dict, lambda: _shown(record))
        raise
    output.present(
        record.as_dict,
        lambda: _shown(record),
        f"page: {paths[0]}",
        f"estimator: {paths[2]}. {WARNING}",
    )
    if record.missing:
        raise KeyboardInterrupt(f"interrupted; what was done is in {str(paths[0])!r}")


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str, float], None] | None]:
    """A bar on standard error; plain lines where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if quiet:
        yield None
        return
    if not console.is_terminal:
        yield lambda text, share: console.print(f"{share:.0%} {text}", highlight=False)
        return
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda text, share: bar.update(task, description=text, completed=share)


def _shown(record: Report) -> RenderableType:
    """The answer, and tables of directions and models."""
    from rich.console import Group
    from rich.text import Text

    from giantstep.show.tables.parts import make_table, notes

    lines = [Text(f"{number}. {text}") for number, text in enumerate(record.answer, 1)]
    models = make_table(
        "Share of the variance explained on rows held out",
        ("model", "explains", "more than giant steps"),
        [(m.name, m.explains, m.gain.percent if m.gain is not None else "") for m in record.models],
    )
    moved = record.drift.sentences[:-1] if record.drift is not None and record.drift.seen else ()
    # Warnings first, as on the page: they say how far the answer can be trusted.
    warned = [Text(f"warning: {text}", style="yellow") for text in record.warnings]
    gap = [Text()] if warned else []
    return Group(*warned, *gap, *lines, "", models, *notes([*moved, *record.said]))
