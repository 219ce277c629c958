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
from giantstep.analysis.answer import answer, directions, in_samples, steps_needed
from giantstep.analysis.floors import Floor
from giantstep.analysis.overlap import OverlapCurve
from giantstep.analysis.requirements import sample_requirements
from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import name_space
from giantstep.analysis.weak_recovery import WeakRecovery
from giantstep.gaussian.tensors import rank_tolerance
from giantstep.gaussian.terms import write_sum
from giantstep.show.tables.parts import MISSING, counted, dim, make_table, notes, number
from giantstep.show.tables.requirements import requirements_report
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
        batch = f"n ~ {_power(analysis.inputs.letter, entry.batch_exponent)}"
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


def _staircases(analysis: Analysis, everything: bool) -> list[RenderableType]:
    """The staircases on fresh and on reused batches; one table where they are equal."""
    fresh, reused = "Staircase at n ~ d, fresh batches", "Staircase at n ~ d, reused batches"
    columns = ["step", "dimension", "adds", "with this activation"]
    columns += ["kept / dropped"] * everything
    rows = [
        [row[: len(columns)] for row in _stairs(each)] for each in (analysis.fresh, analysis.reused)
    ]
    tables = {fresh: rows[0], reused: rows[1]}
    if rows[0] == rows[1]:
        tables = {"Staircase at n ~ d, fresh or reused batches": rows[0]}
    return [
        part
        for title, each in tables.items()
        for part in (make_table(in_samples(title, analysis), columns, each), "")
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
        f"Error floors, fresh batches: lower bounds given what {name} has learned",
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
            f"~ {_power(analysis.inputs.letter, entry.n_exponent)}",
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
        f"Five regimes: what one step with {analysis.activation.name} learns, and the best fit",
        ("n", "labels", "p", "learned", "fitted at best", "floor", "floor of any"),
        rows,
    )


def _promise(analysis: Analysis) -> str:
    """What the floors say, below the tables that have them."""
    return (
        "A floor is a lower bound of the mean squared error, without label noise. No readout of "
        f"{analysis.activation.name} without biases does better, and it may do worse. The floor "
        f"of {ANY} holds with biases too. Column k: p ~ d^k neurons, which fit degrees up to k of "
        "the directions that are not learned."
    )


def _recovery(recovery: WeakRecovery | None) -> str:
    """Weak recovery in one line, empty where it was not computed."""
    if recovery is None:
        return ""
    if recovery.threshold == 0:
        text = "works at any n/d > 0, because E[z | y] is not zero"
    elif math.isfinite(recovery.threshold):
        text = f"begins at n/d = {_within(recovery.threshold, recovery.uncertainty)}"
    elif recovery.uncertainty == 0:
        text = "is impossible at n ~ d, because E[z z^T - 1 | y] is zero"
    else:
        text = "could not be decided: E[z z^T - 1 | y] is zero within its uncertainty"
    return f"Weak recovery by the best first-order method {text}.\n"


def _four_numbers(analysis: Analysis) -> Table:
    """Directions, exponents and steps: what a reader asks of a target first."""
    name, steps = analysis.activation.name, steps_needed(analysis)
    remark = f"with {name}, each on n ~ d fresh samples"
    if steps is None:
        remark = f"with {name}, n ~ d fresh samples a step are not enough"
    decided = ""
    if analysis.deciding_tensor:
        decided = f"lowest degree of the target: {write_sum(analysis.deciding_tensor, 6)}"
    rows = (
        ("directions", str(len(directions(analysis))), "that the target depends on"),
        ("leap index", _exponent(analysis.leap_index), decided),
        (
            "generative exponent",
            _exponent(analysis.generative_exponent),
            "lowest degree after the best transform of the labels",
        ),
        ("steps needed", MISSING if steps is None else str(steps), in_samples(remark, analysis)),
    )
    return make_table("", ("", "", ""), (*rows, *_dimension(analysis)), header=False)


def _dimension(analysis: Analysis) -> list[tuple[str, str, str]]:
    """The effective dimension where it is not d."""
    inputs = analysis.inputs
    if inputs.letter == "d":
        return []
    remark = f"in place of d = {inputs.d:,}, grows as d^{inputs.growth:.2g}"
    return [("effective dimension D", f"{inputs.dimension:,.0f}", remark)]


