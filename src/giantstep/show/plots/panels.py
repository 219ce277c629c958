"""Panels of the papers' figures: each takes axes and returns them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes

THEORY = "firebrick"
MARKERS = "os^Dv"
LINES = ("-", "--", ":", "-.")


def points_and_line(
    axes: Axes,
    x: Sequence[float],
    runs: Float[np.ndarray, "runs m"],
    theory: tuple[Sequence[float], Sequence[float]] | None,
    label: str,
    index: int = 0,
) -> Axes:
    """Means over runs with bars of two standard errors, and the predicted curve through them."""
    mean = runs.mean(axis=0)
    error = 2.0 * runs.std(axis=0, ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else None
    axes.errorbar(
        x,
        mean,
        yerr=error,
        marker=MARKERS[index % len(MARKERS)],
        color=str(0.25 * index),
        linestyle="none",
        capsize=3,
        label=f"{label}, simulation",
    )
    if theory is not None:
        line = LINES[index % len(LINES)]
        axes.plot(*theory, line, color=THEORY, label=f"{label}, theory")
    return axes


def level(axes: Axes, value: float, text: str) -> Axes:
    """A horizontal line with its meaning written at the right end."""
    axes.axhline(value, color="0.35", linewidth=0.9, linestyle=(0, (5, 3)))
    axes.annotate(
        text,
        (0.99, value),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        fontsize="small",
    )
    return axes


def size_axis(axes: Axes, sizes: Sequence[float]) -> Axes:
    """A logarithmic axis with a tick at every size."""
    axes.set_xscale("log")
    axes.set_xticks(list(sizes), [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    return axes


def count_map(
    axes: Axes,
    grid: Float[np.ndarray, " g"],
    counts: Int[np.ndarray, "g g"],
    measured: Sequence[tuple[float, float, int, int]] = (),
) -> Axes:
    """Predicted number of new outliers over (alpha_1, alpha_2) as shades with their boundaries.

    ``measured`` are (alpha_1, alpha_2, predicted there at that size, measured): written as
    measured, and underlined where the two differ.
    """
    shades = np.minimum(counts.T, 5)
    axes.pcolormesh(grid, grid, shades, cmap="Greys", vmin=-1, vmax=8, shading="nearest")
    axes.contour(grid, grid, shades, levels=np.arange(0.5, 5.5), colors=THEORY, linewidths=1.0)
    for first, second, predicted, found in measured:
        axes.text(
            first,
            second,
            f"{found}" if predicted == found else f"{found} ({predicted})",
            ha="center",
            va="center",
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": "black"},
        )
    axes.set_xlabel(r"exponent of the first step $\alpha_1$")
    axes.set_ylabel(r"exponent of the second step $\alpha_2$")
    return axes
