"""What can be learned, as tables."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.analysis.analyze import Analysis, describe
from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import name_space
from giantstep.gaussian.tensors import rank_tolerance
from giantstep.language.expression import format_expression
from giantstep.problem.catalog import CATALOG
from giantstep.show.tables.parts import make_table, number


def _power(letter: str, exponent: int) -> str:
    return {0: "1", 1: letter}.get(exponent, f"{letter}^{exponent}")


def _exponent(value: int | None) -> str:
    return "none found" if value is None else str(value)


def _one_step(analysis: Analysis) -> Table:
    table = make_table("One giant step", "batch", "labels", "learns", "through")
    for entry in analysis.one_step:
        labels = f"degrees < {entry.batch_exponent} removed" if entry.deflated else "as they are"
        learned = ", ".join(name_space(entry.basis)) or "nothing"
        through = f"T_{entry.degree}" if entry.degree else ""
        if entry.blocked:
            through += f", blocked: b_{entry.degree} = 0"
        table.add_row(f"n ~ {_power('d', entry.batch_exponent)}", labels, learned, through)
    return table


def _stairs(title: str, stairs: Staircase) -> Table:
    table = make_table(title, "step", "dimension", "adds", "with this activation", "kept / dropped")
    for step, (basis, decision) in enumerate(
        zip(stairs.bases, stairs.decisions, strict=True), start=1
    ):
        added = ", ".join(name_space(stairs.added(step))) or "nothing"
        reached = stairs.reached_dimensions
        mine = reached[min(step, len(reached)) - 1] if reached else len(basis)
        table.add_row(
            str(step),
            str(len(basis)),
            f"step {step} adds {added}",
            str(mine) if mine == len(basis) else f"{mine}, blocked",
            f"{number(decision.smallest_kept)} / {number(decision.largest_dropped)}",
        )
    return table


def _floors(analysis: Analysis) -> Table:
    table = make_table(
        "Error floors: what no readout beats (noise not counted)",
        "after step",
        "narrow p ~ 1",
        *(f"k = {k}" for k in range(len(analysis.floors[0].by_degree))),
    )
    for step, entry in enumerate(analysis.floors):
        table.add_row(str(step), number(entry.narrow), *map(number, entry.by_degree))
    return table


def _regimes(analysis: Analysis) -> Table:
    table = make_table("Five regimes, one step", "n", "p", "learned", "fitted", "floor")
    tolerance = rank_tolerance(analysis.series)
    for entry in analysis.regimes:
        table.add_row(
            f"~ {_power('d', entry.n_exponent)}",
            f"~ {_power('d', entry.p_exponent)}",
            ", ".join(name_space(entry.basis)) or "nothing",
            describe(entry.fitted, tolerance),
            number(entry.floor),
        )
    return table


def analysis_report(analysis: Analysis) -> RenderableType:
    """The whole analysis as one page of tables."""
    series = analysis.series
    tensor = " + ".join(
        name if value == 1 else f"{value:.4g}*{name}"
        for name, value in list(analysis.deciding_tensor.items())[:6]
    ).replace("+ -", "- ")
    head = Text()
    head.append(f"{analysis.target.name}\n", style="bold")
    if analysis.target.name in CATALOG and analysis.target.expression is not None:
        text = format_expression(analysis.target.expression)
        head.append(f"= {text}\n")
    count = analysis.target.r
    head.append(
        f"{count} direction{'s' if count > 1 else ''}, degree {series.degree}, "
        f"variance {number(series.variance + series.tail)}, "
        f"activation {analysis.activation.name}\n"
    )
    head.append(
        f"leap index (information exponent) {_exponent(analysis.leap_index)}"
        + (f", decided by T_{analysis.leap_index}: {tensor}" if analysis.leap_index else "")
        + "\n"
    )
    head.append(
        f"generative exponent {_exponent(analysis.generative_exponent)} "
        f"(labels up to y^{analysis.label_degree})"
    )
    leaps = ", ".join(map(str, analysis.leaps)) or "none"
    head.append(f"\nleaps until everything is learned: {leaps}\n")
    parts: list[RenderableType] = [
        head,
        _one_step(analysis),
        "",
        _stairs("Staircase at n ~ d, fresh batches", analysis.fresh),
        "",
        _stairs("Staircase at n ~ d, reused batches", analysis.reused),
        "",
        _floors(analysis),
        "",
        _regimes(analysis),
    ]
    if analysis.notes:
        parts += ["", *(Text(f"note: {note}", style="yellow") for note in analysis.notes)]
    return Group(*parts)
