"""Theory as lines, simulation as points with error bars."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from giantstep.records.differences import ordered
from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.curves import PALETTE
from giantstep.show.plots.style import STEP_MARKERS, source_of

AXIS = {
    "overlap": r"overlap $\langle w_i, w^*_k \rangle$",
    "network_error": "test error of the network",
    "test_error": "test error of the readout",
}


def comparison(
    axes: Axes, predicted: Trajectory, simulated: Trajectory, observable: str = "overlap"
) -> Axes:
    """One observable against the step: lines predicted, points simulated (two standard errors).

    Overlaps are shown for the first neuron of either sign, in every target direction.
    """
    theory, values = ordered(predicted, observable).mean(axis=0), ordered(simulated, observable)
    steps = np.arange(theory.shape[0])
    error = 2 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    if observable == "overlap":
        last = theory.shape[1] - 1
        chosen = [(i, k) for i in (0, last) for k in range(theory.shape[2])]
        series = [
            (
                theory[:, i, k],
                values[:, :, i, k],
                error[:, i, k],
                f"a {'<' if i == 0 else '>'} 0, x{k + 1}",
            )
            for i, k in chosen
        ]
    else:
        series = [(theory, values, error, observable.replace("_", " "))]
    for index, (line, points, bar, label) in enumerate(series):
        colour = PALETTE[index % len(PALETTE)]
        axes.plot(steps, line, color=colour, linewidth=1.2)
        axes.errorbar(
            steps,
            points.mean(axis=0),
            yerr=bar,
            linestyle="none",
            marker=STEP_MARKERS[index % len(STEP_MARKERS)],
            color=colour,
            capsize=3,
            label=label,
        )
    axes.set_xticks(steps)
    axes.set_xlabel("giant steps $t$")
    axes.set_ylabel(AXIS.get(observable, observable.replace("_", " ")))
    axes.legend(
        fontsize="small", title=f"lines: {source_of(predicted)}\npoints: simulation, bars: 2 s.e."
    )
    return axes
