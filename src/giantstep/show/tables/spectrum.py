"""Spectra at linear width, predicted and measured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from rich.console import Group, RenderableType
from rich.table import Table

from giantstep.experiment import Experiment
from giantstep.records.summary import SpectrumStep, Value
from giantstep.show.tables.experiment import heading, rough_remarks, summary, theory_name
from giantstep.show.tables.outcome import spectra_outcome
from giantstep.show.tables.parts import (
    MISSING,
    listed,
    make_table,
    notes,
    number,
    spread,
)

MATRICES = {"weights": "W", "features": "sigma(X W^T)/sqrt(n)"}

BRACKETS = (
    " (in brackets: in at least half of the runs not above the threshold, which noise passes in at "
    "most about one of a hundred)"
)
"""What a place in brackets is."""

READOUT = ("train_error", "test_error")
"""Errors of the readout that are shown."""


def spectrum_report(experiment: Experiment) -> RenderableType:
    """What happened in sentences, then outliers, alignment and errors step by step, and notes."""
    parts: list[RenderableType] = [
        heading(experiment),
        *summary(experiment, spectra_outcome(experiment)),
        _outliers(experiment),
    ]
    weights = experiment.steps[-1].weights
    if weights is not None and weights.alignment:
        parts += ["", _alignment(experiment, weights)]
    if experiment.simulated.test_error is not None:
        parts += ["", _errors(experiment)]
    predicted = experiment.predicted
    texts = [] if predicted is None else [*predicted.notes, *rough_remarks(_shown(experiment))]
    return Group(*parts, *notes([*texts, *_constant_remarks(experiment)]))


def _constant_remarks(experiment: Experiment) -> Iterator[str]:
    """Where the outlier of the activation's mean comes from, if there is one."""
    places = range(len(experiment.steps))
    with_it = [place for place in places if _constant(experiment, "features", place) is not None]
    if not with_it:
        return
    source = (
        "The activation has a mean before any step."
        if with_it[0] == 0
        else "The activation has one because the steps made the neurons longer."
    )
    yield (
        "constant: this outlier comes from a mean of the activation that is not 0, and says "
        f"nothing about directions. {source}"
    )


def _shown(experiment: Experiment) -> Iterator[Value]:
    """The numbers of theory that the tables have."""
    for step in experiment.predicted_steps or ():
        for part in (step.weights, step.features):
            yield from () if part is None else (*(part.outliers or ()), *part.inside)
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
    rows, any_inside = [], False
    for matrix, symbol in MATRICES.items():
        for place, measured, theory in _steps(experiment, matrix):
            step = experiment.steps[place].step
            expected = MISSING
            if theory is not None and theory.outliers is not None:
                expected = _places(theory, _constant(experiment, matrix, place))
                any_inside |= bool(theory.inside)
            first = symbol if step == 0 else ""
            ends = number(measured.edge), number(measured.threshold)
            rows.append((first, str(step), expected, *_measured(measured), *ends))
    title = "Outlying singular values"
    title += BRACKETS * any_inside
    name = theory_name(experiment)
    columns = ("matrix", "step", name, "measured", "count", "edge (theory)", "threshold")
    return make_table(title, columns, rows)


def _places(theory: SpectrumStep, constant: int | None) -> str:
    """Predicted outliers, and in brackets the places between edge and threshold."""
    places = [spread(value, 4) for value in theory.outliers or ()]
    places += [f"({spread(value)})" for value in theory.inside]
    if constant is not None and constant < len(places):
        places[constant] += " constant"
    return "  ".join(places) or "none"


def _measured(step: SpectrumStep) -> tuple[str, str]:
    """Measured outliers and how many each run has."""
    if step.outliers is None or step.counts is None:
        return f"largest {listed(step.leading)}", "not counted"
    low, high = min(step.counts), max(step.counts)
    return listed(step.outliers), str(low) if low == high else f"{low} to {high}"


def _alignment(experiment: Experiment, measured: SpectrumStep) -> Table:
    steps = experiment.predicted_steps
    weights = None if steps is None else steps[-1].weights
    predicted = () if weights is None else weights.alignment
    rows = (
        (f"direction {k}", spread(theory), spread(value))
        for k, (value, theory) in enumerate(zip_longest(measured.alignment, predicted), 1)
        if value is not None
    )
    title = "Alignment of W's leading directions with the target"
    return make_table(title, ("", theory_name(experiment), "measured"), rows)


def _errors(experiment: Experiment) -> Table:
    theory = experiment.predicted_steps
    rows = []
    for place, step in enumerate(experiment.steps):
        cells = [str(step.step)]
        for name in READOUT:
            below = None if theory is None else theory[place].errors.get(name)
            cells += [spread(step.errors[name], 4), spread(below, 4)]
        rows.append(cells)
    name = theory_name(experiment)
    columns = ("step", "train", name, "test", name)
    return make_table("Ridge readout, mean squared error", columns, rows)
