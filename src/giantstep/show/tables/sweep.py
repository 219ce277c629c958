"""A sweep for the terminal: what it will take, its cells, its exponents, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.language.units import duration, in_bytes
from giantstep.records.summary import measured
from giantstep.show.tables.parts import MISSING, Cell, counted, make_table, notes, number, spread
from giantstep.sweeps.axes import short
from giantstep.sweeps.boundary import boundary_level, missing_boundary, value_range
from giantstep.sweeps.preview import Preview
from giantstep.sweeps.result import COSINES, DimensionExponent, Sweep

VERDICTS = {"learned": "green", "not learned": "red", "undecided": "yellow"}


def preview_lines(preview: Preview) -> list[str]:
    """The preview in a few lines."""
    predictions = counted(preview.predictions, "prediction")
    work = f"simulations and {predictions}" if preview.predictions else "simulations"
    lines = [
        f"{counted(preview.cells, 'cell')}, {counted(preview.runs, 'run')}, {preview.held:,} "
        f"already finished. {work.capitalize()} take about {duration(preview.seconds)} with "
        f"{counted(preview.workers, 'worker')}, each with up to {in_bytes(preview.bytes)} of "
        "arrays. The largest:"
    ]
    lines += [
        f"  {cell.text}: {duration(each.seconds)} on one core, {in_bytes(each.bytes)}, "
        f"{each.engine} engine"
        for cell, each in preview.largest
    ]
    return lines


def sweep_report(
    sweep: Sweep,
    observable: str,
    *,
    boundary: float | None = None,
    most_cells: int = 30,
    most_listed: int = 10,
) -> RenderableType:
    """What came out in sentences; then cells where they are few, exponents in d, and notes.

    More cells than ``most_cells`` are left to the map and to the table in the folder; of failed
    cells and changes of theory ``most_listed`` are listed, and the record has all of them.
    """
    exponents = sweep.exponents(observable) if observable.startswith(COSINES) else []
    parts: list[RenderableType] = [
        f"{len(sweep.finished):,} of {len(sweep.outcomes):,} cells finished.",
        *_verdict(sweep, observable, most_listed),
        *_scaling(exponents, observable),
    ]
    parts += _no_boundary(sweep, observable, boundary)
    parts += [
        Text(f"failed: {outcome.cell.text}: {outcome.failure}", "red")
        for outcome in sweep.failed[:most_listed]
    ]
    if len(sweep.failed) > most_listed:
        others = len(sweep.failed) - most_listed
        parts.append(Text(f"and {others:,} others, in sweep.json", "red"))
    if len(sweep.outcomes) <= most_cells:
        parts += ["", _cells(sweep, observable)]
    if exponents:
        parts += ["", _exponents(exponents, observable)]
    remarks = [*sweep.skipped, *_changes(sweep, most_listed)]
    if any(len(entry.theories) > 1 for entry in exponents):
        remarks.append("No exponent is predicted where the theory changes from one d to another.")
    remarks += _remarks(sweep, observable)
    return Group(*parts, *notes(remarks))


def _scaling(exponents: Sequence[DimensionExponent], observable: str) -> list[str]:
    """At how many places of the other axes the observable stays as d grows."""
    counts = {word: sum(e.measured.verdict == word for e in exponents) for word in VERDICTS}
    said = ", ".join(f"{word} at {count}" for word, count in counts.items() if count)
    places = counted(len(exponents), "place")
    return [f"As d grows, {observable} over {places} of the other axes: {said}."] if said else []


def _no_boundary(sweep: Sweep, observable: str, boundary: float | None) -> list[str]:
    """That the map has no boundary, and what to do about it."""
    absent = missing_boundary(sweep, observable, boundary)
    if absent is None:
        return []
    low = value_range(sweep, observable)[1] <= boundary_level(sweep, observable, boundary)
    larger = low and observable.startswith(COSINES)
    advice = "Take larger steps, or set" if larger else "Set"
    return [f"{absent} {advice} another level with --boundary."]


def _cells(sweep: Sweep, observable: str) -> Table:
    """A row for each cell: measured mean, prediction, theory and p-value."""
    names = [axis.name for axis in sweep.axes]
    rows = []
    for outcome in sweep.outcomes:
        values, theory = outcome.measured(observable), outcome.expected(observable)
        rows.append(
            (
                *(short(outcome.cell.values[name]) for name in names),
                spread(measured(values)) if len(values) else "failed",
                MISSING if isnan(theory) else number(theory),
                outcome.theory or MISSING,
                number(outcome.p_value(observable)),
            )
        )
    title = f"{observable} after the last step, mean over runs"
    return make_table(title, (*names, "measured", "predicted", "theory", "p-value"), rows)


def _exponents(exponents: Sequence[DimensionExponent], observable: str) -> Table:
    """The exponent in d for each place on the other axes, with its verdict."""
    names = list(exponents[0].place)
    rows: list[list[Cell]] = [
        [
            *(entry.place[name] for name in names),
            f"{entry.measured.exponent:+.2f}",
            f"[{entry.measured.low:+.2f}, {entry.measured.high:+.2f}]",
            MISSING if entry.predicted is None else f"{entry.predicted:+.2f}",
            ", ".join(entry.theories) or MISSING,
            Text(entry.measured.verdict, VERDICTS[entry.measured.verdict]),
        ]
        for entry in exponents
    ]
    columns = ("of the median", "interval", "predicted, of the mean", "theory", "verdict")
    return make_table(f"Exponent of {observable} in d", (*names, *columns), rows)


def _remarks(sweep: Sweep, observable: str) -> list[str]:
    """Where runs or predictions are not all alike, or are missing."""
    remarks = []
    if len(sweep.revisions) > 1:
        remarks.append(f"The runs were made by {len(sweep.revisions)} versions of the package.")
    missing = [o for o in sweep.outcomes if o.complaint is not None and o.failure is None]
    if missing:
        remarks.append(
            f"{counted(len(missing), 'cell')} without a prediction. At {missing[0].cell.text}: "
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
            f"Theory ({theories}) does not predict {observable} in {counted(len(silent), 'cell')}."
        )
    return remarks


def _changes(sweep: Sweep, most: int) -> list[str]:
    """Where theories change along the axes, in a sentence each."""
    sentences = [
        f"The theory changes from {change.theories[0]} to {change.theories[1]} between "
        f"{change.axis} = {change.texts[0]} and {change.texts[1]}"
        + "".join(f", {name} = {text}" for name, text in change.place.items())
        for change in sweep.theory_changes
    ]
    if len(sentences) > most:
        sentences[most:] = [f"and at {len(sentences) - most:,} other places"]
    return sentences


def _verdict(sweep: Sweep, observable: str, most: int) -> list[Text]:
    """Whether theory and simulation agree in all cells together, and where they do not."""
    agreement = sweep.agreement(observable)
    if agreement is None:
        return []
    word, style = ("agree", "green") if agreement.agrees else ("disagree", "red")
    text = (
        f"Theory and simulation {word} in {observable}: the p-value is {agreement.p_value:.2g} "
        f"over {counted(agreement.cells, 'cell')}."
    )
    if agreement.apart:
        places = "; ".join(o.cell.text for o in agreement.apart[:most])
        text += f" They differ at {places}."
    return [Text(text, style)]
