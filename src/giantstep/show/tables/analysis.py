"""What can be learned, as tables."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.analysis.activation import ActivationAnalysis, ActivationDegree
from giantstep.analysis.analyze import Analysis, describe
from giantstep.analysis.floors import Floor
from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import name_space
from giantstep.analysis.weak_recovery import WeakRecovery
from giantstep.gaussian.tensors import rank_tolerance
from giantstep.gaussian.terms import write_sum
from giantstep.show.tables.parts import counted, dim, make_table, notes, number
from giantstep.show.tables.setting import target_lines

ANY = "any activation"
"""Whose floors stand beside those of the activation that is analysed."""


def _power(letter: str, exponent: int) -> str:
    return {0: "1", 1: letter}.get(exponent, f"{letter}^{exponent}")


def _exponent(value: int | None) -> str:
    return "none found" if value is None else str(value)


def _labels(deflated: bool, exponent: int) -> str:
    return f"degrees < {exponent} removed" if deflated else "as they are"


def _one_step(analysis: Analysis) -> Table:
    rows = []
    for entry in analysis.one_step:
        through = f"T_{entry.degree}" if entry.degree else ""
        if entry.blocked:
            through += f" has {_space(entry.basis)}, blocked: b_{entry.degree} = 0"
        batch = f"n ~ {_power('d', entry.batch_exponent)}"
        labels = _labels(entry.deflated, entry.batch_exponent)
        rows.append((batch, labels, _space(entry.learned), through))
    return make_table("One giant step", ("batch", "labels", "learns", "through"), rows)


def _space(basis: Float[np.ndarray, "_ r"]) -> str:
    return ", ".join(name_space(basis)) or "nothing"


def _stairs(stairs: Staircase) -> list[tuple[str, ...]]:
    """A row for each step."""
    rows: list[tuple[str, ...]] = []
    reached = stairs.reached_dimensions
    for step, decision in enumerate(stairs.decisions, start=1):
        dimension = stairs.dimensions[step - 1]
        added = _space(stairs.added(step))
        if decision.undecided:
            added += f" ({decision.undecided} undecided)"
        mine = reached[min(step, len(reached)) - 1] if reached else dimension
        with_activation = str(mine) if mine == dimension else f"{mine}, blocked"
        kept = f"{number(decision.smallest_kept)} / {number(decision.largest_dropped)}"
        rows.append((str(step), str(dimension), added, with_activation, kept))
    return rows


def _staircases(analysis: Analysis) -> list[RenderableType]:
    """The staircases on fresh and on reused batches; one table where they are equal."""
    fresh, reused = "Staircase at n ~ d, fresh batches", "Staircase at n ~ d, reused batches"
    rows = [_stairs(each) for each in (analysis.fresh, analysis.reused)]
    tables = {fresh: rows[0], reused: rows[1]}
    if rows[0] == rows[1]:
        tables = {f"{fresh}; the same with reused ones": rows[0]}
    columns = ("step", "dimension", "adds", "with this activation", "kept / dropped")
    return [
        part for title, each in tables.items() for part in (make_table(title, columns, each), "")
    ]


def _shows(value: float, uncertainty: float) -> bool:
    """Whether an uncertainty changes the digits of a number in a table."""
    return uncertainty > 5e-4 * abs(value) and uncertainty >= 1e-12


def _within(value: float, uncertainty: float) -> str:
    """A number, with its uncertainty where that shows."""
    return f"{value:.3g} ± {uncertainty:.1g}" if _shows(value, uncertainty) else number(value)


def _at_most(value: float, uncertainty: float) -> str:
    """A number that may be too high by its uncertainty, as an interval where that shows."""
    low = f"{max(0.0, value - uncertainty):.3g}"
    return f"{low} .. {value:.3g}" if _shows(value, uncertainty) else number(value)


def _floors(analysis: Analysis) -> Table:
    """The floors of this activation above those of any, in one row where they are equal."""
    name = analysis.activation.name
    rows: list[list[str] | list[Text]] = []
    for step, (mine, best) in enumerate(zip(analysis.floors, analysis.floors_any, strict=True)):
        cells = _floor_cells(best, _at_most)
        if mine.by_degree == best.by_degree:
            rows.append([str(step), ANY, *cells])
        else:
            rows.append([str(step), name, *_floor_cells(mine, _within)])
            rows.append(dim("", ANY, *cells))
    degrees = (f"k = {k}" for k in range(len(analysis.floors[0].by_degree)))
    return make_table(
        f"Floors, fresh batches: lower bounds of the error given what {name} has learned",
        ("after step", "readout of", "narrow p ~ 1", *degrees),
        rows,
    )


def _floor_cells(entry: Floor, write: Callable[[float, float], str]) -> list[str]:
    """The narrow floor, for p ~ 1 and again as k = 0, and those of wide networks."""
    narrow = _within(entry.narrow, entry.narrow_uncertainty)
    return [narrow, narrow, *(write(value, entry.uncertainty) for value in entry.by_degree[1:])]


def _regimes(analysis: Analysis) -> Table:
    tolerance = rank_tolerance(analysis.series)
    rows = (
        (
            f"~ {_power('d', entry.n_exponent)}",
            _labels(entry.deflated, entry.n_exponent),
            f"~ {_power('d', entry.p_exponent)}",
            _space(entry.basis),
            describe(entry.fitted, tolerance),
            number(entry.floor),
            number(entry.floor_any),
        )
        for entry in analysis.regimes
    )
    return make_table(
        f"Five regimes: what one step with {analysis.activation.name} learns and at best fits",
        ("n", "labels", "p", "learned", "fitted at best", "floor", "floor of any"),
        rows,
    )


def _promise(analysis: Analysis) -> str:
    """What the floors say, below the tables that have them."""
    name = analysis.activation.name
    return (
        f"A floor is a lower bound, label noise not counted: no readout of {name} without biases "
        f"does better, and it may do worse. The floor of {ANY} holds with biases too."
    )


def _recovery(recovery: WeakRecovery | None) -> str:
    """Weak recovery in one line, empty where it was not computed."""
    if recovery is None:
        return ""
    if recovery.threshold == 0:
        text = "at any n/d > 0: E[z | y] is not zero"
    elif math.isfinite(recovery.threshold):
        text = f"from n/d = {_within(recovery.threshold, recovery.uncertainty)}"
    elif recovery.uncertainty == 0:
        text = "not at n ~ d: E[z z^T - 1 | y] is zero"
    else:
        text = "not resolved: E[z z^T - 1 | y] is zero within its uncertainty"
    return f"weak recovery by the best first-order method {text}\n"


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
    head.append(_recovery(analysis.weak_recovery))
    for sentence in analysis.undecided:
        head.append(f"undecided: {sentence}\n", style="yellow")
    promise = Text(_promise(analysis), style="dim")
    tables = (_one_step(analysis), "", *_staircases(analysis), _floors(analysis), "")
    return Group(head, *tables, _regimes(analysis), "", promise, *notes(analysis.notes))


def activation_report(analysis: ActivationAnalysis, most: int = 4) -> RenderableType:
    """The coefficients of an activation and what they let it pick up.

    Of the powers of the label that reused batches hand on, ``most`` are listed.
    """
    rows = [
        (str(k), number(entry.coefficient), *(_slope(entry) if k else ("", "")))
        for k, entry in enumerate(analysis.degrees)
    ]
    columns = ("k", "c_k", "b_k of the slope", "picks up T_k")
    table = make_table(analysis.activation.name, columns, rows)
    powers = ["y" if k == 1 else f"y^{k}" for k in sorted(analysis.label_powers)]
    handed = ", ".join([*powers[:most], *["..."] * (len(powers) > most)])
    return Group(table, "", Text(f"reused batches hand on {handed or 'nothing'}"))


def _slope(entry: ActivationDegree) -> tuple[str, str]:
    return number(entry.slope), "yes" if entry.picks_up else "no"
