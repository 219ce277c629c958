"""``giantstep needed``: how many samples a step needs for an error or a cosine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from giantstep.cli.fields import Fields, File, given_fields
from giantstep.cli.output import PLAIN, Output, Typed, Whole, picture_line, write_json
from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.show.progress import spinner
from giantstep.show.tables.needed import needed_report
from giantstep.sweeps.needed import SamplesNeeded, samples_needed


def needed(
    target: Typed | None = None,
    /,
    *,
    error: Annotated[str | None, Parameter(metavar="LEVELS")] = None,
    cosine: Annotated[str | None, Parameter(metavar="LEVELS")] = None,
    direction: Annotated[Whole | None, Parameter(metavar="K")] = None,
    smallest: Annotated[str, Parameter(metavar="SIZE")] = "d/8",
    largest: Annotated[str | None, Parameter(metavar="SIZE")] = None,
    fields: Annotated[Fields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    file: File = None,
    output: Output = PLAIN,
) -> None:
    """Say how many samples a step needs, by inverting the prediction in n.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)*x2", or a name of the catalog (giantstep catalog).
    error:
        Level of the readout's test error after the last step, label noise counted. Several
        levels are separated by commas.
    cosine:
        Level of the median cosine of the neurons with the target, in the place of an error.
    direction:
        Take the cosine with x1 (1), x2 (2), ... instead of the span of all directions.
    smallest:
        Smallest number of samples that is tried, such as d/8.
    largest:
        Largest number of samples that is tried. By default 256 d^l, where l is the largest leap of
        the target.
    file:
        A TOML file with fields of the setting; flags take precedence. Its n is not used.
    output.out:
        Folder for needed.json and needed.png, the curve over n.
    """
    typed = None if fields is None else vars(fields)["n"]
    if typed is not None:
        raise InputError(f"n is what needed looks for, got {typed!r}")
    setting = Setting(**given_fields(target, fields, file))
    files = output.reserve("needed.json", "needed.png")
    with spinner(output.quiet or output.json) as say:
        record = samples_needed(
            setting,
            error=_levels("error", error),
            cosine=_levels("cosine", cosine),
            direction=direction,
            smallest=smallest,
            largest=largest,
            progress=say,
        )
    if files is not None:
        _write(record, *files)
    output.present(record.as_dict, lambda: needed_report(record), *picture_line(files))


def _write(record: SamplesNeeded, numbers: Path, picture: Path) -> None:
    """The record and its picture; matplotlib loads only here."""
    from giantstep.show.plots.needed import needed_figure
    from giantstep.show.plots.style import save

    write_json(record.as_dict(), numbers)
    save(needed_figure(record), picture)


def _levels(name: str, text: str | None) -> list[float] | None:
    """Levels that are separated by commas."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{name} must be numbers such as 0.5,0.2, got {text!r}") from None
