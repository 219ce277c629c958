"""``giantstep compare``: two settings or a few in one table and one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from giantstep.cli.experiment import files_of, kept_in, warn_of_hours
from giantstep.cli.fields import Fields, Memory, given_fields, memory_bytes
from giantstep.cli.output import PLAIN, Output, picture_line, write_json
from giantstep.cli.sweep import Vary, file_named
from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.show.progress import progress_bar
from giantstep.show.tables.side_by_side import side_by_side_report
from giantstep.sweeps.axes import read_axes, read_vary
from giantstep.sweeps.side_by_side import SideBySide, compare_settings


def compare(
    *files_or_targets: Annotated[str, Parameter(allow_leading_hyphen=True)],
    vary: Vary = (),
    fields: Annotated[Fields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    show: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    memory: Memory = "2 GiB",
    output: Output = PLAIN,
) -> None:
    """Compare two or more settings: theory and simulation of each, step by step.

    Parameters
    ----------
    files_or_targets:
        TOML files with the fields of a setting each, or targets such as "x1 + x1*x2".  Flags are
        for all of them, and take precedence over files.
    vary:
        One more difference, FIELD=VALUES, such as update=gradient,orthogonal. Fields joined by ";"
        vary together.
    show:
        What table and picture show, given once for each, such as cosine_1, principal_cosine_1 or
        train_error. By default norm, alignment, test_error and network_error.
    memory:
        Bound on the arrays in memory, such as "512 MiB".
    output.out:
        Folder for compare.json, compare.png and runs/, which has a file for each run and each
        prediction (giantstep.load reads them). Runs that are there are not computed again. The
        same command goes on where it was stopped, or with more --runs.
    """
    settings, names = settings_asked(files_or_targets, vary, fields)
    files = files_of("compare", settings, output)
    both = _compared(settings, names, show, memory_bytes(memory), output)
    if files is not None:
        from giantstep.show.plots.side_by_side import side_by_side_figure
        from giantstep.show.plots.style import save

        write_json(both.as_dict(), files[0])
        save(side_by_side_figure(both), files[1])
    output.present(both.as_dict, lambda: side_by_side_report(both), *picture_line(files))


def _compared(
    settings: Sequence[Setting],
    names: Sequence[str] | None,
    show: Sequence[str],
    memory: int,
    output: Output,
) -> SideBySide:
    """Simulate and predict the settings; an interrupt says what is kept."""
    for setting in settings:
        warn_of_hours(setting, memory, output.quiet)
    try:
        with progress_bar(output.quiet) as progress:
            return compare_settings(
                *settings,
                names=names,
                show=show,
                memory=memory,
                progress=progress,
                **kept_in(output.out, memory),
            )
    except KeyboardInterrupt:
        if output.out is None:
            raise KeyboardInterrupt("interrupted") from None
        raise KeyboardInterrupt(
            f"interrupted: finished runs are kept in {output.out}, the same command goes on"
        ) from None


def settings_asked(
    files_or_targets: Sequence[str], vary: Sequence[str], fields: Any
) -> tuple[list[Setting], list[str] | None]:
    """The settings in turn; the names of their files where these alone tell them apart."""
    axes = read_axes(read_vary(vary)) if vary else ()
    if len(axes) > 1:
        raise InputError(
            f"vary must be given once to compare settings, got {len(axes)} axes: "
            "giantstep sweep takes a grid"
        )
    places: Sequence[dict[str, Any]] = axes[0].places if axes else ({},)
    files = [file_named(text) for text in files_or_targets]
    settings = []
    for text, file in zip(files_or_targets, files, strict=True):
        given = given_fields(text if file is None else None, fields, file)
        if file is not None and ("axes" in given or "setting" in given):
            raise InputError(
                f"file must hold the fields of one setting, got the sweep {text!r}: "
                "giantstep sweep runs it"
            )
        settings += [Setting(**(given | place)) for place in places]
    if len(settings) < 2:
        raise InputError(
            f"settings must be at least 2, got {len(settings)}: name two files, two targets, or "
            "one and --vary update=gradient,orthogonal"
        )
    paths = [file for file in files if file is not None]
    if axes or len(paths) < len(files):
        return settings, None
    stems = [path.stem for path in paths]
    return settings, stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
