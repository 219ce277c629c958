"""Spectra at linear width, predicted and measured."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table

from giantstep.experiment import Experiment
from giantstep.records.summary import SpectrumStep, Value
from giantstep.show.tables.experiment import heading, rough_remarks, theory_name, verdict
from giantstep.show.tables.parts import listed, make_table, notes, number, spread

MATRICES = {"weights": "W", "features": "sigma(X W^T)/sqrt(n)"}

READOUT = ("train_error", "test_error")
"""Errors of the readout that are shown."""


def spectrum_report(experiment: Experiment) -> RenderableType:
    """Outliers step by step, alignment of the learned directions, errors, notes, the verdict."""
    parts: list[RenderableType] = [heading(experiment), _outliers(experiment)]
    weights = experiment.steps[-1].weights
    if weights is not None and weights.alignment:
        parts += ["", _alignment(experiment, weights)]
    if experiment.simulated.test_error is not None:
        parts += ["", _errors(experiment)]
    predicted = experiment.predicted
    texts = [] if predicted is None else [*predicted.notes, *rough_remarks(_shown(experiment))]
    places = range(len(experiment.steps))
    if any(_constant(experiment, "features", place) is not None for place in places):
        texts.append(
            "constant: the outlier of an activation whose mean is not 0, the same for all samples; "
            "it is there before any step, and nothing is learned by it"
        )
    return Group(*parts, *notes(texts), verdict(experiment))


def _shown(experiment: Experiment) -> Iterator[Value]:
    """The numbers of theory that the tables have."""
    for step in experiment.predicted_steps or ():
        for found in (step.weights, step.features):
            yield from () if found is None else (*(found.outliers or ()), *found.inside)
        if experiment.simulated.test_error is not None:
            yield from (step.errors[name] for name in READOUT if name in step.errors)
    last = None if experiment.predicted_steps is None else experiment.predicted_steps[-1].weights
    yield from () if last is None else last.alignment


def _constant(experiment: Experiment, matrix: str, place: int) -> int | None:
    """Which predicted outlier of a matrix is that of the activation's mean; ``place`` of a step."""
    theory = None if experiment.predicted is None else getattr(experiment.predicted, matrix)
    return None if theory is None else theory.constant(place)


def _steps(
    experiment: Experiment, matrix: str
) -> list[tuple[int, SpectrumStep, SpectrumStep | None]]:
    """Place of each step that has a spectrum of the matrix, measured and predicted spectrum."""
    theory = experiment.predicted_steps
    return [
        (place, measured, None if theory is None else getattr(theory[place], matrix))
        for place, step in enumerate(experiment.steps)
        if (measured := getattr(step, matrix)) is not None
    ]


def _outliers(experiment: Experiment) -> Table:
    found_inside = any(
        theory.inside
        for matrix in MATRICES
        for _, _, theory in _steps(experiment, matrix)
        if theory is not None
    )
    title = "Outlying singular values"
    title += ", (predicted) between edge and threshold: not counted" * found_inside
    theory_title = theory_name(experiment)
    table = make_table(title, "matrix", "step", theory_title, "measured", "count", "edge (theory)")
    for matrix, symbol in MATRICES.items():
        for at, measured, theory in _steps(experiment, matrix):
            step = experiment.steps[at].step
            expected = "-"
            if theory is not None and theory.outliers is not None:
                # In brackets what is between edge and threshold: a place, not a count.
                places = [spread(value, 4) for value in theory.outliers]
                places += [f"({spread(value)})" for value in theory.inside]
                constant = _constant(experiment, matrix, at)
                if constant is not None and constant < len(places):
                    places[constant] += " constant"
                expected = "  ".join(places) or "none"
            if measured.outliers is None or measured.counts is None:
                found, count = f"largest {listed(measured.leading)}", "not counted"
            else:
                low, high = min(measured.counts), max(measured.counts)
                found = listed(measured.outliers)
                count = str(low) if low == high else f"{low} to {high}"
            table.add_row(
                symbol if step == 0 else "",
                str(step),
                expected,
                found,
                count,
                number(measured.edge),
            )
    return table


def _alignment(experiment: Experiment, measured: SpectrumStep) -> Table:
    table = make_table(
        "Alignment of W's leading directions with the target",
        "",
        theory_name(experiment),
        "measured",
    )
    theory = experiment.predicted_steps
    weights = None if theory is None else theory[-1].weights
    for k, value in enumerate(measured.alignment):
        there = weights is not None and k < len(weights.alignment)
        predicted = spread(weights.alignment[k]) if there and weights is not None else "-"
        table.add_row(f"direction {k + 1}", predicted, spread(value))
    return table


def _errors(experiment: Experiment) -> Table:
    table = make_table(
        "Ridge readout, mean squared error",
        *("step", "train", theory_name(experiment), "test", theory_name(experiment)),
    )
    theory = experiment.predicted_steps
    for place, step in enumerate(experiment.steps):
        cells = [str(step.step)]
        for name in READOUT:
            below = None if theory is None else theory[place].errors.get(name)
            cells += [spread(step.errors[name], 4), spread(below, 4)]
        table.add_row(*cells)
    return table
