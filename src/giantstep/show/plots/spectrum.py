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
from giantstep.prediction.wide.laws import LEVEL as OUTLIER_LEVEL
from giantstep.records.spectrum import Spectrum
from giantstep.show.histogram import Histogram, bulk_histogram, per_unit
from giantstep.show.plots.style import THEORY, legend_below, row_of_panels, source_of
from giantstep.show.tables.parts import counted
from giantstep.show.tables.setting import setting_title
from giantstep.spectra.layer import LayerOutliers

SYMBOLS = {"weights": "$W$", "gradients": "the gradient", "features": r"$\sigma(XW^\top)/\sqrt{n}$"}
"""The matrices whose singular values are drawn, as the axes name them."""

Density = tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"]]
"""A grid of singular values, and a density there."""


def spectrum(
    axes: Axes,
    values: Float[np.ndarray, "runs m"],
    edge: float,
    density: Density | None = None,
    predicted: Sequence[float] = (),
    measured: Sequence[Sequence[float]] = (),
    symbol: str = "W",
    source: str = "theory",
    threshold: float | None = None,
    constant: float | None = None,
    reach: float | None = None,
    level: float = OUTLIER_LEVEL,
) -> Axes:
    """Histogram (grey) over all runs, density (line), outliers predicted (down) and measured (up).

    ``values`` are singular values, ``density`` their predicted density on a grid (per singular
    value, zeros not counted), ``measured`` the outliers that were found in each run,
    ``source`` where density and edge come from; without one the edge is only that of the bins.
    Places predicted below the ``threshold`` are hollow: they do not count as outliers.
    ``constant`` is the predicted place of the outlier of the activation's mean, which has a mark of
    its own.  With ``reach`` the axis is logarithmic and ends there, so that panels can be compared.
    """
    ends = predicted if reach is None else [*predicted, reach]
    histogram = bulk_histogram(values, edge, ends, margin=1.02 if source else 1.0)
    tall = histogram.tall
    _bulk(axes, histogram, density, source)
    if source:
        axes.axvline(edge, color=THEORY, linewidth=0.8, linestyle=":", label=f"{source}: edge")
    if threshold is not None:
        words = f"threshold: noise exceeds it in {100 * level:g} % of runs"
        axes.axvline(threshold, color="black", linewidth=0.8, linestyle="--", label=words)
    _predicted_places(axes, predicted, threshold, constant, source or "theory", 0.10 * tall)
    look: dict[str, Any] = {"color": "black", "markerfacecolor": "none", "markersize": 7}
    label = "measured outliers" if source else "measured, beyond the bins"
    for run in measured:
        axes.plot(list(run), [0.04 * tall] * len(run), "^", label=label, zorder=6, **look)
        label = "_nolegend_"
    axes.set_ylim(0.0, 1.35 * tall)
    if reach is not None:
        axes.set_xlim(right=reach)
    axes.set_xlabel(f"singular value of {symbol}")
    axes.set_ylabel("density (per log unit)" if histogram.log else "density (per unit)")
    legend_below(axes)
    return axes


def _bulk(axes: Axes, histogram: Histogram, density: Density | None, source: str) -> None:
    """The bars of the histogram, and the predicted density over them."""
    bins, heights = histogram.bins, histogram.heights
    if histogram.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.stairs(heights, bins, fill=True, color="0.82")
    axes.stairs(heights, bins, color="0.55", linewidth=0.8, label="measured")
    if density is not None:
        grid, values = density
        shown = grid >= 0.9 * bins[0]
        curve = per_unit(grid, values, log=histogram.log)[shown]
        axes.plot(grid[shown], curve, color=THEORY, linewidth=1.6, label=f"{source}: bulk")


def _predicted_places(
    axes: Axes,
    predicted: Sequence[float],
    threshold: float | None,
    constant: float | None,
    source: str,
    height: float,
) -> None:
    """Predicted outliers; hollow where they lie below the threshold and do not count."""
    others = [value for value in predicted if value != constant]
    counted = [value for value in others if threshold is None or value > threshold]
    inside = [value for value in others if value not in counted]
    look: dict[str, Any] = {"color": THEORY, "markersize": 9, "zorder": 5, "linestyle": ""}
    for places, mark, face, words in (
        (counted, "v", THEORY, "outliers"),
        (inside, "v", "none", "places below the threshold"),
        ([] if constant is None else [constant], "d", THEORY, "constant, not learned"),
    ):
        if places:
            label = f"{source}: {words}"
            style = look | {"marker": mark, "markerfacecolor": face, "label": label}
            axes.plot(places, [height] * len(places), **style)


def layer_figure(layer: LayerOutliers, name: str) -> Figure:
    """Histogram of a given matrix, the bulk fitted to it, its edge, threshold and outliers."""
    p, d = layer.shape
    many = counted(layer.count, "outlier") if layer.count else "no outliers"
    title = rf"{name}: {p:,} $\times$ {d:,}, {many} at level {layer.level:g}"
    figure, [axes] = row_of_panels(1, 6.4, 4.4, title)
    spectrum(
        axes,
        layer.singular_values[None],
        layer.edge,
        (layer.grid, layer.density),
        measured=[layer.outliers.tolist()] if layer.count else [],
        symbol="$W$",
        source="fit",
        threshold=layer.threshold,
        level=layer.level,
    )
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
    if density is None:
        outside = np.where(values > edge, values, np.nan)
    elif measured.outliers is None:
        outside = np.zeros((len(values), 0))
    else:
        outside = measured.outliers[:, step]
    return spectrum(
        axes,
        values,
        edge,
        density,
        predicted=outliers.tolist(),
        measured=[run[~np.isnan(run)].tolist() for run in outside],
        symbol=symbol,
        source="" if density is None else source,
        threshold=threshold,
        constant=constant,
    )


def spectrum_figure(experiment: Experiment) -> Figure:
    """Weights and features after the last step, each with its prediction over the histogram."""
    measured, predicted = experiment.simulated, experiment.predicted
    names = [name for name in ("weights", "features") if getattr(measured, name) is not None]
    figure, panels = row_of_panels(len(names), 5.3, 4.4, setting_title(experiment.setting))
    for axes, name in zip(panels, names, strict=True):
        theory = None if predicted is None else getattr(predicted, name)
        last, source = len(measured.steps) - 1, source_of(predicted)
        spectrum_panel(axes, getattr(measured, name), theory, last, SYMBOLS[name], source)
    return figure
