"""What all figures share: colours, markers, rows of panels, the axis of the steps, and saving."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from giantstep.records.file import write_whole
from giantstep.records.trajectory import Trajectory

THEORY = "firebrick"
"""The colour of theory wherever it is set apart from a simulation by its colour."""

PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    *("#e69f00", "#56b4e9", "#000000", "#7f7f7f"),
)
"""Colours of series that people with any colour vision tell apart (Okabe and Ito)."""

# Luminance falls monotonically along the map: steps stay apart in print.
STEP_COLOURS = mpl.colormaps["viridis_r"]
STEP_MARKERS = "oDs^vPX*"


def row_of_panels(
    count: int, width: float, height: float, title: str = ""
) -> tuple[Figure, list[Axes]]:
    """A figure of ``count`` panels beside each other, each of a size in inches."""
    figure = Figure(figsize=(width * count, height), layout="constrained")
    if title:
        figure.suptitle(title, fontsize="medium")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def step_axis(axes: Axes, steps: Sequence[int] | None = None) -> None:
    """The horizontal axis of a figure over steps; without ``steps`` matplotlib chooses ticks."""
    axes.set_xlabel("giant steps $t$")
    if steps is None:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        axes.set_xticks(steps)


def points(axes: Axes, x: Any, y: Any, error: Any = None, **look: Any) -> None:
    """Simulated means with bars of two standard errors."""
    bars = None if error is None else 2.0 * np.asarray(error)
    axes.errorbar(x, y, yerr=bars, capsize=3, **({"linestyle": "none"} | look))


def bounds(
    axes: Axes,
    levels: Sequence[float | None],
    steps: Any,
    label: str,
    *,
    half: float = 0.4,
    **look: Any,
) -> None:
    """A line of ``half`` a step to either side at each step with a level; one label for all."""
    there = [(step, level) for step, level in zip(steps, levels, strict=False) if level is not None]
    for number, (step, level) in enumerate(there):
        name = "" if number else label
        axes.hlines(level, step - half, step + half, linewidth=2.0, label=name, **look)


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or PDF, without a trace of when or by what it was made."""
    keys = ("Creator", "Producer", "CreationDate") if path.suffix == ".pdf" else ("Software",)
    content = io.BytesIO()
    kind = path.suffix.removeprefix(".")
    figure.savefig(content, format=kind, dpi=150, metadata=dict.fromkeys(keys))
    write_whole(path, content.getvalue())


def source_of(predicted: Trajectory | None) -> str:
    """Where a prediction comes from, for a legend.

    Runs on Gaussian rows, which stand for a theory of data sets, are no theory.
    """
    if predicted is None:
        return "theory"
    if predicted.from_runs:
        return "other runs, on Gaussian rows"
    return "theory"


def legend_below(axes: Axes, **options: Any) -> None:
    """A legend of two columns below the axes, where it covers no curve and no point."""
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize="small", **options
    )