def _details(analysis: Analysis) -> list[RenderableType]:
    """Everything beyond the answer, the four numbers and the staircase."""
    series = analysis.series
    variance = _within(series.variance + series.tail, 3.0 * series.tail_uncertainty)
    head = Text(f"degree {series.degree}, variance {variance}\n")
    head.append(_recovery(analysis.weak_recovery))
    needs = requirements_report(analysis, sample_requirements(analysis))
    tables = (_one_step(analysis), "", _floors(analysis), "", _regimes(analysis), "")
    remarks = [in_samples(note, analysis) for note in analysis.notes]
    if analysis.inputs.letter == "D":
        remarks.append("The samples that other methods need are those for inputs N(0, I).")
    return [head, *needs, *tables, Text(_promise(analysis), style="dim"), *notes(remarks)]


def _overlaps(curve: OverlapCurve) -> list[RenderableType]:
    """What the best first-order method reaches, a row for each n/d."""
    r = curve.cosines.shape[1]
    rows = [
        (number(ratio), *(f"{cosine:.3f}" for cosine in cosines))
        for ratio, cosines in zip(curve.ratios.tolist(), curve.cosines.tolist(), strict=True)
    ]
    columns = ("n/d", *(["cosine"] if r == 1 else [f"cosine {k + 1}" for k in range(r)]))
    return [make_table("Overlap that the best first-order method reaches", columns, rows), ""]


def analysis_report(
    analysis: Analysis,
    *,
    everything: bool = False,
    curve: OverlapCurve | None = None,
    hint: bool = True,
) -> RenderableType:
    """The answer in sentences, four numbers and the staircase; with ``everything`` all tables.

    The overlaps of the best first-order method stand below the staircase where there is a
    ``curve`` of them.  The ``hint`` says which option of the command prints more.
    """
    head = target_lines(analysis.target)
    head.append(f"activation {analysis.activation.name}\n", style="not bold")
    if not analysis.inputs.is_gaussian:
        head.append(f"inputs {analysis.inputs.law}\n", style="not bold")
    head.append("\n")
    head.append(" ".join(answer(analysis)) + "\n")
    undecided = Text(style="yellow")
    for sentence in analysis.undecided:
        undecided.append(f"undecided: {sentence}\n")
    parts: list[RenderableType] = [head, _four_numbers(analysis), ""]
    parts += [undecided] * bool(analysis.undecided)
    parts += _staircases(analysis, everything)
    parts += [] if curve is None else _overlaps(curve)
    if everything:
        return Group(*parts, *_details(analysis))
    if not hint:
        return Group(*parts)
    more = (
        "n ~ d: n grows in proportion to d. --all adds the samples that other methods need, error "
        "floors and d^2 and d^3 samples"
    )
    if analysis.notes:
        more += f", and {counted(len(analysis.notes), 'note')}"
    return Group(*parts, Text(f"{in_samples(more, analysis)}.", style="dim"))


def activation_report(analysis: ActivationAnalysis, most: int = 4) -> RenderableType:
    """The coefficients of an activation and which parts of a target they let it learn.

    Of the powers of the label that reused batches pass on, ``most`` are listed.
    """
    rows = [
        (str(k), number(entry.coefficient), *(_slope(entry) if k else ("", "")))
        for k, entry in enumerate(analysis.degrees)
    ]
    columns = ("k", "c_k", "b_k of the slope", "can learn T_k")
    table = make_table(analysis.activation.name, columns, rows)
    powers = ["y" if k == 1 else f"y^{k}" for k in sorted(analysis.label_powers)]
    passed = ", ".join([*powers[:most], *["..."] * (len(powers) > most)])
    sentence = (
        f"Powers of the label y on which a step with a reused batch depends: {passed or 'none'}"
    )
    return Group(table, "", Text(sentence))


def _slope(entry: ActivationDegree) -> tuple[str, str]:
    return number(entry.slope), "yes" if entry.picks_up else "no"
