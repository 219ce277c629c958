"""``giantstep analyze``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from giantstep.analysis.analyze import analyze as run
from giantstep.analysis.overlap import OverlapCurve
from giantstep.analysis.overlap import overlap_curve as best_overlaps
from giantstep.analysis.requirements import sample_requirements
from giantstep.cli.output import PLAIN, Output, Switch, Typed, Whole, picture_line, write_json
from giantstep.errors import InputError
from giantstep.records.file import write_whole
from giantstep.show.progress import patience

if TYPE_CHECKING:
    from rich.console import RenderableType


def analyze(
    target: Typed,
    /,
    *,
    activation: Typed = "relu",
    inputs: Typed = "gaussian",
    frame: Typed = "random",
    d: Whole = 10_000,
    label_degree: Whole = 3,
    all: Switch = False,
    overlap_curve: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    latex: Switch = False,
    output: Output = PLAIN,
) -> None:
    """Say what can be learned, before any simulation, in a few sentences and a small table.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)*x2", or a name of the catalog (giantstep catalog).
    activation:
        relu, erf, tanh, sigmoid, softplus, gelu, silu, sin, ... or an expression in z such as
        "He1 + He2/2".
    inputs:
        Law of the inputs: gaussian, shifted(length, overlap), spiked(strength, overlap),
        blocks(share, variance, ..) or power(exponent).
    frame:
        Where target directions lie: random, or for inputs in blocks axes, block(k) or
        shares(s1, s2, ..).
    d:
        Inputs, for the effective dimension of blocks and power laws.
    label_degree:
        Highest power of a polynomial label tried before its bounded transforms. 1 leaves the
        labels as they are, also for reused batches.
    all:
        Also print the samples that other methods need, one step at d^2 and d^3 samples, error
        floors, the five regimes and all notes.
    overlap_curve:
        Picture (PNG or PDF) of the cosine that the best first-order method reaches over n/d. The
        numbers are printed below the analysis.
    latex:
        Print a LaTeX document instead: the target, its Hermite tensors, the staircase and the mean
        overlaps after one step, with their numbers.
    output.out:
        Folder to write analysis.json into, and with --latex analysis.tex.
    """
    if latex and output.json:
        raise InputError("latex and json are two forms of output: give one of them, got both")
    files = output.reserve("analysis.json", *["analysis.tex"] * latex)
    picture = _picture(overlap_curve, overwrite=output.overwrite)
    with patience("analyzing", output.quiet):
        record = run(target, activation, label_degree=label_degree, inputs=inputs, frame=frame, d=d)
        curve = None if picture is None else best_overlaps(record)

    def plain_values() -> dict[str, Any]:
        values = record.as_dict()
        if all:
            values["requirements"] = sample_requirements(record).as_dict()
        if curve is not None:
            values["overlap_curve"] = curve.as_dict()
        return values

    if files is not None:
        write_json(plain_values(), files[0])
    if curve is not None and picture is not None:
        _draw(curve, picture)

    if latex:
        from giantstep.show.latex import analysis_latex

        text = analysis_latex(record)
        if files is not None:
            write_whole(files[1], f"{text}\n".encode())
        if not output.quiet:
            print(text)
        return

    def report() -> RenderableType:
        from giantstep.show.tables.analysis import analysis_report

        return analysis_report(record, everything=all, curve=curve)

    output.present(plain_values, report, *picture_line(None if picture is None else [picture]))


def _draw(curve: OverlapCurve, path: Path) -> None:
    from giantstep.show.plots.overlap import overlap_figure
    from giantstep.show.plots.style import save

    save(overlap_figure(curve), path)


def _picture(path: Path | None, *, overwrite: bool) -> Path | None:
    """The file of a picture, refused before any work where it cannot be written."""
    if path is None:
        return None
    if path.suffix not in (".png", ".pdf"):
        raise InputError(f"overlap_curve must be a file .png or .pdf, got {str(path)!r}")
    if not path.parent.is_dir():
        raise InputError(f"overlap_curve must be in a folder that exists, got {str(path)!r}")
    if path.exists() and not overwrite:
        raise InputError(f"overlap_curve exists, got {str(path)!r}; --overwrite replaces it")
    return path
