"""``giantstep activation``."""

from __future__ import annotations

from giantstep.analysis.activation import HIGHEST_DEGREE, analyze_activation
from giantstep.cli.output import Out, Said, Typed, as_json, reserve, write_json


def activation(
    name: Typed,
    /,
    *,
    degree: int = HIGHEST_DEGREE,
    json: Said = False,
    out: Out = None,
    overwrite: Said = False,
    quiet: Said = False,
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
    files = reserve(out, "activation.json", overwrite=overwrite)
    record = analyze_activation(name, degree)
    if files is not None:
        write_json(record.as_dict(), files[0])
    if json:
        print(as_json(record.as_dict()))
    elif not quiet:
        from giantstep.show.tables.analysis import activation_report
        from giantstep.show.tables.parts import show

        show(activation_report(record))
