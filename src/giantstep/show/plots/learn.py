"""The picture of ``giantstep learn``: neurons on the left, errors on the right."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.analysis.staircase import target_plane
from giantstep.analysis.subspace import completed, name_space
from giantstep.experiment import Experiment
from giantstep.records.differences import canonical_order
from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.errors import errors
from giantstep.show.plots.neurons import direction_name, neurons
from giantstep.show.plots.style import THEORY, legend_below, row_of_panels, source_of, step_axis
from giantstep.show.tables.setting import setting_title


def learn_figure(experiment: Experiment) -> Figure:
    """Neurons step by step in the plane of two target directions, and error against floors."""
    trajectory, predicted = experiment.simulated, experiment.predicted
    stairs, r = experiment.stairs, trajectory.overlap.shape[-1]
    aligned, fitted = stairs is not None and r > 0, trajectory.test_error is not None
    title = setting_title(experiment.setting)
    figure, panels = row_of_panels(max(aligned + fitted, 1), 5.25, 4.8, title)
    if stairs is not None and aligned:
        plane, names = target_plane(stairs, r)
        axes = panels.pop(0)
        crosses = None if predicted is None else _of_first_run(predicted, trajectory)
        if len(plane) == 2:
            theory = None if crosses is None else (crosses @ plane.T).reshape(-1, 2)
            neurons(axes, trajectory.cosine[0] @ plane.T, names, theory, _source(predicted))
        else:
            _single_index(axes, trajectory, crosses, _source(predicted))
        compared = predicted is not None and not predicted.from_runs
        axes.set_title(_shown(trajectory, plane, compared), fontsize="small")
    if fitted:
        errors(panels.pop(0), trajectory, experiment.floors, predicted, experiment.floors_any)
    return figure


def _shown(
    trajectory: Trajectory, plane: Float[np.ndarray, "k r"], compared: bool, *, most: int = 3
) -> str:
    """Which run the points are, that runs scatter, and which directions are left out.

    More than ``most`` directions that are left out are counted, and not named.
    """
    run = "the run" if trajectory.runs == 1 else f"run 1 of {trajectory.runs:,}"
    lines = [f"Points: the neurons of {run}."]
    if compared:
        lines = [f"Points: {run}. Crosses: mean of theory, around which runs scatter."]
    others = name_space(completed(plane)[len(plane) :])
    if others:
        named = ", ".join(map(direction_name, others)) if len(others) <= most else len(others)
        lines.append(f"Directions of the target that are not drawn: {named}.")
    return "\n".join(lines)


def _source(predicted: Trajectory | None) -> str:
    """What the crosses of the neurons are; drawn runs are averaged from the start of one run."""
    if predicted is None or predicted.from_runs or predicted.rows_a_run == 1:
        return source_of(predicted)
    return f"theory: mean of {predicted.rows_a_run:,} random runs from this start"


def _of_first_run(predicted: Trajectory, simulated: Trajectory) -> Float[np.ndarray, "t p r"]:
    """Predicted cosines of the neurons of the first run, in the order in which that run has them.

    A prediction for all runs has its neurons in another order: they belong together by their
    readout.
    """
    cosines = predicted.by_run(predicted.cosine)[0]
    matched = np.empty_like(cosines)
    matched[:, canonical_order(simulated)[0]] = cosines[:, canonical_order(predicted)[0]]
    return matched


def _single_index(
    axes: Axes,
    trajectory: Trajectory,
    predicted: Float[np.ndarray, "t p r"] | None,
    source: str,
) -> None:
    """One target direction: the cosine of every neuron against the step."""
    steps = trajectory.steps
    look: dict[str, Any] = {"marker": "o", "color": "0.5", "linewidth": 0.8}
    lines = axes.plot(steps, trajectory.cosine[0, :, :, 0], **look)
    lines[0].set_label("simulation: the neurons")
    if predicted is not None:
        lines = axes.plot(steps, predicted[:, :, 0], marker="+", color=THEORY, markersize=10)
        lines[0].set_label(source)
    legend_below(axes)
    axes.set_ylim(-1.05, 1.05)
    step_axis(axes, steps.tolist())
    axes.set_ylabel("cosine of each neuron with $x_1$")
