"""The picture of ``giantstep learn``: neurons on the left, errors on the right."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.analysis.staircase import target_plane
from giantstep.experiment import Experiment
from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.errors import errors
from giantstep.show.plots.neurons import neurons
from giantstep.show.plots.style import source_of
from giantstep.show.tables.setting import setting_title


def learn_figure(experiment: Experiment) -> Figure:
    """Neurons step by step in the plane of two target directions, and error against floors."""
    trajectory, predicted = experiment.simulated, experiment.predicted
    stairs, r = experiment.stairs, trajectory.overlap.shape[-1]
    aligned, fitted = stairs is not None and r > 0, trajectory.test_error is not None
    count = max(aligned + fitted, 1)
    figure = Figure(figsize=(5.25 * count, 4.8), layout="constrained")
    panels = list(figure.subplots(1, count, squeeze=False)[0])
    if stairs is not None and aligned:
        plane, names = target_plane(stairs, r)
        axes = panels.pop(0)
        if len(plane) == 2:
            # Neurons are those of the first run, and so is the prediction where each has its own.
            theory = (
                None
                if predicted is None
                else (predicted.by_run(predicted.cosine)[0] @ plane.T).reshape(-1, 2)
            )
            source = "theory" if predicted is None else source_of(predicted)
            neurons(axes, trajectory.cosine[0] @ plane.T, names, theory, source)
        else:
            _single_index(axes, trajectory, predicted)
    if fitted:
        errors(panels.pop(0), trajectory, experiment.floors, predicted, experiment.floors_any)
    figure.suptitle(setting_title(experiment.setting), fontsize="medium")
    return figure


def _single_index(axes: Axes, trajectory: Trajectory, predicted: Trajectory | None) -> None:
    """One target direction: the cosine of every neuron against the step."""
    steps = trajectory.steps
    axes.plot(steps, trajectory.cosine[0, :, :, 0], marker="o", color="0.5", linewidth=0.8)
    if predicted is not None:
        lines = axes.plot(
            steps,
            predicted.by_run(predicted.cosine)[0, :, :, 0],
            marker="+",
            color="firebrick",
            markersize=10,
        )
        axes.legend(lines[:1], [source_of(predicted)], fontsize="small")
    axes.set_ylim(-1.05, 1.05)
    axes.set_xticks(steps)
    axes.set_xlabel("giant steps $t$")
    axes.set_ylabel("cosine of each neuron with x1")
