"""A figure of a paper, drawn from its panels as data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.papers.figures.record import Reproduction
from giantstep.papers.figures.stored import FigureData
from giantstep.records.plot import CountPlot, MapPlot, NeuronPlot, Panel, Plot, SpectrumPlot
from giantstep.show.plots.curves import CROWDED, curves
from giantstep.show.plots.neurons import neurons
from giantstep.show.plots.panels import count_map, value_map
from giantstep.show.plots.spectrum import spectrum


def paper_figure(figure: Reproduction, data: FigureData) -> Figure:
    """The panels of a figure in rows, under its title; its caption stands beside the file."""
    panels = data.panels
    columns = min(figure.columns, len(panels))
    drawn = Figure(figsize=figure.inches, layout="constrained")
    places = drawn.subplots(math.ceil(len(panels) / columns), columns, squeeze=False).ravel()
    for axes, panel in zip(places, panels, strict=False):
        draw(axes, panel)
        # Spectra side by side have one legend, that of the last; so have crowded plots.
        names = axes.get_legend_handles_labels()[1]
        crowded = isinstance(panel, Plot) and len(names) > CROWDED
        if (isinstance(panel, SpectrumPlot) or crowded) and axes is not places[len(panels) - 1]:
            axes.get_legend().remove()
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    if all(isinstance(panel, NeuronPlot) for panel in panels):
        _one_legend(drawn, list(places))
    drawn.suptitle(figure.title)
    return drawn


def _one_legend(figure: Figure, panels: Sequence[Axes]) -> None:
    """The legends of panels as one below all of them, each name once."""
    named: dict[str, Any] = {}
    for axes in panels:
        handles, names = axes.get_legend_handles_labels()
        named |= dict(zip(names, handles, strict=True))
        if (legend := axes.get_legend()) is not None:
            legend.remove()
    look: dict[str, Any] = {"ncols": len(named), "frameon": False, "fontsize": "small"}
    figure.legend(list(named.values()), list(named), loc="outside lower center", **look)


def draw(axes: Axes, panel: Panel) -> Axes:
    """One panel, by its kind."""
    match panel:
        case Plot():
            return curves(axes, panel)
        case NeuronPlot():
            points, crosses = np.array(panel.simulated), np.array(panel.predicted)
            neurons(axes, points, panel.names, crosses)
        case SpectrumPlot():
            spectrum(
                axes,
                np.array([panel.values]),
                panel.edge,
                (np.array(panel.grid), np.array(panel.density)),
                predicted=panel.predicted,
                measured=panel.outliers,
                symbol=panel.symbol,
                reach=panel.reach,
            )
        case CountPlot():
            count_map(axes, np.array(panel.grid), np.array(panel.counts), panel.measured)
        case MapPlot():
            value_map(axes, panel)
    axes.set_title(panel.title, fontsize="medium")
    return axes
