"""``giantstep sweep``: a grid of settings, resumable, on this machine or on a cluster."""

from __future__ import annotations

import json as texts
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from giantstep.cli.fields import Fields, Memory, given_fields, memory_bytes
from giantstep.cli.output import PLAIN, Output, Switch, Typed, as_json, reserve, write_json
from giantstep.errors import InputError
from giantstep.records.file import write_whole
from giantstep.show.progress import sweep_progress
from giantstep.show.tables.sweep import preview_lines, sweep_report
from giantstep.store.folder import Store
from giantstep.sweeps.axes import read_vary
from giantstep.sweeps.grid import Grid, make_grid, read_sweep_file
from giantstep.sweeps.preview import preview
from giantstep.sweeps.result import Sweep, check_observable
from giantstep.sweeps.sweep import run_grid

Vary = Annotated[
    tuple[str, ...],
    Parameter(allow_leading_hyphen=True, negative="", show_default=False, metavar="AXIS"),
]


@Parameter(name="*")
@dataclass(frozen=True)
class Work:
    """How the work of a sweep is done."""

    theory: Annotated[bool, Parameter(help="Predict every cell beside its runs.")] = True
    workers: Annotated[
        int | None,
        Parameter(help="Processes; as many as processors and memory allow unless told otherwise."),
    ] = None
    cluster: Annotated[
        str | None,
        Parameter(
            help="Dask's workers instead: local, or the address of a scheduler, tcp://HOST:PORT."
        ),
    ] = None
    memory: Annotated[
        Memory, Parameter(help='Bound on the arrays of each worker, such as "512 MiB".')
    ] = "2 GiB"
    dry_run: Annotated[Switch, Parameter(help="Only say what the sweep would take.")] = False


HERE = Work()
"""What is done unless told otherwise."""


def sweep(
    file_or_target: Typed | None = None,
    /,
    *,
    vary: Vary = (),
    target: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    fields: Annotated[Fields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    show: str | None = None,
    boundary: float | None = None,
    work: Work = HERE,
    output: Output = PLAIN,
) -> None:
    """Simulate and predict every setting of a grid. It can be stopped and continued.

    Parameters
    ----------
    file_or_target:
        A TOML file ([setting] with fields, [axes] with a key for each axis; flags take precedence),
        or a target such as "x1 + He2(x1)*x2", with the axes in --vary.
    vary:
        An axis, FIELD=VALUES: d=1000,10000 or noise=0..1:5 or "d=100..10000:5 log" or
        n=d^1..d^2:9; fields joined by ";" vary together.  Given once for each axis.
    target:
        The target, in the place of that of the file: an expression, or a name of the catalog.
    show:
        What table and figures show: alignment (by default), cosine_1, test_error, norm, ...
    boundary:
        The value at which the map has its lines; cosines have them at 0.5 unless told otherwise.
    output.out:
        Folder for runs/ (a file each), table.csv, sweep.json, curves.png and map.png; unless told
        otherwise results/NAME for the file NAME.toml, and results/sweep for a target.  Runs that it
        holds are not computed again.
    """
    base, tables = asked(file_or_target, vary, target, fields)
    grid = make_grid(base, tables)
    for cell in grid.cells:
        observable = check_observable(show, cell.setting)
    file = file_named(file_or_target)
    folder = output.out or Path("results", "sweep" if file is None else file.stem)
    about = {"setting": {k: v for k, v in base.items() if k != "runs"}, "axes": tables}
    _check_other(folder, about, output.overwrite)
    if (swept := _swept(grid, folder, work, output)) is None:
        return
    _write(swept, observable, folder, about, boundary=boundary)
    output.present(
        lambda: swept.as_dict(observable),
        lambda: sweep_report(swept, observable, boundary=boundary),
        f"folder: {folder}",
    )
    if swept.failed:
        sys.exit(1)


def _swept(grid: Grid, folder: Path, work: Work, output: Output) -> Sweep | None:
    """Say what a grid takes, and do it; None where that is all that was asked for."""
    store, memory = Store(folder / "runs"), memory_bytes(work.memory)
    expected = preview(grid, store, memory=memory, workers=work.workers, theory=work.theory)
    if not output.quiet:
        print("\n".join(preview_lines(expected)), file=sys.stderr)
    if work.dry_run:
        if output.json:
            print(as_json(expected.as_dict()))
        return None
    reserve(folder)
    try:
        with sweep_progress(output.quiet) as progress:
            return run_grid(
                grid,
                store,
                theory=work.theory,
                workers=expected.workers,
                cluster=work.cluster,
                memory=memory,
                progress=progress,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted: what is finished is kept in {folder}, the same command goes on"
        ) from None


def file_named(file_or_target: str | None) -> Path | None:
    """The file that the argument names; None where it is a target, or is not given."""
    if file_or_target is None:
        return None
    path = Path(file_or_target)
    return path if path.suffix == ".toml" or path.is_file() else None


def asked(
    file_or_target: str | None, vary: Sequence[str], target: str | None, fields: Any
) -> tuple[dict[str, Any], Any]:
    """The fields and the axes of the file, those of the command line over them."""
    file = file_named(file_or_target)
    setting, axes = ({}, {}) if file is None else read_sweep_file(file)
    if file is None and file_or_target is not None:
        if target is not None:
            raise InputError(f"target must be given once, got {file_or_target!r} and {target!r}")
        target = file_or_target
    return setting | given_fields(target, fields, None), _merged(axes, read_vary(vary))


def _merged(axes: Any, varied: list[dict[str, str]]) -> Any:
    """The axes of the file, those of the command line in the place of the same fields."""
    if not varied:
        return axes
    tables = [{field: v} for field, v in axes.items()] if isinstance(axes, Mapping) else list(axes)
    for table in varied:
        same = [k for k, held in enumerate(tables) if set(held) & set(table)]
        place = same[0] if same else len(tables)
        tables = [held for k, held in enumerate(tables) if k not in same]
        tables.insert(place, table)
    return tables


def _check_other(folder: Path, about: Mapping[str, Any], overwrite: bool) -> None:
    """Refuse a folder with the record of another sweep."""
    path = folder / "sweep.json"
    if overwrite or not path.exists():
        return
    try:
        held = texts.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        held = {}
    if held.get("asked") != texts.loads(texts.dumps(about)):
        raise InputError(f"out holds another sweep, got {str(folder)!r}; --overwrite replaces it")


def _write(
    swept: Sweep,
    observable: str,
    folder: Path,
    about: Mapping[str, Any],
    *,
    boundary: float | None,
) -> None:
    from giantstep.show.plots.style import save
    from giantstep.show.plots.sweep import sweep_figures

    write_json({"asked": dict(about)} | swept.as_dict(observable), folder / "sweep.json")
    write_whole(folder / "table.csv", swept.table.as_csv().encode())
    for name, figure in sweep_figures(swept, observable, boundary).items():
        save(figure, folder / name)
