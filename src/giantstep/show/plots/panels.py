"""Parts of the papers' figures: each takes axes and returns them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes

from giantstep.records.plot import MapPlot
from giantstep.show.plots.style import THEORY


def level(axes: Axes, value: float, text: str) -> Axes:
    """A horizontal line with its meaning written at the right end."""
    axes.axhline(value, color="0.35", linewidth=0.9, linestyle=(0, (5, 3)))
    return _words(axes, text, (0.99, value), ("axes fraction", "data"), "bottom")


def mark(axes: Axes, place: float, text: str) -> Axes:
    """A vertical line with its meaning written at the top."""
    axes.axvline(place, color="0.35", linewidth=0.9, linestyle=(0, (1, 2)))
    return _words(axes, text, (place, 0.99), ("data", "axes fraction"), "top")


def _words(
    axes: Axes, text: str, place: tuple[float, float], coordinates: tuple[str, str], side: str
) -> Axes:
    """Words that end at a place of the axes, on a ground that lets curves be seen behind them."""
    ground = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1.0}
    look: dict[str, Any] = {"ha": "right", "va": side, "fontsize": "small", "zorder": 1.0}
    axes.annotate(text, place, xycoords=coordinates, bbox=ground, **look)
    return axes


def count_map(
    axes: Axes,
    grid: Float[np.ndarray, " g"],
    counts: Int[np.ndarray, "g g"],
    measured: Sequence[tuple[float, float, float, float]] = (),
    *,
    named: int = 6,
    apart: float = 0.04,
) -> Axes:
    """Predicted number of new outliers over (alpha_1, alpha_2) as shades with their boundaries.

    Small numbers name the shades, ``named`` along each side and ``apart`` from what is measured.
    ``measured`` are (alpha_1, alpha_2, predicted there at that
    size, measured), means over runs: written as measured, the predicted one below in brackets.
    """
    shades = np.minimum(counts.T, 5)
    axes.pcolormesh(grid, grid, shades, cmap="Greys", vmin=-1, vmax=8, shading="nearest")
    axes.contour(grid, grid, shades, levels=np.arange(0.5, 5.5), colors=THEORY, linewidths=1.0)
    every = max(1, len(grid) // named)
    for i in range(every // 2, len(grid), every):
        for j in range(every // 2, len(grid), every):
            place = float(grid[i]), float(grid[j])
            if all(math.dist(place, point[:2]) > apart for point in measured):
                axes.text(
                    *place,
                    f"{counts[i, j]}",
                    fontsize="x-small",
                    color="white" if counts[i, j] > 3 else "black",
                    ha="center",
                    va="center",
                    # Inside the axes, which need no room for it.
                    in_layout=False,
                )
    for first, second, predicted, value in measured:
        axes.text(
            first,
            second,
            f"{value:.2g}\n({predicted:.2g})",
            ha="center",
            va="center",
            fontsize="small",
            bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "black"},
        )
    axes.set_xlabel(r"exponent of the first step $\alpha_1$")
    axes.set_ylabel(r"exponent of the second step $\alpha_2$")
    return axes


def value_map(axes: Axes, panel: MapPlot) -> Axes:
    """Predicted values as shades with their scale; in the cells measured ones, two errors below."""
    predicted = np.array(panel.predicted).T
    image = axes.imshow(predicted, "Greys", vmin=0.0, vmax=panel.top, origin="lower", aspect="auto")
    for (column, row), value in np.ndenumerate(np.array(panel.measured)):
        text = f"{value:.3f}\n$\\pm$ {2.0 * panel.error[column][row]:.3f}"
        # White on the darker half of the shades.
        colour = "white" if predicted[row, column] > 0.5 * panel.top else "black"
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize="small")
    if panel.boundary:
        # Between the last cell before the boundary and the first beyond it, row by row.
        edges = np.searchsorted(panel.x, panel.boundary) - 0.5
        heights = np.arange(len(edges) + 1) - 0.5
        axes.stairs(
            edges,
            heights,
            orientation="horizontal",
            baseline=None,
            color=THEORY,
            linewidth=2.0,
            zorder=2.5,
        )
    axes.set_xticks(range(len(panel.x)), [f"{x:g}" for x in panel.x])
    axes.set_yticks(range(len(panel.y)), [f"{y:g}" for y in panel.y])
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.figure.colorbar(image, ax=axes, label=f"theory: {panel.value_label}")
    return axes
