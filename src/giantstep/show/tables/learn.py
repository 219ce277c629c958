"""What was learned, step by step, beside what theory predicts and the analysis allows."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table

from giantstep.experiment import Experiment
from giantstep.records.summary import StepSummary
from giantstep.show.tables.experiment import heading, verdict
from giantstep.show.tables.labels import labels_report
from giantstep.show.tables.parts import make_table, notes, number, spread


def learn_report(experiment: Experiment) -> RenderableType:
    """Alignment and errors after every step, notes, and the verdict."""
    parts: list[RenderableType] = [heading(experiment)]
    if experiment.labels is not None:
        parts += [*labels_report(experiment.labels, experiment.analysis), ""]
    parts.append(_alignment(experiment))
    if experiment.simulated.test_error is not None:
        parts += ["", _errors(experiment)]
    texts = [
        note
        for record in (experiment.analysis, experiment.predicted)
        if record is not None
        for note in record.notes
    ]
    return Group(*parts, *notes(texts), verdict(experiment))


def _rows(experiment: Experiment) -> list[tuple[StepSummary, bool]]:
    """Each step as simulated, below it as predicted."""
    theory = experiment.predicted_steps
    if theory is None:
        return [(step, False) for step in experiment.steps]
    pairs = zip(experiment.steps, theory, strict=True)
    return [row for step, below in pairs for row in ((step, False), (below, True))]


def _alignment(experiment: Experiment) -> Table:
    table = make_table(
        "Median |cosine| of the neurons with the directions of the staircase",
        "step",
        "|w|",
        *(title for title, _ in experiment.subspaces),
        "principal cosines",
    )
    for step, theory in _rows(experiment):
        principal = step.principal_cosines
        table.add_row(
            "theory" if theory else str(step.step),
            spread(step.norm),
            *map(spread, step.cosines),
            "-" if principal is None else " ".join(f"{value.mean:.3f}" for value in principal),
            style="dim" if theory else None,
        )
    return table


def _errors(experiment: Experiment) -> Table:
    table = make_table(
        "Mean squared error" + (" (label noise counted)" if experiment.setting.noisy else ""),
        "step",
        "readout, train",
        "readout, test",
        "network itself",
        "floor",
        "ridge",
    )
    for step, theory in _rows(experiment):
        names = ("train_error", "test_error", "network_error")
        cells = [spread(step.errors[name]) if name in step.errors else "" for name in names]
        rest = ("", "") if theory else (number(experiment.floors[step.step]), f"{step.ridge:.1g}")
        table.add_row(
            "theory" if theory else str(step.step), *cells, *rest, style="dim" if theory else None
        )
    return table
