"""Neurons in the plane of two target directions, step by step."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.style import STEP_COLOURS, STEP_MARKERS

MANY = 16
"""Neurons from which on crosses lie beside each other."""


def neurons(
    axes: Axes,
    trajectory: Trajectory,
    plane: Float[np.ndarray, "2 r"],
    names: tuple[str, str],
    run: int = 0,
    predicted: Trajectory | None = None,
) -> Axes:
    """Normalised overlaps of each neuron with two directions; markers and shades tell the steps.

    ``plane`` holds two orthonormal directions in target coordinates; crosses are the prediction of
    the run, small where they would hide many neurons.
    """
    points = trajectory.cosine[run] @ plane.T
    circle = np.linspace(0.0, 2.0 * np.pi, 200)
    axes.plot(np.cos(circle), np.sin(circle), color="0.8", linewidth=0.8, zorder=0)
    axes.axhline(0.0, color="0.9", linewidth=0.8, zorder=0)
    axes.axvline(0.0, color="0.9", linewidth=0.8, zorder=0)
    for step, cloud in enumerate(points):
        axes.scatter(
            cloud[:, 0],
            cloud[:, 1],
            marker=STEP_MARKERS[step % len(STEP_MARKERS)],
            color=STEP_COLOURS(step / max(len(points) - 1, 1)),
            edgecolor="black",
            linewidth=0.5,
            s=36,
            zorder=2 + step,
            label="start" if step == 0 else f"after step {step}",
        )
    if predicted is not None:
        rows = predicted.cosine
        crosses = (rows[run if len(rows) > 1 else 0] @ plane.T).reshape(-1, 2)
        many = rows.shape[2] > MANY
        axes.scatter(
            crosses[:, 0],
            crosses[:, 1],
            marker="+",
            color="firebrick",
            s=24 if many else 90,
            linewidth=0.8 if many else 1.4,
            zorder=20,
            label="theory",
        )
    axes.set_aspect("equal")
    axes.set_xlim(-1.05, 1.05)
    axes.set_ylim(-1.05, 1.05)
    axes.set_xlabel(f"cosine with {names[0]}")
    axes.set_ylabel(f"cosine with {names[1]}")
    axes.legend(loc="upper left", fontsize="small", framealpha=0.9)
    return axes
