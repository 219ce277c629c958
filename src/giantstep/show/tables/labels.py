"""What was found in the labels of a data set, before any step of a network."""

from __future__ import annotations

import math

from rich.console import RenderableType
from rich.text import Text

from giantstep.analysis.analyze import Analysis
from giantstep.records.labels import FittedLabels, StepTest
from giantstep.show.tables.parts import make_table, number


def labels_report(labels: FittedLabels, analysis: Analysis | None) -> list[RenderableType]:
    """Tests of the steps on all rows, the fitted function and what theory says of it."""
    table = make_table(
        f"Steps on the labels of all rows against noise (level {labels.tests[0].level:g})",
        ("step", "value", "noise edge", "verdict", "cosine of two halves", "theory"),
        map(_row, labels.tests),
    )
    return [table, "", Text(_function(labels, analysis))]


def _row(test: StepTest) -> tuple[str, ...]:
    together = f" ({test.count} directions together)" if test.count > 1 else ""
    return (
        test.kind,
        number(test.statistic),
        number(test.edge),
        "beyond noise" if test.beyond_noise else "within noise",
        f"{test.cosine:.3f}{together}",
        "" if test.expected is None else f"{test.expected:.3f}",
    )


def _function(labels: FittedLabels, analysis: Analysis | None) -> str:
    if labels.function is None or analysis is None:
        return "No function of few directions fits the labels reliably at this number of rows."
    leaps = ", ".join(map(str, analysis.leaps)) or "none"
    needed = "out of reach" if math.isinf(labels.needed) else f"{labels.needed:,.0f}"
    stable = f"{labels.stability:.2f}" if math.isfinite(labels.stability) else "not known"
    directions = "\n".join(f"  {line}" for line in labels.written_directions)
    return (
        f"Fitted function: {labels.function.name}\n"
        f"Its directions in the columns of the inputs, each of variance one:\n{directions}\n"
        f"It explains {labels.explained:.0%} of the variance of the labels. The remainder counts "
        f"as noise. Folds of the rows agree on its directions with cosine {stable}.\n"
        f"leaps until everything is learned: {leaps}\n"
        f"rows after which its directions are half learned: {needed}"
    )
