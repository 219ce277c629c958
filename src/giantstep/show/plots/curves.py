"""Curves over one pair of axes, from a plot as data: theory as lines, simulation as points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from giantstep.records.plot import Curve, Plot
from giantstep.show.plots.panels import level, mark
from giantstep.show.plots.style import PALETTE, THEORY, points

MARKERS = "os^Dv*Ph<>"
LINES = ("-", "--", ":", "-.")

CROWDED = 8
"""Names in a legend from which on it stands beside its axes."""

GUIDE = "0.5"
"""The colour of a slope through a measured point, and of a second set of separate places."""


def _look(curve: Curve, index: int, colour: str | None) -> tuple[str, dict[str, Any]]:
    """Name and style of a line: a prediction, one of separate places, or a guide for the eye.

    ``colour`` is that of the simulation of the same series, None where there is none.
    """
    if curve.guide:
        name = f"guide: {curve.label}, through the first point"
        return name, {"color": GUIDE, "linestyle": ":", "linewidth": 1.2, "zorder": 1.0}
    name = curve.label if curve.label.startswith("theory") else f"theory: {curve.label}"
    if not curve.joined:
        separate = {"linestyle": "none", "marker": "_", "markersize": 18, "markeredgewidth": 1.8}
        return name, {"color": colour or (GUIDE if index else THEORY), **separate}
    if colour is not None:
        return name, {"color": colour, "linestyle": "-", "linewidth": 1.2}
    return name, {"color": THEORY, "linestyle": LINES[index % len(LINES)], "linewidth": 1.2}


def curves(axes: Axes, plot: Plot) -> Axes:
    """Theory as lines, simulation as points with bars of two standard errors, a colour a series."""
    simulated = [curve for curve in plot.curves if not curve.theory]
    colours = {
        curve.series or curve.label: PALETTE[index % len(PALETTE)]
        for index, curve in enumerate(simulated)
    }
    for index, curve in enumerate(simulated):
        look = {"marker": MARKERS[index % len(MARKERS)], "label": curve.label}
        points(
            axes, curve.x, curve.y, curve.error, color=colours[curve.series or curve.label], **look
        )
    named: set[str] = set()
    for index, curve in enumerate(c for c in plot.curves if c.theory and c.x):
        label, style = _look(curve, index, colours.get(curve.series or curve.label))
        axes.plot(curve.x, curve.y, label="_nolegend_" if label in named else label, **style)
        named.add(label)
    for text, value in plot.levels.items():
        level(axes, value, text)
    for text, place in plot.marks.items():
        mark(axes, place, text)
    _scales(axes, plot, sorted({x for curve in simulated for x in curve.x}))
    _legend(axes, bars=any(curve.error is not None for curve in plot.curves))
    return axes


def _scales(axes: Axes, plot: Plot, places: Sequence[float], most_ticks: int = 8) -> None:
    """Scales, ranges and titles of the axes; each of a few measured ``places`` has its tick."""
    axes.set_xscale(plot.x_scale)
    axes.set_yscale(plot.y_scale)
    if plot.x_range is not None:
        axes.set_xlim(*plot.x_range)
    if plot.y_range is not None:
        axes.set_ylim(*plot.y_range)
    # A limit far beyond what was measured has the axis to itself.
    reach = max((x for curve in plot.curves for x in curve.x), default=0.0)
    far = plot.x_scale == "log" and reach > 100.0 * max(places, default=reach)
    if plot.x_names:
        axes.set_xticks(range(1, len(plot.x_names) + 1), list(plot.x_names))
    elif places and len(places) <= most_ticks and not far:
        axes.set_xticks(places, [f"{x:g}" for x in places])
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.set_title(plot.title, fontsize="medium")


def _legend(axes: Axes, *, bars: bool) -> None:
    """The legend, beside the axes where it has many names."""
    options: dict[str, Any] = {}
    if len(axes.get_legend_handles_labels()[1]) > CROWDED:
        options |= {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    if bars:
        options |= {"title": "bars: 2 standard errors", "title_fontsize": "x-small"}
    axes.legend(fontsize="small", framealpha=0.8, edgecolor="none", **options)
