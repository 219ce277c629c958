"""A simulation or a prediction by itself, and what a comparison of the two says."""

from __future__ import annotations

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from giantstep.records.comparison import Comparison
from giantstep.records.summary import summarize
from giantstep.records.trajectory import Trajectory
from giantstep.show.tables.experiment import comparison_words
from giantstep.show.tables.parts import MISSING, chosen_steps, counted, make_table, plain, spread
from giantstep.show.tables.setting import setting_lines


def trajectory_report(record: Trajectory, *, most: int = 16, directions: int = 6) -> RenderableType:
    """The setting, then |w|, cosines with the first target directions, and errors step by step."""
    r = record.overlap.shape[-1]
    names = [f"x{k + 1}" for k in range(min(r, directions))]
    steps = summarize(record, {name: np.eye(r)[[k]] for k, name in enumerate(names)})
    errors = {name: name.replace("_", " ") for step in steps for name in step.errors}
    places = chosen_steps(len(steps), most)
    rows = [
        [
            str(steps[place].step),
            spread(steps[place].norm),
            *map(spread, steps[place].cosines),
            *(spread(steps[place].errors.get(name)) for name in errors),
        ]
        for place in places
    ]
    source = f"theory: {record.theory}"
    if record.theory is None:
        source = f"{counted(record.runs, 'run')}, {record.engine} engine"
    head = setting_lines(record.setting).append(
        f"{source}, {record.seconds:.2f} s", style="not bold"
    )
    columns = ("step", "|w|", *names, *errors.values())
    table = make_table("Median |cosine| with target directions, and errors", columns, rows)
    hidden = len(steps) - len(places)
    more = [Text(f"{counted(hidden, 'step')} not shown.", style="dim")] * bool(hidden)
    return Group(head, table, *more)


def comparison_report(compared: Comparison) -> RenderableType:
    """The verdict in words, then the largest deviation and the resolution of each observable."""
    if not compared.count:
        return Text("Theory predicts nothing that these runs measure.", style="yellow")
    word, style = ("agree", "green") if compared.agrees else ("disagree", "red")
    rows = [
        (
            name.replace("_", " "),
            f"{entry['comparisons']:,}",
            plain(entry["largest"], 2),
            MISSING if entry["resolution"] is None else f"{plain(100 * entry['resolution'], 2)} %",
        )
        for name, entry in compared.as_dict()["observables"].items()
    ]
    columns = ("observable", "comparisons", "largest deviation (s.e.)", "error noticed")
    return Group(
        Text(f"Theory and simulation {word}.", style=style),
        comparison_words(compared, {}),
        make_table("", columns, rows),
    )
