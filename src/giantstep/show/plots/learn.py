"""The picture of ``giantstep learn``: neurons on the left, errors on the right."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import completed, name_vector
from giantstep.experiment import Experiment
from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.errors import errors
from giantstep.show.plots.neurons import neurons
from giantstep.show.plots.style import setting_title


def target_plane(stairs: Staircase, r: int) -> tuple[Float[np.ndarray, "k r"], list[str]]:
    """The first two directions in the order in which a staircase learns them, with names."""
    learned = [stairs.added(step) for step in range(1, len(stairs.bases) + 1)]
    frame = completed(np.concatenate([np.zeros((0, r)), *learned]))[:2]
    return frame, [name_vector(row) for row in frame]


def learn_figure(experiment: Experiment) -> Figure:
    """Neurons step by step in the plane of two target directions, and error against floors."""
    trajectory, predicted = experiment.simulated, experiment.predicted
    setting = experiment.setting
    plane, names = target_plane(experiment.stairs, setting.target.r)
    both = trajectory.test_error is not None
    figure = Figure(figsize=(10.5 if both else 5.2, 4.8), layout="constrained")
    panels = figure.subplots(1, 2 if both else 1, squeeze=False)[0]
    if len(plane) == 2:
        neurons(panels[0], trajectory, plane, (names[0], names[1]), predicted=predicted)
    else:
        _single_index(panels[0], trajectory, predicted)
    if both:
        errors(panels[1], trajectory, experiment.floors, predicted)
    figure.suptitle(setting_title(setting), fontsize="medium")
    return figure


def _single_index(axes: Axes, trajectory: Trajectory, predicted: Trajectory | None) -> None:
    """One target direction: the cosine of every neuron against the step."""
    steps = trajectory.steps
    axes.plot(steps, trajectory.cosine[0, :, :, 0], marker="o", color="0.5", linewidth=0.8)
    if predicted is not None:
        lines = axes.plot(
            steps, predicted.cosine[0, :, :, 0], marker="+", color="firebrick", markersize=10
        )
        axes.legend(lines[:1], ["theory"], fontsize="small")
    axes.set_ylim(-1.05, 1.05)
    axes.set_xticks(steps)
    axes.set_xlabel("giant steps $t$")
    axes.set_ylabel("cosine of each neuron with x1")
