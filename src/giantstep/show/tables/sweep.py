"""A sweep for the terminal: what it will take, its cells, its exponents, what failed."""

from __future__ import annotations

from math import isnan

from rich.console import Group, RenderableType
from rich.text import Text

from giantstep.language.units import duration, in_bytes
from giantstep.records.summary import measured
from giantstep.show.tables.parts import counted, make_table, notes, number, spread
from giantstep.sweeps.axes import short
from giantstep.sweeps.preview import Preview
from giantstep.sweeps.result import COSINES, Sweep

FEW = 30
"""Cells up to which each has its line; more are for the map and the table in the folder."""

LISTED = 10
"""Cells that failed are listed up to here; all are in the record."""

VERDICTS = {"learned": "green", "not learned": "red", "undecided": "yellow"}


def preview_lines(found: Preview) -> list[str]:
    """The preview in a few lines."""
    foretold = f" and {counted(found.predictions, 'prediction')}" if found.predictions else ""
    lines = [
        f"{counted(found.cells, 'cell')}, {counted(found.runs, 'run')}, {found.held:,} of them "
        f"finished; {counted(found.workers, 'worker')}, up to {in_bytes(found.bytes)} of arrays "
        f"each; simulations{foretold} take about {duration(found.seconds)}"
    ]
    lines += [
        f"  {cell.text}: {duration(each.seconds)} on one core, {in_bytes(each.bytes)}, "
        f"{each.engine} engine"
        for cell, each in found.largest
    ]
    return lines


def sweep_report(sweep: Sweep, observable: str) -> RenderableType:
    """Cells where they are few, exponents in d with verdicts, and what failed."""
    parts: list[RenderableType] = []
    if len(sweep.outcomes) <= FEW:
        names = [axis.name for axis in sweep.axes]
        columns = (*names, "measured", "predicted", "theory", "p-value")
        table = make_table(f"{observable} after the last step, mean over runs", *columns)
        for outcome in sweep.outcomes:
            values, theory = outcome.measured(observable), outcome.expected(observable)
            table.add_row(
                *(short(outcome.cell.values[name]) for name in names),
                spread(measured(values)) if len(values) else "failed",
                "-" if isnan(theory) else number(theory),
                outcome.theory or "-",
                number(outcome.p_value(observable)),
            )
        parts += [table, ""]
    exponents = sweep.exponents(observable) if observable.startswith(COSINES) else []
    if exponents:
        names = list(exponents[0].place)
        table = make_table(
            f"Exponent of {observable} in d",
            *(*names, "of the median", "interval", "predicted, of the mean", "theory", "verdict"),
        )
        for entry in exponents:
            found = entry.measured
            table.add_row(
                *(entry.place[name] for name in names),
                f"{found.exponent:+.2f}",
                f"[{found.low:+.2f}, {found.high:+.2f}]",
                "-" if entry.predicted is None else f"{entry.predicted:+.2f}",
                ", ".join(entry.theories) or "-",
                Text(found.verdict, VERDICTS[found.verdict]),
            )
        parts += [table, ""]
    done = len(sweep.finished)
    parts.append(f"{done:,} of {len(sweep.outcomes):,} cells finished")
    parts += [
        Text(f"failed: {outcome.cell.text}: {outcome.failure}", "red")
        for outcome in sweep.failed[:LISTED]
    ]
    if len(sweep.failed) > LISTED:
        parts.append(Text(f"and {len(sweep.failed) - LISTED:,} others, in sweep.json", "red"))
    remarks = [*sweep.skipped, *_changes(sweep)]
    if any(len(entry.theories) > 1 for entry in exponents):
        remarks.append("no exponent is predicted across a change of theory")
    if len(sweep.revisions) > 1:
        remarks.append(f"runs were made by {len(sweep.revisions)} revisions of the package")
    missing = [o for o in sweep.outcomes if o.complaint is not None and o.failure is None]
    if missing:
        remarks.append(
            f"{counted(len(missing), 'cell')} without a prediction; {missing[0].cell.text}: "
            f"{missing[0].complaint}"
        )
    silent = [
        str(o.predicted.theory)
        for o in sweep.outcomes
        if o.predicted is not None and isnan(o.expected(observable))
    ]
    if silent:
        theories = " and ".join(dict.fromkeys(silent))
        remarks.append(
            f"theory ({theories}) says nothing of {observable} in {counted(len(silent), 'cell')}"
        )
    return Group(*parts, *notes(remarks), *_verdict(sweep, observable))


def _changes(sweep: Sweep) -> list[str]:
    """Where theories change along the axes, in a sentence each."""
    said = [
        f"theory changes from {change.theories[0]} to {change.theories[1]} between {change.axis} = "
        f"{change.texts[0]} and {change.texts[1]}"
        + "".join(f", {name} = {text}" for name, text in change.place.items())
        for change in sweep.theory_changes
    ]
    if len(said) > LISTED:
        said[LISTED:] = [f"and at {len(said) - LISTED:,} other places"]
    return said


def _verdict(sweep: Sweep, observable: str) -> list[Text]:
    """Whether theory and simulation agree in all cells together, and where they do not."""
    found = sweep.agreement(observable)
    if found is None:
        return []
    word, style = ("agree", "green") if found.agrees else ("disagree", "red")
    text = (
        f"theory and simulation {word} in {observable}: p-value {found.p_value:.2g} of "
        f"{counted(found.cells, 'cell')}"
    )
    if found.apart:
        text += "; apart at " + "; ".join(o.cell.text for o in found.apart[:LISTED])
    return [Text(f"\n{text}", style)]
