"""Samples that methods need to learn a target, as a table."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from giantstep.analysis.requirements import Requirements
from giantstep.show.tables.parts import MISSING, make_table

EXPLANATION = (
    "Powers of d as d grows; logarithms are shown for one-pass descent only. Giant steps and "
    "one-pass descent need an activation with the degrees of the target. Exact order: necessary "
    "and sufficient. Necessary: no method of this kind that takes polynomial time succeeds with "
    "fewer samples. Correlational queries use the data through gradients of the squared loss, "
    "statistical queries through any averages."
)
"""What the table leaves unsaid in its cells."""


def requirements_report(needs: Requirements) -> list[RenderableType]:
    """Further exponents in lines, then a row for each method or bound."""
    further = needs.exponents
    leaps = ", ".join(map(str, further.generative_leaps)) or MISSING
    if not further.complete:
        leaps += ", and directions for which none was found"
    lines = Text(f"generative leaps until everything is learned: {leaps}\n")
    lines.append(
        f"noise-sensitivity exponent: {_found(further.noise_sensitivity)} (smallest b with "
        "E[y^b (z z^T - 1)] not zero)\n"
    )
    lines.append(
        f"information exponent where inputs have a mean along the directions: "
        f"{_found(further.shifted)}; a larger variance along one: {_found(further.stretched)}\n"
    )
    rows = [(row.method, row.learns, row.samples, row.says, row.source) for row in needs.rows]
    table = make_table(
        "Samples that methods need",
        ("method", "learns", "n", "status", "arXiv"),
        rows,
    )
    return [lines, table, Text(EXPLANATION + "\n", style="dim")]


def _found(exponent: int | None) -> str:
    return "none found" if exponent is None else str(exponent)
