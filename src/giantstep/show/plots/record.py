"""One picture for every record: ``giantstep.plot(record)``, or ``record.plot()``."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from giantstep.analysis.analyze import Analysis
from giantstep.analysis.overlap import OverlapCurve
from giantstep.errors import InputError
from giantstep.experiment import Experiment
from giantstep.papers.claims.record import Findings
from giantstep.prediction.given_weights.curve import LearningCurve
from giantstep.records.comparison import Comparison
from giantstep.records.plot import Curve, Plot
from giantstep.records.spectrum import Spectrum
from giantstep.records.trajectory import Trajectory
from giantstep.show.mathtext import formula
from giantstep.show.plots.curves import curves
from giantstep.show.plots.errors import errors
from giantstep.show.plots.learn import learn_figure
from giantstep.show.plots.needed import needed_figure
from giantstep.show.plots.overlap import overlap_figure
from giantstep.show.plots.side_by_side import side_by_side_figure
from giantstep.show.plots.spectrum import SYMBOLS, layer_figure, spectrum_figure, spectrum_panel
from giantstep.show.plots.style import THEORY, bounds, legend_below, row_of_panels, step_axis
from giantstep.show.plots.sweep import curves_figure, map_figure
from giantstep.show.tables.setting import setting_title
from giantstep.spectra.layer import LayerOutliers
from giantstep.sweeps.boundary import map_axes
from giantstep.sweeps.needed import SamplesNeeded
from giantstep.sweeps.result import Sweep, check_observable
from giantstep.sweeps.side_by_side import SideBySide


@singledispatch
def plot(record: object) -> Figure:
    """Draw a record and return the matplotlib figure; ``.savefig(path)`` keeps it.

    Drawn are Analysis (floors and dimensions step by step), Trajectory (alignment, errors and
    spectra), Experiment (the picture of ``giantstep learn`` or ``spectrum``), Spectrum (after the
    last step), Comparison (deviations), LearningCurve, Sweep (the map of two axes, or curves of
    one), SideBySide, SamplesNeeded, OverlapCurve, LayerOutliers and Findings; each but the last has
    it as a method too.

    >>> from giantstep import analyze, plot
    >>> len(plot(analyze("x1 + He2(x1)*x2")).axes)
    2
    """
    raise InputError(f"record must be one that has a picture, got {type(record).__name__}")


def is_wide(record: Experiment) -> bool:
    """Whether the spectra of an experiment were measured, as those of wide networks are."""
    return record.simulated.weights is not None or record.simulated.features is not None


@plot.register
def _experiment(record: Experiment) -> Figure:
    return spectrum_figure(record) if is_wide(record) else learn_figure(record)


@plot.register
def _trajectory(record: Trajectory) -> Figure:
    """Median |cosine| with every target direction, the readout's errors, spectra at the end."""
    spectra = {name: part for name in SYMBOLS if (part := getattr(record, name)) is not None}
    aligned, fitted = record.overlap.shape[-1] > 0, record.test_error is not None
    count = max(aligned + fitted + len(spectra), 1)
    figure, panels = row_of_panels(count, 5.25, 4.6, setting_title(record.setting))
    if aligned:
        axes = curves(panels.pop(0), _cosines(record))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if fitted:
        errors(panels.pop(0), record, [None] * len(record.steps))
    for name, part in spectra.items():
        _last_step(panels.pop(0), part, SYMBOLS[name])
    return figure


def _cosines(record: Trajectory) -> Plot:
    medians = np.median(np.abs(record.drawn().cosine), axis=2)
    means = medians.mean(axis=0)
    bars = medians.std(axis=0, ddof=1) / np.sqrt(len(medians)) if len(medians) > 1 else None
    steps = [float(step) for step in record.steps]
    drawn = [
        Curve(
            f"x{k + 1}",
            steps,
            means[:, k].tolist(),
            None if bars is None or record.theory else bars[:, k].tolist(),
            theory=record.theory is not None,
        )
        for k in range(means.shape[1])
    ]
    label = "median |cosine| over neurons" + ", bars: 2 s.e. over runs" * (record.theory is None)
    return Plot("giant steps $t$", label, drawn, y_range=(-0.02, 1.02))


@plot.register
def _spectrum(record: Spectrum) -> Figure:
    figure, [axes] = row_of_panels(1, 5.3, 4.4)
    _last_step(axes, record, "the matrix")
    return figure


