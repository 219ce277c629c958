"""Samples that methods need to learn a target, as a table."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from giantstep.analysis.analyze import Analysis
from giantstep.analysis.requirements import Requirements
from giantstep.show.tables.parts import MISSING, make_table

EXPLANATION = (
    "Powers of d as d grows; logarithms are shown for one-pass descent only. Giant steps and "
    "one-pass descent need an activation with the degrees of the target. Exact order: necessary "
    "and sufficient. Necessary: no method of this kind that takes polynomial time succeeds with "
    "fewer samples. Shifted inputs have a mean m along the directions of the target, spiked inputs "
    "a larger variance along one of them, v."
)
"""What the tables leave unsaid in their cells."""

OF_METHODS = {
    "queries": (
        "Correlational queries use the data through gradients of the squared loss, statistical "
        "queries through any averages."
    ),
    "noise": "V is the variance of the label noise, where it is large.",
}
"""What is said of methods with a word in their names, where the table has such a row."""


def requirements_report(analysis: Analysis, needs: Requirements) -> list[RenderableType]:
    """All exponents with their definitions, then a row for each method or bound."""
    rows = [(row.method, row.learns, row.samples, row.says, row.source) for row in needs.rows]
    table = make_table(
        "Samples that methods need",
        ("method", "learns", "n", "status", "arXiv"),
        rows,
    )
    methods = " ".join(row.method for row in needs.rows)
    told = [EXPLANATION, *(text for word, text in OF_METHODS.items() if word in methods)]
    return [_exponents(analysis, needs), "", table, Text(" ".join(told) + "\n", style="dim")]


def _exponents(analysis: Analysis, needs: Requirements) -> RenderableType:
    """An exponent a row: its value, what it is the smallest of, and its paper."""
    further = needs.exponents
    leaps = ", ".join(map(str, analysis.leaps)) or MISSING
    generative = ", ".join(map(str, further.generative_leaps)) or MISSING
    if not further.complete:
        generative += " (not all directions)"
    given = "the same, given what is learned before"
    rows = (
        ("information", _found(analysis.information_exponent), "k with T_k not 0", "2003.10409"),
        ("leaps", leaps, given, "2305.18270"),
        (
            "generative",
            _found(analysis.generative_exponent),
            "k with E[He_k | y] not 0",
            "2403.05529",
        ),
        ("generative leaps", generative, given, "2506.05500"),
        (
            "noise sensitivity",
            _found(further.noise_sensitivity),
            "b with E[y^b (z z^T - 1)] not 0",
            "2603.17896",
        ),
        ("shifted inputs", _found(further.shifted), "k with T_k of f(z + m) not 0", "2502.06443"),
        (
            "spiked inputs",
            _found(further.stretched),
            "k with T_k of f(z + v <v, z>) not 0",
            "beyond 2502.06443",
        ),
    )
    # Brackets of a formula are no markup.
    cells = [tuple(map(Text, row)) for row in rows]
    return make_table("Exponents", ("exponent", "value", "is the smallest", "arXiv"), cells)


def _found(exponent: int | None) -> str:
    return "none found" if exponent is None else str(exponent)
