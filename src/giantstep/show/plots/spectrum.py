"""A spectrum: histogram of singular values, the predicted density and outliers over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from giantstep.experiment import Experiment
from giantstep.records.spectrum import Spectrum
from giantstep.show.histogram import bulk_histogram, per_unit
from giantstep.show.tables.setting import setting_title
from giantstep.spectra.layer import LayerOutliers


def spectrum(
    axes: Axes,
    values: Float[np.ndarray, "runs m"],
    edge: float,
    density: tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"]] | None = None,
    predicted: Sequence[float] = (),
    measured: Sequence[Sequence[float]] = (),
    symbol: str = "W",
    source: str = "theory",
) -> Axes:
    """Histogram (grey) over all runs, density (line), outliers predicted (down) and measured (up).

    ``values`` are singular values, ``density`` their predicted density on a grid (per singular
    value, zeros not counted), ``measured`` the outliers that were found in each run,
    ``source`` where density and edge come from; without one the edge is only that of the bins.
    """
    histogram = bulk_histogram(values, edge, predicted, margin=1.02 if source else 1.0)
    bins, heights, tall = histogram.bins, histogram.heights, histogram.tall
    if histogram.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.stairs(heights, bins, fill=True, color="0.82")
    axes.stairs(heights, bins, color="0.55", linewidth=0.8, label="measured")
    if density is not None:
        grid, heights_there = density
        shown = grid >= 0.9 * bins[0]
        axes.plot(
            grid[shown],
            per_unit(grid, heights_there, log=histogram.log)[shown],
            color="firebrick",
            linewidth=1.6,
            label=f"{source}: bulk",
        )
    if source:
        axes.axvline(edge, color="firebrick", linewidth=0.8, linestyle=":", label=f"{source}: edge")
    for index, value in enumerate(predicted):
        axes.plot(
            value,
            0.10 * tall,
            "v",
            color="firebrick",
            markersize=9,
            label="theory: outliers" if index == 0 else "_nolegend_",
            zorder=5,
        )
    for index, run in enumerate(measured):
        axes.plot(
            list(run),
            [0.04 * tall] * len(run),
            "^",
            color="black",
            markerfacecolor="none",
            markersize=7,
            label=("measured outliers" if source else "measured, beyond the bins")
            if index == 0
            else "_nolegend_",
            zorder=6,
        )
    axes.set_ylim(0.0, 1.35 * tall)
    axes.set_xlabel(f"singular value of {symbol}")
    axes.set_ylabel("density (per log unit)" if histogram.log else "density (per unit)")
    axes.legend(fontsize="small", frameon=False)
    return axes


def layer_figure(found: LayerOutliers, name: str) -> Figure:
    """Histogram of a given matrix, the bulk fitted to it, its edge, threshold and outliers."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = spectrum(
        figure.subplots(),
        found.singular_values[None],
        found.edge,
        (found.grid, found.density),
        measured=[found.outliers.tolist()] if found.count else [],
        symbol="$W$",
        source="fit",
    )
    axes.axvline(
        found.threshold, color="black", linewidth=0.8, label=f"threshold at {found.level:g}"
    )
    axes.legend(fontsize="small", frameon=False)
    p, d = found.shape
    many = "1 outlier" if found.count == 1 else f"{found.count or 'no'} outliers"
    figure.suptitle(f"{name}: {p:,} x {d:,}, {many}", fontsize="medium")
    return figure


def spectrum_panel(
    axes: Axes, measured: Spectrum, predicted: Spectrum | None, step: int, symbol: str = "W"
) -> Axes:
    """One matrix after one step: the prediction, where there is one, over the histogram."""
    assert measured.singular_values is not None
    values = measured.singular_values[:, step]
    edge, density, outliers = float(np.quantile(values, 0.99)), None, np.zeros(0)
    theory = {} if predicted is None else predicted.arrays()
    if predicted is not None and "edge" in theory and np.isfinite(theory["edge"][0, step]):
        edge = float(theory["edge"][:, step].mean())
        outliers = np.nanmean(theory["outliers"][:, step, : predicted.usual(step)], axis=0)
        density = (theory["grid"][step], theory["density"][step])
    found = np.zeros((len(values), 0)) if measured.outliers is None else measured.outliers[:, step]
    if density is None:
        found = np.where(values > edge, values, np.nan)
    return spectrum(
        axes,
        values,
        edge,
        density,
        predicted=outliers.tolist(),
        measured=[run[~np.isnan(run)].tolist() for run in found],
        symbol=symbol,
        source="" if density is None else "theory",
    )


def spectrum_figure(experiment: Experiment) -> Figure:
    """Weights and features after the last step, each with its prediction over the histogram."""
    measured, predicted = experiment.simulated, experiment.predicted
    symbols = {"weights": "$W$", "features": r"$\sigma(XW^\top)/\sqrt{n}$"}
    shown = {name: part for name in symbols if (part := getattr(measured, name)) is not None}
    figure = Figure(figsize=(5.3 * len(shown), 4.4), layout="constrained")
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    for axes, (name, part) in zip(panels, shown.items(), strict=True):
        theory = None if predicted is None else getattr(predicted, name)
        spectrum_panel(axes, part, theory, len(measured.steps) - 1, symbols[name])
    figure.suptitle(setting_title(experiment.setting), fontsize="medium")
    return figure