def _last_step(axes: Axes, part: Spectrum, symbol: str) -> None:
    """Measured values after the last step; of a prediction its density and outliers."""
    arrays = part.arrays()
    step = next(iter(arrays.values())).shape[1] - 1
    if part.singular_values is not None:
        spectrum_panel(axes, part, part if "density" in arrays else None, step, symbol)
        return
    grid, density = arrays["grid"][step], arrays["density"][step]
    above = arrays["outliers"][:, step] > arrays["threshold"][:, step, None]
    outliers = np.where(above, arrays["outliers"][:, step], np.nan).ravel()
    axes.plot(grid, density, color=THEORY, label="theory: bulk")
    shown = outliers[np.isfinite(outliers)]
    axes.plot(shown, 0.0 * shown, "v", color=THEORY, label="theory: outliers")
    axes.set_xlabel(f"singular values of {symbol}")
    axes.set_ylabel("density")
    axes.legend(fontsize="small")


@plot.register
def _analysis(record: Analysis) -> Figure:
    """Floors of readouts of this activation and of any, and dimensions of both staircases."""
    figure, [left, right] = row_of_panels(2, 5.0, 4.8, formula(record.target.name))
    name = record.activation.name
    for floors, style, whose in ((record.floors, "-", name), (record.floors_any, ":", "any")):
        for k in range(len(floors[0].by_degree)):
            levels = [floor.by_degree[k] if k else floor.narrow for floor in floors]
            label = f"{whose}: " + (f"wide, $k$ = {k}" if k else "narrow, fixed $p$")
            look: dict[str, Any] = {"color": str(0.22 * k), "linestyles": style}
            bounds(left, levels, range(len(levels)), label, half=0.35, **look)
    left.set_ylim(bottom=-0.02 * max(record.floors[0].narrow, 1e-9))
    left.set_ylabel("lower bound of the mean squared error")
    left.set_title(f"floors of {name} (solid), of any activation (dotted)", fontsize="medium")
    for stairs, marker, colour, batches in (
        (record.fresh, "o", "black", "fresh"),
        (record.reused, "^", "0.5", "reused"),
    ):
        dimensions = [0, *stairs.dimensions]
        look = {"marker": marker, "color": colour, "label": f"{batches} batches"}
        right.plot(range(len(dimensions)), dimensions, drawstyle="steps-post", **look)
    right.set_ylim(-0.1, record.target.r + 0.1)
    right.set_yticks(range(record.target.r + 1))
    right.set_ylabel(r"directions learned from $n \sim d$ samples a step")
    right.set_title("staircases", fontsize="medium")
    for axes in (left, right):
        legend_below(axes)
        step_axis(axes)
    return figure


@plot.register
def _learning_curve(record: LearningCurve) -> Figure:
    """Test error against the size of the readout's data, a line for each penalty; or against it."""
    figure, [axes] = row_of_panels(1, 6.4, 4.4)
    if len(record.sizes) > 1:
        x, label = [float(size) for size in record.sizes], "samples of the readout"
        rows = [
            (f"ridge {ridge:.3g}", row)
            for ridge, row in zip(record.ridges, record.test, strict=True)
        ]
    else:
        x, label = [float(ridge) for ridge in record.ridges], "ridge penalty"
        rows = [("test", record.test[:, 0]), ("train", record.train[:, 0])]
    drawn = [Curve(name, x, row.tolist(), theory=True) for name, row in rows]
    scale = "log" if len(x) > 1 and max(x) > 10.0 * min(x) else "linear"
    curves(axes, Plot(label, "mean squared error", drawn, x_scale=scale))
    return figure


@plot.register
def _sweep(record: Sweep) -> Figure:
    if not record.finished:
        raise InputError("record must have a finished cell to be drawn, got none")
    observable = check_observable(None, record.finished[0].cell.setting)
    draw = curves_figure if map_axes(record) is None else map_figure
    return draw(record, observable)


@plot.register
def _side_by_side(record: SideBySide) -> Figure:
    return side_by_side_figure(record)


@plot.register
def _comparison(record: Comparison) -> Figure:
    """Every deviation from theory in standard errors, a row for each observable."""
    figure, [axes] = row_of_panels(1, 6.4, 1.4 + 0.3 * max(len(record.deviations), 1))
    names = list(record.deviations)[::-1]
    for place, name in enumerate(names):
        values = record.deviations[name]
        shown = values[np.isfinite(values)]
        axes.plot(shown, np.full(shown.size, place), "|", color="black", alpha=0.5)
    axes.axvspan(-2.0, 2.0, color="0.9", zorder=0)
    axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    axes.set_xlabel("simulated mean less theory, in standard errors (grey: within two)")
    return figure


@plot.register
def _findings(record: Findings) -> Figure:
    if record.plot is None:
        raise InputError("record must have a plot to be drawn, got Findings without one")
    figure, [axes] = row_of_panels(1, 6.4, 4.6)
    curves(axes, record.plot)
    return figure


@plot.register
def _layer(record: LayerOutliers) -> Figure:
    return layer_figure(record, "weights")


@plot.register
def _samples_needed(record: SamplesNeeded) -> Figure:
    return needed_figure(record)


@plot.register
def _overlap_curve(record: OverlapCurve) -> Figure:
    return overlap_figure(record)
