"""Errors of the readout step by step, against floors: lower bounds of the error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.style import source_of


def errors(
    axes: Axes,
    trajectory: Trajectory,
    floors: Sequence[float | None],
    predicted: Trajectory | None = None,
    floors_any: Sequence[float | None] = (),
) -> Axes:
    """Mean train and test error after each step, with two standard errors, over the floors.

    ``floors`` are those of the setting's activation after each step
    (``giantstep.experiment.floors_of``), ``floors_any`` those of any activation, which are drawn
    where they are lower; crosses are the prediction, of the readout and of the network itself.
    """
    if trajectory.test_error is None or trajectory.train_error is None:
        raise ValueError("the trajectory has no readout errors to draw")
    steps = trajectory.steps
    for values, label, marker, line in (
        (trajectory.test_error, "test error of the readout", "o", "-"),
        (trajectory.train_error, "train error of the readout", "s", ":"),
        (trajectory.network_error, "test error of the network itself", "^", "--"),
    ):
        if values is None:
            continue
        if trajectory.runs > 1:
            spread = values.std(axis=0, ddof=1) / np.sqrt(trajectory.runs)
        elif values is trajectory.test_error and trajectory.test_error_uncertainty is not None:
            spread = trajectory.test_error_uncertainty[0]
        else:
            spread = np.zeros(len(steps))
        axes.errorbar(
            steps,
            values.mean(axis=0),
            yerr=2.0 * spread,
            label=label,
            marker=marker,
            linestyle=line,
            capsize=3,
            color={"o": "black", "s": "0.45", "^": "0.65"}[marker],
        )
    if predicted is not None:
        for index, values in enumerate((predicted.test_error, predicted.network_error)):
            if values is not None:
                label = source_of(predicted) if index == 0 else ""
                axes.plot(
                    steps,
                    values.mean(axis=0),
                    "+",
                    color="firebrick",
                    ms=11,
                    zorder=20,
                    label=label,
                )
    lower = [b if b != a else None for a, b in zip(floors, floors_any, strict=False)]
    name = trajectory.setting.activation.name
    both = name if any(level is not None for level in lower) else "any activation"
    _levels(
        axes,
        steps.tolist(),
        floors,
        f"floor: lower bound for readouts of {both}, large $d$",
        "solid",
    )
    _levels(axes, steps.tolist(), lower, "floor of any activation", "dotted")
    axes.set_xticks(steps)
    # A floor of zero stays visible.
    axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])
    axes.set_xlabel("giant steps $t$")
    axes.set_ylabel("mean squared error")
    axes.legend(fontsize="small", title="bars: 2 standard errors", title_fontsize="x-small")
    return axes


def _levels(
    axes: Axes,
    steps: Sequence[int],
    levels: Sequence[float | None],
    label: str,
    style: Literal["solid", "dotted"],
) -> None:
    """A short line at each step that has a level, with one label for all."""
    known = [(step, level) for step, level in zip(steps, levels, strict=False) if level is not None]
    for place, (step, level) in enumerate(known):
        axes.hlines(
            level,
            step - 0.4,
            step + 0.4,
            color="firebrick",
            linewidth=2.0,
            linestyles=style,
            label="" if place else label,
        )
