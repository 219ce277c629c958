"""Settings side by side, step by step: simulation, below it theory, and how far they are apart."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.problem.differing import differing_fields, field_text
from giantstep.problem.setting import DEFAULTS
from giantstep.show.tables.experiment import verdict
from giantstep.show.tables.parts import (
    MISSING,
    chosen_steps,
    counted,
    dim,
    make_table,
    notes,
    plain,
    spread,
)
from giantstep.show.tables.setting import setting_lines
from giantstep.sweeps.side_by_side import SideBySide

TITLES = {
    "norm": "|w|",
    "train_error": "readout, train",
    "test_error": "readout, test",
    "network_error": "network itself",
}
"""Observables whose column has another title than their name."""


def observable_title(observable: str) -> str:
    """An observable as the title of a column."""
    return TITLES.get(observable, observable.replace("_", " "))


def difference_line(both: SideBySide) -> str:
    """The fields in which the settings differ, with the values of each in turn."""
    parts = [
        f"{field}: {' | '.join(field_text(setting, field) for setting in both.settings)}"
        for field in both.differing
    ]
    return "; ".join(parts)


MAIN = ("activation", "d", "n", "p", "steps")
"""Fields that are named whatever they are; of the others those that are not the default."""


def common_line(both: SideBySide) -> str:
    """The fields that all settings have in common, the target first."""
    first = both.settings[0]
    # What is not given may follow from what differs: the rows of a batch from the steps.
    following = [name for name in differing_fields(both.settings) if first.given[name] is None]
    left_out = (*both.differing, *following, "target", "runs")
    parts = [
        f"{name} = {field_text(first, name)}"
        for name, value in first.given.items()
        if name not in left_out
        and (name in MAIN or (value is not None and str(value) != str(DEFAULTS[name])))
    ]
    return ", ".join(parts if "target" in both.differing else [first.target.name, *parts])


def side_by_side_report(both: SideBySide) -> RenderableType:
    """What differs after the last step, verdicts; then settings, steps and differences."""
    parts: list[RenderableType] = [Text(f"differing in {difference_line(both)}\n", style="bold")]
    parts += [Text(sentence) for sentence in difference_sentences(both)]
    named = list(zip(both.names, both.experiments, strict=True))
    for name, experiment in named:
        line = verdict(experiment)
        parts.append(Text(f"{name}: ", style="bold").append(line.plain.lstrip(), line.style))
    parts += ["", *_headings(both), ""]
    parts += [_steps(both), "", _differences(both)]
    texts = [
        f"{name}: {note}"
        for name, experiment in named
        if experiment.predicted is not None
        for note in experiment.predicted.notes
    ]
    return Group(*parts, *notes(texts))


ANSWERED = {"alignment": "alignment", "test_error": "test error of the readout"}
"""Observables that the answer speaks of, with their names in a sentence."""


def difference_sentences(both: SideBySide) -> list[str]:
    """How each setting ends against the first: higher, lower, or within two standard errors."""
    sentences = []
    for index, name in enumerate(both.names[1:], 1):
        parts = (_against_first(both, index, observable) for observable in ANSWERED)
        said = ", ".join(part for part in parts if part)
        if said:
            sentences.append(f"After the last step, {name} against {both.names[0]}: {said}.")
    return sentences


def _against_first(both: SideBySide, index: int, observable: str) -> str:
    """Higher, lower or not clearly either, with both means; empty where one has no such number."""
    gap = both.difference(index, observable)
    means = [both.mean(k, observable, -1) for k in (index, 0)]
    if gap is None:
        return ""
    sizes = " against ".join(map(spread, means))
    name = ANSWERED[observable]
    if gap.standard_error is None:
        return f"{name} {sizes}"
    if abs(gap.mean) <= 2.0 * gap.standard_error:
        return f"no clear difference in the {name} ({sizes})"
    return f"{'higher' if gap.mean > 0 else 'lower'} {name} ({sizes})"


def _headings(both: SideBySide) -> list[Text]:
    """Each setting in a few lines; of those after the first the lines that differ from its."""
    headings: list[Text] = []
    first: list[str] = []
    for name, experiment in zip(both.names, both.experiments, strict=True):
        simulated = experiment.simulated
        text = setting_lines(experiment.setting).plain
        lines = [*text.splitlines(), f"{counted(simulated.runs, 'run')}, {simulated.engine} engine"]
        differing = "\n    ".join(line for line in lines if line not in first)
        heading = Text(f"{name}: ", style="bold")
        headings.append(heading.append(differing or "as the first", style="not bold"))
        first = first or lines
    return headings


def _steps(both: SideBySide) -> Table:
    rows: list[list[str] | list[Text]] = []
    for step in _chosen(both):
        title = str(step)
        for index, (name, setting) in enumerate(zip(both.names, both.settings, strict=True)):
            if step not in setting.recorded:
                continue
            place = setting.recorded.index(step)
            means = (both.mean(index, observable, place) for observable in both.shown)
            rows.append([title, name, *map(spread, means)])
            predicted = both.experiments[index].predicted
            if predicted is not None:
                theory = (both.theory(index, observable, place) for observable in both.shown)
                cells = (MISSING if value is None else plain(value, 3) for value in theory)
                rows.append(dim("", "theory", *cells))
            title = ""
    columns = ("step", "setting", *map(observable_title, both.shown))
    return make_table("Step by step", columns, rows)


def _chosen(both: SideBySide, most: int = 8) -> list[int]:
    """Steps that have their lines, the last one of every setting among them."""
    steps = sorted({step for setting in both.settings for step in setting.recorded})
    last = {setting.recorded[-1] for setting in both.settings}
    return sorted({steps[place] for place in chosen_steps(len(steps), most)} | last)


def _differences(both: SideBySide) -> Table:
    rows = []
    for index, name in enumerate(both.names[1:], 1):
        values = [both.difference(index, observable) for observable in both.shown]
        signs = ["+" if value is not None and value.mean > 0 else "" for value in values]
        rows.append([name, *(f"{s}{spread(v)}" for s, v in zip(signs, values, strict=True))])
    return make_table(
        f"After the last step, difference from {both.names[0]}, run by run",
        ("setting", *map(observable_title, both.shown)),
        rows,
    )
