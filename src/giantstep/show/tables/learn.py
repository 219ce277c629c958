"""What was learned, step by step, beside what theory predicts and the analysis allows."""

from __future__ import annotations

import math

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table

from giantstep.experiment import Experiment
from giantstep.records.summary import StepSummary, Value
from giantstep.show.tables.experiment import heading, verdict
from giantstep.show.tables.labels import labels_report
from giantstep.show.tables.parts import make_table, notes, number, plain, spread

MOST = 16
"""Steps up to which each has its lines."""

CHANCE = "~ d^-1/2"
"""Theory's cell of a cosine that is 0 to leading order: what a run has of it is chance."""

LEADING = 0.01
"""Share of d^-1/2 below which a predicted cosine is that zero, and a measured one is not."""


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
    if any(CHANCE in _predicted_cosines(experiment, place) for place in _shown(experiment)):
        texts.append(
            f"{CHANCE} is 0 to leading order; what a run has of it is chance "
            "(giantstep explain order d^-1/2)"
        )
    left_out = len(experiment.steps) - len(_shown(experiment))
    if left_out:
        texts.append(
            f"{left_out:,} of {len(experiment.steps):,} steps are left out; --json has all"
        )
    return Group(*parts, *notes(texts), verdict(experiment))


def _shown(experiment: Experiment) -> list[int]:
    """Places of the steps that have their lines: all of a few, else early ones and the last."""
    count = len(experiment.steps)
    if count <= MOST:
        return list(range(count))
    places = np.geomspace(1.0, count, MOST) - 1.0
    return sorted({round(place) for place in places.tolist()})


def _predicted(experiment: Experiment, place: int) -> StepSummary | None:
    theory = experiment.predicted_steps
    return None if theory is None else theory[place]


def _predicted_cosines(experiment: Experiment, place: int) -> list[str]:
    below = _predicted(experiment, place)
    if below is None:
        return []
    least = LEADING / math.sqrt(experiment.setting.d)

    def cell(measured: Value, predicted: Value) -> str:
        hidden = predicted.mean < least < measured.mean
        return CHANCE if hidden else spread(predicted)

    pairs = zip(experiment.steps[place].cosines, below.cosines, strict=True)
    return [cell(measured, predicted) for measured, predicted in pairs]


def _alignment(experiment: Experiment) -> Table:
    table = make_table(
        "Median |cosine| of the neurons with the directions of the staircase",
        "step",
        "|w|",
        *(title for title, _ in experiment.subspaces),
        "principal cosines",
    )
    for place in _shown(experiment):
        step, below = experiment.steps[place], _predicted(experiment, place)
        table.add_row(
            str(step.step), spread(step.norm), *map(spread, step.cosines), _principal(step)
        )
        if below is not None:
            cosines = _predicted_cosines(experiment, place)
            row = ("theory", spread(below.norm), *cosines, _principal(below))
            table.add_row(*row, style="dim")
    return table


def _principal(step: StepSummary) -> str:
    values = step.principal_cosines
    return "-" if values is None else " ".join(f"{value.mean:.3f}" for value in values)


def _errors(experiment: Experiment) -> Table:
    table = make_table(
        "Mean squared error, floor: a lower bound for any readout"
        + (" (label noise counted)" if experiment.setting.noisy else ""),
        "step",
        "readout, train",
        "readout, test",
        "network itself",
        "floor",
        "ridge",
    )
    for place in _shown(experiment):
        step, below = experiment.steps[place], _predicted(experiment, place)
        ridge = "-" if step.ridge is None else plain(step.ridge, 1, zero=0.0)
        table.add_row(str(step.step), *_cells(step), number(experiment.floors[place]), ridge)
        if below is not None:
            table.add_row("theory", *_cells(below), style="dim")
    return table


def _cells(step: StepSummary) -> list[str]:
    names = ("train_error", "test_error", "network_error")
    return [spread(step.errors[name]) if name in step.errors else "" for name in names]
