"""``giantstep activation``."""

from __future__ import annotations

from giantstep.analysis.activation import HIGHEST_DEGREE, analyze_activation
from giantstep.cli.output import PLAIN, Output, Typed, Whole, write_json
from giantstep.show.tables.analysis import activation_report


def activation(
    name: Typed,
    /,
    *,
    degree: Whole = HIGHEST_DEGREE,
    output: Output = PLAIN,
) -> None:
    """List the Hermite coefficients of an activation: the degrees that its steps can learn.

    Parameters
    ----------
    name:
        relu, erf, tanh, sigmoid, softplus, gelu, silu, sin, ... or an expression in z such as
        "He1 + He2/2".
    degree:
        Highest degree listed.
    output.out:
        Folder to write activation.json into.
    """
    files = output.reserve("activation.json")
    record = analyze_activation(name, degree)
    if files is not None:
        write_json(record.as_dict(), files[0])
    output.present(record.as_dict, lambda: activation_report(record))
