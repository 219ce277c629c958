"""What was learned, step by step, beside what theory predicts and the analysis allows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.experiment import Experiment
from giantstep.records.summary import StepSummary, Value
from giantstep.show.tables.experiment import heading, rough_remarks, summary, theory_name
from giantstep.show.tables.labels import labels_report
from giantstep.show.tables.outcome import directions_outcome
from giantstep.show.tables.parts import (
    MISSING,
    chosen_steps,
    dim,
    make_table,
    notes,
    number,
    plain,
    spread,
)

GIVEN = "given"
"""Theory's cell of a cosine at the start where its rows begin with the neurons of the runs."""

CHANCE = "~ d^-1/2"
"""Theory's cell of a cosine of which it knows the order alone: what a run has of it is chance."""

FLOOR = (
    "floor: a lower bound of the test error for large d, given the directions learned so far. At "
    "small d errors may lie below it. The floor of giantstep analyze is higher: it leaves out that "
    "p neurons also fit a share p/d of the next degree."
)
"""What sets the floors of a run apart from those of an analysis."""

FLOOR_OF_ANY = (
    "floor of any: the lower bound for any activation. The floor beside it is the one for neurons "
    "of this activation, which may miss more of the target."
)
"""What sets the two floors of a table apart."""

UNKNOWN_FLOOR = (
    "A floor is - where it is not known what the steps learn. This is so with biases in the steps, "
    "with steps that look ahead, with other inputs, labels or losses, and after a second step from "
    "d^2 samples or more."
)


def learn_report(experiment: Experiment) -> RenderableType:
    """What happened in sentences, then alignment and errors after every step, and notes."""
    parts: list[RenderableType] = [
        heading(experiment),
        *summary(experiment, directions_outcome(experiment)),
    ]
    if experiment.labels is not None:
        parts += [*labels_report(experiment.labels, experiment.analysis), ""]
    parts.append(_alignment(experiment))
    if experiment.simulated.test_error is not None:
        parts += ["", _errors(experiment)]
    texts = [] if experiment.predicted is None else list(experiment.predicted.notes)
    texts += _remarks(experiment)
    left_out = len(experiment.steps) - len(_shown(experiment))
    if left_out:
        texts.append(
            f"{left_out:,} of {len(experiment.steps):,} steps are not shown; --json has all."
        )
    return Group(*parts, *notes(texts))


def _long_rows(experiment: Experiment, most: float = 10.0) -> Iterator[str]:
    """What helps where one step made rows more than ``most`` times as long."""
    lengths = [step.norm.mean for step in experiment.steps]
    growth = [after / before for before, after in pairwise(lengths) if before > 0]
    if growth and max(growth) > most:
        yield (
            f"One step made the rows {max(growth):,.0f} times as long. A giant step is meant to "
            "change a row by about its length, and is computed for inputs of equal variances. Use "
            "a smaller step_size where inputs are uneven or samples few."
        )


def _remarks(experiment: Experiment) -> Iterator[str]:
    """What D is, a floor beside that of analyze, and theory's cells without a number."""
    yield from _long_rows(experiment)
    analysis = experiment.analysis
    if analysis is not None and analysis.inputs.letter == "D":
        size = f"{analysis.inputs.dimension:,.0f}"
        yield (
            f"D = {size} is the effective dimension of the inputs: they vary as those of so many "
            "directions of equal variance do. Where inputs are uneven, D replaces d in statements "
            "about how many samples a step needs."
        )
    if experiment.simulated.test_error is not None:
        if any(experiment.floors):
            yield FLOOR
        if experiment.floors_any != experiment.floors:
            yield FLOOR_OF_ANY
        if any(floor is None for floor in experiment.floors):
            yield UNKNOWN_FLOOR
    if experiment.predicted_steps is None:
        return
    shown = [experiment.predicted_steps[place] for place in _shown(experiment)]
    given = _start_is_given(experiment)
    if given:
        yield (
            f"{GIVEN}: theory begins with the neurons that the runs begin with, so the start is "
            "not a prediction."
        )
    if any(not value.known for step in shown for value in step.cosines):
        yield (
            f"{CHANCE}: theory knows only the order of magnitude. The value differs from run to "
            "run and is not compared."
        )
    if any(not value.known for step in shown for value in step.principal_cosines or ()):
        yield (
            "-: theory leaves these principal cosines open. They are as small as those of random "
            "rows, or theory does not know how much runs differ."
        )
    yield from rough_remarks(
        value for step in shown for value in step.values if step.step or not given
    )


