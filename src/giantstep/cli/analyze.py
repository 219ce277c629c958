"""``giantstep analyze``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from giantstep.analysis.analyze import analyze as run
from giantstep.cli.output import PLAIN, Output, Switch, Typed, write_json
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
    label_degree: int = 3,
    all: Switch = False,
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
    label_degree:
        Highest power of a polynomial label tried before its bounded transforms. 1 leaves the
        labels as they are, also for reused batches.
    all:
        Also print the samples that other methods need, one step at d^2 and d^3 samples, error
        floors, the five regimes and all notes.
    latex:
        Print a LaTeX document instead: the target, its Hermite tensors, the staircase and the mean
        overlaps after one step, with their numbers.
    output.out:
        Folder to write analysis.json into, and with --latex analysis.tex.
    """
    if latex and output.json:
        raise InputError("latex and json are two forms of output: give one of them, got both")
    files = output.reserve("analysis.json", *["analysis.tex"] * latex)
    with patience("analyzing: a function of many directions takes some seconds", output.quiet):
        record = run(target, activation, label_degree=label_degree)
    if files is not None:
        write_json(record.as_dict(), files[0])

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

        return analysis_report(record, everything=all)

    output.present(record.as_dict, report)
