"""What can be learned, as tables."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.analysis.activation import ActivationAnalysis
from giantstep.analysis.analyze import Analysis, describe
from giantstep.analysis.floors import Floor
from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import name_space
from giantstep.gaussian.tensors import rank_tolerance
from giantstep.gaussian.terms import write_sum
from giantstep.show.tables.parts import counted, make_table, notes, number
from giantstep.show.tables.setting import target_lines

FEW = 4
"""Powers of the label that are listed."""

ANY = "any activation"
"""Whose floors stand beside those of the activation that is analysed."""


def _power(letter: str, exponent: int) -> str:
    return {0: "1", 1: letter}.get(exponent, f"{letter}^{exponent}")


def _exponent(value: int | None) -> str:
    return "none found" if value is None else str(value)


def _one_step(analysis: Analysis) -> Table:
    table = make_table("One giant step", "batch", "labels", "learns", "through")
    for entry in analysis.one_step:
        labels = f"degrees < {entry.batch_exponent} removed" if entry.deflated else "as they are"
        learned = ", ".join(name_space(entry.learned)) or "nothing"
        through = f"T_{entry.degree}" if entry.degree else ""
        if entry.blocked:
            through += f" has {', '.join(name_space(entry.basis))}, blocked: b_{entry.degree} = 0"
        table.add_row(f"n ~ {_power('d', entry.batch_exponent)}", labels, learned, through)
    return table


def _stairs(stairs: Staircase) -> list[tuple[str, ...]]:
    """A row for each step."""
    rows: list[tuple[str, ...]] = []
    for step, (basis, decision) in enumerate(
        zip(stairs.bases, stairs.decisions, strict=True), start=1
    ):
        added = ", ".join(name_space(stairs.added(step))) or "nothing"
        if decision.undecided:
            added += f" ({decision.undecided} undecided)"
        reached = stairs.reached_dimensions
        mine = reached[min(step, len(reached)) - 1] if reached else len(basis)
        rows.append(
            (
                str(step),
                str(len(basis)),
                added,
                str(mine) if mine == len(basis) else f"{mine}, blocked",
                f"{number(decision.smallest_kept)} / {number(decision.largest_dropped)}",
            )
        )
    return rows


def _staircases(analysis: Analysis) -> list[RenderableType]:
    """The staircase on fresh and that on reused batches; one table where they are the same."""
    fresh, reused = "Staircase at n ~ d, fresh batches", "Staircase at n ~ d, reused batches"
    rows = [_stairs(each) for each in (analysis.fresh, analysis.reused)]
    if rows[0] == rows[1]:
        return [_stairs_table(f"{fresh}; the same with reused ones", rows[0]), ""]
    return [_stairs_table(fresh, rows[0]), "", _stairs_table(reused, rows[1]), ""]


def _stairs_table(title: str, rows: list[tuple[str, ...]]) -> Table:
    table = make_table(title, "step", "dimension", "adds", "with this activation", "kept / dropped")
    for row in rows:
        table.add_row(*row)
    return table


def _within(value: float, uncertainty: float) -> str:
    """A number, with its uncertainty where that shows."""
    if uncertainty <= 5e-4 * abs(value) or uncertainty < 1e-12:
        return number(value)
    return f"{value:.3g} ± {uncertainty:.1g}"


def _at_most(value: float, uncertainty: float) -> str:
    """A number that may be too high by its uncertainty, as an interval where that shows."""
    if uncertainty <= 5e-4 * abs(value) or uncertainty < 1e-12:
        return number(value)
    return f"{max(0.0, value - uncertainty):.3g} .. {value:.3g}"


def _floors(analysis: Analysis) -> Table:
    """The floors of this activation above those of any, in one row where they are the same."""
    name = analysis.activation.name
    table = make_table(
        f"Floors, fresh batches: lower bounds of the error given what {name} has learned",
        "after step",
        "readout of",
        "narrow p ~ 1",
        *(f"k = {k}" for k in range(len(analysis.floors[0].by_degree))),
    )
    for step, (mine, best) in enumerate(zip(analysis.floors, analysis.floors_any, strict=True)):
        if mine.by_degree == best.by_degree:
            table.add_row(str(step), ANY, *_floor_cells(best, _at_most))
            continue
        table.add_row(str(step), name, *_floor_cells(mine, _within))
        table.add_row("", ANY, *_floor_cells(best, _at_most), style="dim")
    return table


def _floor_cells(entry: Floor, write: Callable[[float, float], str]) -> list[str]:
    """The narrow floor, for p ~ 1 and again as k = 0, and those of wide networks."""
    narrow = _within(entry.narrow, entry.narrow_uncertainty)
    return [narrow, narrow, *(write(value, entry.uncertainty) for value in entry.by_degree[1:])]


def _regimes(analysis: Analysis) -> Table:
    title = f"Five regimes: what one step with {analysis.activation.name} learns and at best fits"
    table = make_table(
        title, "n", "labels", "p", "learned", "fitted at best", "floor", "floor of any"
    )
    tolerance = rank_tolerance(analysis.series)
    for entry in analysis.regimes:
        table.add_row(
            f"~ {_power('d', entry.n_exponent)}",
            f"degrees < {entry.n_exponent} removed" if entry.deflated else "as they are",
            f"~ {_power('d', entry.p_exponent)}",
            ", ".join(name_space(entry.basis)) or "nothing",
            describe(entry.fitted, tolerance),
            number(entry.floor),
            number(entry.floor_any),
        )
    return table


def _promise(analysis: Analysis) -> str:
    """What the floors say, below the tables that have them."""
    name = analysis.activation.name
    return (
        f"A floor is a lower bound, label noise not counted: no readout of {name} without biases "
        f"does better, and it may do worse. The floor of {ANY} holds with biases too."
    )


def _recovery(analysis: Analysis) -> str:
    """Weak recovery in one line, empty where it was not computed."""
    found = analysis.weak_recovery
    if found is None:
        return ""
    if found.threshold == 0:
        told = "at any n/d > 0: E[z | y] is not zero"
    elif found.threshold == float("inf"):
        told = (
            "not at n ~ d: E[z z^T - 1 | y] is zero"
            if found.uncertainty == 0
            else "not resolved: E[z z^T - 1 | y] is zero within its uncertainty"
        )
    else:
        told = f"from n/d = {_within(found.threshold, found.uncertainty)}"
    return f"weak recovery by the best first-order method {told}\n"


def analysis_report(analysis: Analysis) -> RenderableType:
    """The whole analysis as one page of tables."""
    series = analysis.series
    decided = ""
    if analysis.deciding_tensor:
        decided = f", decided by T_{analysis.leap_index}: {write_sum(analysis.deciding_tensor, 6)}"
    head = target_lines(analysis.target)
    variance = _within(series.variance + series.tail, 3.0 * series.tail_uncertainty)
    head.append(
        f"{counted(analysis.target.r, 'direction')}, degree {series.degree}, "
        f"variance {variance}, activation {analysis.activation.name}\n"
    )
    head.append(f"leap index (information exponent) {_exponent(analysis.leap_index)}{decided}\n")
    head.append(f"generative exponent {_exponent(analysis.generative_exponent)}\n")
    leaps = ", ".join(map(str, analysis.leaps)) or "none"
    head.append(f"leaps until everything is learned: {leaps}\n")
    head.append(_recovery(analysis))
    for sentence in analysis.undecided:
        head.append(f"undecided: {sentence}\n", style="yellow")
    parts: list[RenderableType] = [
        head,
        _one_step(analysis),
        "",
        *_staircases(analysis),
        _floors(analysis),
        "",
        _regimes(analysis),
        "",
        Text(_promise(analysis), style="dim"),
    ]
    return Group(*parts, *notes(analysis.notes))


def activation_report(found: ActivationAnalysis) -> RenderableType:
    """The coefficients of an activation and what they let it pick up."""
    table = make_table(found.activation.name, "k", "c_k", "b_k of the slope", "picks up T_k")
    for entry in found.degrees:
        table.add_row(
            str(entry.degree),
            number(entry.coefficient),
            "" if entry.degree == 0 else number(entry.slope),
            "" if entry.degree == 0 else "yes" if entry.picks_up else "no",
        )
    powers = ["y" if k == 1 else f"y^{k}" for k in sorted(found.label_powers)]
    handed = ", ".join(powers if len(powers) <= FEW else [*powers[:FEW], "..."])
    return Group(table, "", Text(f"reused batches hand on {handed or 'nothing'}"))
