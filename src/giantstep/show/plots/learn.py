"""The picture of ``giantstep learn``: neurons on the left, errors on the right."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.analysis.staircase import target_plane
from giantstep.experiment import Experiment
from giantstep.records.differences import canonical_order
from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.errors import errors
from giantstep.show.plots.neurons import neurons
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
            neurons(axes, trajectory.cosine[0] @ plane.T, names, theory, source_of(predicted))
        else:
            _single_index(axes, trajectory, crosses, source_of(predicted))
    if fitted:
        errors(panels.pop(0), trajectory, experiment.floors, predicted, experiment.floors_any)
    return figure


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
    axes.plot(steps, trajectory.cosine[0, :, :, 0], marker="o", color="0.5", linewidth=0.8)
    if predicted is not None:
        lines = axes.plot(steps, predicted[:, :, 0], marker="+", color=THEORY, markersize=10)
        lines[0].set_label(source)
        legend_below(axes)
    axes.set_ylim(-1.05, 1.05)
    step_axis(axes, steps.tolist())
    axes.set_ylabel("cosine of each neuron with $x_1$")
