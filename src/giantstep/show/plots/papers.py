"""A figure of a paper, drawn from its panels as data."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.papers.figures.record import Reproduction
from giantstep.papers.plot import CountPlot, NeuronPlot, Panel, Plot, SpectrumPlot
from giantstep.show.plots.curves import curves
from giantstep.show.plots.learn import target_plane
from giantstep.show.plots.neurons import neurons
from giantstep.show.plots.panels import count_map
from giantstep.show.plots.spectrum import spectrum_panel


def paper_figure(figure: Reproduction, panels: Sequence[Panel]) -> Figure:
    """The panels of a figure side by side, under its title."""
    drawn = Figure(figsize=figure.size, layout="constrained")
    for axes, panel in zip(drawn.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        draw(axes, panel)
        # Spectra side by side have one legend, that of the last.
        if isinstance(panel, SpectrumPlot) and panel is not panels[-1]:
            axes.get_legend().remove()
    drawn.suptitle(figure.title, fontsize="medium")
    return drawn


def draw(axes: Axes, panel: Panel) -> Axes:
    """One panel, by its kind."""
    match panel:
        case Plot():
            return curves(axes, panel)
        case NeuronPlot():
            plane, names = target_plane(panel.stairs, panel.simulated.setting.target.r)
            neurons(axes, panel.simulated, plane, (names[0], names[1]), predicted=panel.predicted)
        case SpectrumPlot():
            spectrum_panel(axes, panel.measured, panel.predicted, panel.step, panel.symbol)
        case CountPlot():
            count_map(axes, panel.grid, panel.counts, panel.measured)
    axes.set_title(panel.title, fontsize="medium")
    return axes
