"""``giantstep activation``."""

from __future__ import annotations

from pathlib import Path

from giantstep.analysis.activation import HIGHEST_DEGREE, analyze_activation
from giantstep.cli.output import Expression, emit, reserve


def activation(
    name: Expression,
    /,
    *,
    degree: int = HIGHEST_DEGREE,
    json: bool = False,
    out: Path | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Say what an activation can pick up: coefficients, slopes, response to the label.

    Parameters
    ----------
    name:
        relu, erf, tanh, sigmoid, softplus, gelu, silu, sin, ... or an expression in z such as
        "He1 + He2/2".
    degree:
        Highest degree listed.
    json:
        Print the record as JSON instead of a table.
    out:
        Folder to write activation.json into.
    overwrite:
        Replace a file that is there already.
    quiet:
        Print nothing but what --json asks for.
    """
    path = reserve(out, "activation.json", overwrite)
    record = analyze_activation(name, degree)
    emit(record.as_dict(), json, path, overwrite)
    if not json and not quiet:
        from giantstep.show.tables import activation_report, show

        show(activation_report(record))
