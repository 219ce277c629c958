"""Errors of the readout step by step, against floors: lower bounds of the error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from giantstep.records.trajectory import Trajectory
from giantstep.show.plots.style import THEORY, bounds, legend_below, points, source_of, step_axis

LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "test_error": (
        "test error of the readout",
        {"marker": "o", "linestyle": "-", "color": "black"},
    ),
    "train_error": (
        "train error of the readout",
        {"marker": "s", "linestyle": ":", "color": "0.45"},
    ),
    "network_error": (
        "test error of the network itself",
        {"marker": "^", "linestyle": "--", "color": "0.65"},
    ),
}
"""The errors that are drawn, their names in the legend and how they look."""


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
    where they are lower; crosses are the prediction of each error that theory predicts.
    """
    if trajectory.test_error is None or trajectory.train_error is None:
        raise ValueError("the trajectory has no readout errors to draw")
    for name, (label, look) in LOOKS.items():
        values = getattr(trajectory, name)
        if values is not None:
            deviation = _standard_error(trajectory, name, values)
            points(axes, trajectory.steps, values.mean(axis=0), deviation, label=label, **look)
    if predicted is not None:
        label = source_of(predicted)
        for values in (getattr(predicted, name) for name in LOOKS):
            if values is not None:
                cross: dict[str, Any] = {"color": THEORY, "ms": 11, "zorder": 20, "label": label}
                axes.plot(trajectory.steps, values.mean(axis=0), "+", **cross)
                label = ""
    _floors(axes, trajectory, floors, floors_any)
    step_axis(axes, trajectory.steps.tolist())
    axes.set_ylabel("mean squared error")
    _scale(axes, trajectory, [*floors, *floors_any])
    legend_below(axes, title="bars: 2 standard errors", title_fontsize="x-small")
    return axes


def _scale(
    axes: Axes, trajectory: Trajectory, floors: Sequence[float | None], *, most: float = 30.0
) -> None:
    """A logarithmic axis where an error is more than ``most`` times those of the readout.

    On a linear axis the readout's errors would then lie within a thirtieth of its height.
    """
    means = {
        name: values.mean(axis=0)
        for name in LOOKS
        if (values := getattr(trajectory, name)) is not None
    }
    largest = max(float(np.nanmax(values)) for values in means.values())
    if largest <= most * float(np.nanmax(means["test_error"])):
        # A floor of zero stays visible.
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])
        return
    positive = np.concatenate([values[values > 0] for values in means.values()])
    least = float(positive.min())
    if any(floor is not None and floor <= 0.0 for floor in floors):
        # Linear below a power of ten under the errors: a floor of zero stays visible.
        axes.set_yscale("symlog", linthresh=10.0 ** np.floor(np.log10(least)))
        axes.set_ylim(bottom=0.0)
    else:
        axes.set_yscale("log")
        axes.set_ylim(bottom=least / 5.0)
    axes.set_ylim(top=5.0 * largest)
    axes.set_ylabel("mean squared error, logarithmic axis")


def _standard_error(
    trajectory: Trajectory, name: str, values: Float[np.ndarray, "runs t"]
) -> Float[np.ndarray, " t"]:
    """Over the runs; of a single run the test error has that of its test samples."""
    if trajectory.runs > 1:
        return values.std(axis=0, ddof=1) / np.sqrt(trajectory.runs)
    if name == "test_error" and trajectory.test_error_uncertainty is not None:
        return trajectory.test_error_uncertainty[0]
    return np.zeros(values.shape[1])


def _floors(
    axes: Axes,
    trajectory: Trajectory,
    floors: Sequence[float | None],
    floors_any: Sequence[float | None],
) -> None:
    """Solid lines for the activation, dotted ones for any activation where these are lower."""
    lower = [best if best != mine else None for mine, best in zip(floors, floors_any, strict=False)]
    several = any(level is not None for level in lower)
    whose = f" of {trajectory.setting.activation.name}" if several else ""
    label = f"floor{whose}: lower bound, large $d$"
    bounds(axes, floors, trajectory.steps, label, color=THEORY, linestyles="solid")
    name = "floor of any activation"
    bounds(axes, lower, trajectory.steps, name, color=THEORY, linestyles="dotted")
