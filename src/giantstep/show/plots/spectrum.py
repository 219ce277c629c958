"""A spectrum: histogram of singular values, the predicted density and outliers over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from giantstep.experiment import Experiment
from giantstep.records.spectrum import Spectrum
from giantstep.show.histogram import bulk_histogram, per_unit
from giantstep.show.plots.style import source_of
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
    threshold: float | None = None,
    constant: float | None = None,
    reach: float | None = None,
) -> Axes:
    """Histogram (grey) over all runs, density (line), outliers predicted (down) and measured (up).

    ``values`` are singular values, ``density`` their predicted density on a grid (per singular
    value, zeros not counted), ``measured`` the outliers that were found in each run,
    ``source`` where density and edge come from; without one the edge is only that of the bins.
    Places predicted below the ``threshold`` are hollow: they do not count as outliers.
    ``constant`` is the predicted place of the outlier of the activation's mean.  With ``reach`` the
    axis is logarithmic and ends there, so that panels can be compared.
    """
    ends = predicted if reach is None else [*predicted, reach]
    histogram = bulk_histogram(values, edge, ends, margin=1.02 if source else 1.0)
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
    if threshold is not None:
        axes.axvline(threshold, color="black", linewidth=0.8, linestyle="--", label="threshold")
    counted = [value for value in predicted if threshold is None or value > threshold]
    inside = [value for value in predicted if value not in counted]
    style: dict[str, Any] = {"color": "firebrick", "markersize": 9, "zorder": 5, "linestyle": ""}
    for places, face, words in (
        (counted, "firebrick", "outliers"),
        (inside, "none", "places below the threshold"),
    ):
        if places:
            heights_of = [0.10 * tall] * len(places)
            label = f"{source or 'theory'}: {words}"
            axes.plot(places, heights_of, "v", markerfacecolor=face, label=label, **style)
    if constant is not None:
        axes.annotate(
            "constant",
            (constant, 0.12 * tall),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize="small",
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
    if reach is not None:
        axes.set_xlim(right=reach)
    axes.set_xlabel(f"singular value of {symbol}")
    axes.set_ylabel("density (per log unit)" if histogram.log else "density (per unit)")
    axes.legend(fontsize="small", framealpha=0.9, edgecolor="none")
    return axes


def layer_figure(found: LayerOutliers, name: str) -> Figure:
    """Histogram of a given matrix, the bulk fitted to it, its edge, threshold and outliers."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    spectrum(
        figure.subplots(),
        found.singular_values[None],
        found.edge,
        (found.grid, found.density),
        measured=[found.outliers.tolist()] if found.count else [],
        symbol="$W$",
        source="fit",
        threshold=found.threshold,
    )
    p, d = found.shape
    many = "1 outlier" if found.count == 1 else f"{found.count or 'no'} outliers"
    title = f"{name}: {p:,} x {d:,}, {many} at level {found.level:g}"
    figure.suptitle(title, fontsize="medium")
    return figure


def spectrum_panel(
    axes: Axes,
    measured: Spectrum,
    predicted: Spectrum | None,
    step: int,
    symbol: str = "W",
    source: str = "theory",
) -> Axes:
    """One matrix after one step: the prediction, where there is one, over the histogram."""
    assert measured.singular_values is not None
    values = measured.singular_values[:, step]
    edge, density, outliers = float(np.quantile(values, 0.99)), None, np.zeros(0)
    theory = {} if predicted is None else predicted.arrays()
    threshold = constant = None
    if predicted is not None and "edge" in theory and np.isfinite(theory["edge"][0, step]):
        edge = float(theory["edge"][:, step].mean())
        outliers = np.nanmean(theory["outliers"][:, step, : predicted.usual(step)], axis=0)
        density = (theory["grid"][step], theory["density"][step])
        threshold = float(theory["threshold"][:, step].mean())
        place = predicted.constant(step)
        constant = float(outliers[place]) if place is not None and place < len(outliers) else None
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
        source="" if density is None else source,
        threshold=threshold,
        constant=constant,
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
        source = "theory" if predicted is None else source_of(predicted)
        spectrum_panel(axes, part, theory, len(measured.steps) - 1, symbols[name], source)
    figure.suptitle(setting_title(experiment.setting), fontsize="medium")
    return figure
