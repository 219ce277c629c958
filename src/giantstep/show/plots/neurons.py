"""Neurons in the plane of two target directions, step by step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from giantstep.show.mathtext import formula
from giantstep.show.plots.style import STEP_COLOURS, STEP_MARKERS, THEORY, legend_below


def neurons(
    axes: Axes,
    points: Float[np.ndarray, "t p 2"],
    names: Sequence[str],
    predicted: Float[np.ndarray, "m 2"] | None = None,
    source: str = "theory",
) -> Axes:
    """Cosines of each neuron with two directions; markers and shades tell the steps.

    ``names`` are those of the directions, which are orthonormal; crosses are the prediction,
    which the legend calls by its ``source``.  A line joins each neuron with its own prediction.
    """
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
            label=_step_name(step, cloud),
        )
    if predicted is not None:
        _crosses(axes, points, predicted, source)
    axes.set_aspect("equal")
    axes.set_xlim(-1.05, 1.05)
    axes.set_ylim(-1.05, 1.05)
    axes.set_xlabel(f"cosine with {direction_name(names[0])}")
    axes.set_ylabel(f"cosine with {direction_name(names[1])}")
    legend_below(axes)
    return axes


def _step_name(step: int, cloud: Float[np.ndarray, "p 2"]) -> str:
    """The name of a step in the legend, and whether its neurons lie in pairs at one point."""
    places = len(np.unique(cloud.round(9), axis=0))
    pairs = ", two neurons at each point" if len(cloud) == 2 * places else ""
    return ("start" if step == 0 else f"after step {step}") + pairs


def _crosses(
    axes: Axes,
    points: Float[np.ndarray, "t p 2"],
    predicted: Float[np.ndarray, "m 2"],
    source: str,
) -> None:
    """The prediction of each neuron, joined with it by a line."""
    measured = points.reshape(-1, 2)
    if len(measured) == len(predicted):
        pairs = list(np.stack([measured, predicted], axis=1))
        joins = LineCollection(pairs, color=THEORY, linewidth=0.6, alpha=0.6, zorder=1.5)
        joins.set_label("from a neuron to its prediction")
        axes.add_collection(joins)
    # The crosses of more than 16 neurons lie close together, and are smaller.
    size, width = (24, 0.8) if points.shape[1] > 16 else (90, 1.4)
    look: dict[str, Any] = {"marker": "+", "color": THEORY, "zorder": 20, "label": source}
    axes.scatter(predicted[:, 0], predicted[:, 1], s=size, linewidth=width, **look)


def direction_name(name: str) -> str:
    """The direction of an input or of a sum of inputs, such as x1 + x2, set as mathematics."""
    return formula(name) if re.search(r"\bx\d", name) else name
