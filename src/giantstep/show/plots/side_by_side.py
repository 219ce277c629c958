"""Settings side by side: a colour each, theory as lines, simulation as points."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from giantstep.show.mathtext import formula, sizes
from giantstep.show.plots.style import PALETTE, STEP_MARKERS, points, step_axis
from giantstep.show.tables.side_by_side import common_line, difference_line
from giantstep.sweeps.side_by_side import SideBySide

AXES = {
    "norm": "mean length of the rows, $|w|$",
    "train_error": "train error of the readout",
    "test_error": "test error of the readout",
    "network_error": "test error of the network itself",
}
"""Observables whose axis has another title than their name."""


def side_by_side_figure(both: SideBySide, most_columns: int = 2, width: int = 95) -> Figure:
    """A panel for each observable over the steps; the title names the fields that differ.

    ``most_columns`` panels are beside each other, and a line of the title has ``width`` characters.
    """
    columns = min(len(both.shown), most_columns)
    rows = -(-len(both.shown) // columns)
    figure = Figure(figsize=(max(6.4, 4.6 * columns), 1.4 + 3.2 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, observable in zip(panels, both.shown, strict=False):
        _panel(axes, both, observable)
    for axes in panels[len(both.shown) :]:
        axes.set_axis_off()
    target = both.settings[0].target.name
    common = common_line(both).replace(target, formula(target), 1)
    lines = (common, f"differing in {difference_line(both)}")
    title = sizes("\n".join(textwrap.fill(line, width) for line in lines))
    figure.suptitle(title, fontsize="medium")
    handles = [
        Line2D([], [], color=PALETTE[k], marker=STEP_MARKERS[k], label=name)
        for k, name in enumerate(both.names)
    ]
    many = any(experiment.simulated.runs > 1 for experiment in both.experiments)
    bars = ", bars: 2 standard errors" if many else ""
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), 4),
        frameon=False,
        fontsize="small",
        title=f"lines: theory, points: simulation{bars}",
        title_fontsize="small",
    )
    return figure


def _panel(axes: Axes, both: SideBySide, observable: str, shift: float = 0.06) -> None:
    """One observable; the points of settings stand ``shift`` steps beside each other."""
    middle = 0.5 * (len(both.names) - 1)
    for index, setting in enumerate(both.settings):
        steps = np.array(setting.recorded, dtype=float)
        places = range(len(steps))
        means = [both.mean(index, observable, place) for place in places]
        theory = [both.theory(index, observable, place) for place in places]
        values = np.array([np.nan if value is None else value for value in theory])
        axes.plot(steps, values, color=PALETTE[index], linewidth=1.4)
        if any(mean is None for mean in means):
            continue
        errors = [mean.standard_error for mean in means if mean is not None]
        points(
            axes,
            steps + shift * (index - middle),
            [mean.mean for mean in means if mean is not None],
            None if None in errors else errors,
            marker=STEP_MARKERS[index],
            color=PALETTE[index],
        )
    step_axis(axes)
    axes.set_ylabel(AXES.get(observable, observable.replace("_", " ")))