def _shown(experiment: Experiment, most: int = 16) -> list[int]:
    """Places of the steps that have their lines."""
    return chosen_steps(len(experiment.steps), most)


def _predicted(experiment: Experiment, place: int) -> StepSummary | None:
    theory = experiment.predicted_steps
    return None if theory is None else theory[place]


def _cosine(value: Value) -> str:
    return spread(value) if value.known else CHANCE


def _start_is_given(experiment: Experiment, rounding: float = 1e-6) -> bool:
    """Whether the cosines of theory at the start are those of the runs, which differ by run."""
    if experiment.predicted_steps is None:
        return False
    pairs = zip(experiment.steps[0].cosines, experiment.predicted_steps[0].cosines, strict=True)
    return all(
        (measured.standard_error or 0.0) > rounding * measured.mean
        and abs(measured.mean - theory.mean) <= rounding * measured.mean
        for measured, theory in pairs
    )


def _alignment(experiment: Experiment) -> Table:
    rows: list[list[str] | list[Text]] = []
    for place in _shown(experiment):
        step, below = experiment.steps[place], _predicted(experiment, place)
        rows.append(
            [str(step.step), spread(step.norm), *map(spread, step.cosines), _principal(step)]
        )
        if below is not None:
            cosines = list(map(_cosine, below.cosines))
            principal = _principal(below)
            if place == 0 and _start_is_given(experiment):
                cosines, principal = [GIVEN] * len(cosines), GIVEN
            rows.append(dim(theory_name(experiment), spread(below.norm), *cosines, principal))
    columns = ("step", "|w|", *(title for title, _ in experiment.subspaces))
    return make_table(
        "Median |cosine| of the neurons with the directions of the staircase",
        (*columns, "principal cosines"),
        rows,
        unbroken=columns,
    )


def _principal(step: StepSummary) -> str:
    values = step.principal_cosines
    if values is None:
        return MISSING
    # A line breaks between values, not within one.
    return ", ".join(spread(value).replace(" ", "\u00a0") for value in values)


def _errors(experiment: Experiment) -> Table:
    floors = [experiment.floors]
    if experiment.floors_any != experiment.floors:
        floors.append(experiment.floors_any)
    title = "Mean squared error; floor: a lower bound as d grows"
    title += ", for any readout" * (len(floors) == 1)
    title += " (label noise counted)" * experiment.setting.noisy
    rows: list[list[str] | list[Text]] = []
    for place in _shown(experiment):
        step, below = experiment.steps[place], _predicted(experiment, place)
        ridge = MISSING if step.ridge is None else plain(step.ridge, 1, zero=0.0)
        bounds = (number(levels[place]) for levels in floors)
        rows.append([str(step.step), *_cells(step), *bounds, ridge])
        if below is not None:
            rows.append(dim(theory_name(experiment), *_cells(below)))
    errors = ("readout, train", "readout, test", "network itself")
    bounds_of = ("floor", "floor of any")[: len(floors)]
    return make_table(title, ("step", *errors, *bounds_of, "ridge"), rows)


def _cells(step: StepSummary) -> list[str]:
    names = ("train_error", "test_error", "network_error")
    return [spread(step.errors[name]) if name in step.errors else "" for name in names]
