"""A spectrum: histogram of singular values, the predicted density and outliers over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.prediction.wide.comparison import beside
from giantstep.prediction.wide.spectra import PredictedSpectra
from giantstep.simulation.spectra import Spectra

# Outliers beyond this multiple of the edge would squeeze the bulk on a linear axis.
FAR = 3.0
BINS = 60


def spectrum(
    axes: Axes,
    values: Float[np.ndarray, "runs m"],
    edge: float,
    density: tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"]] | None = None,
    predicted: Sequence[float] = (),
    measured: Sequence[Sequence[float]] = (),
    symbol: str = "W",
) -> Axes:
    """Histogram (grey) over all runs, density (line), outliers predicted (down) and measured (up).

    ``values`` are singular values, ``density`` their predicted density on a grid (per singular
    value, zeros not counted), ``measured`` the outliers that were found in each run.
    """
    flat = values.ravel()
    top = max([float(flat.max()), *predicted])
    positive = flat[flat > 1e-6 * top]
    inside = positive[positive <= 1.02 * edge]
    low = float(inside.min()) if inside.size else 0.0
    if top > FAR * edge:
        axes.set_xscale("log")
        bins = np.geomspace(max(low, 0.02 * edge), 1.02 * edge, BINS)
    else:
        bins = np.linspace(max(0.0, low - 0.02 * edge), 1.02 * edge, BINS)
    counts, _ = np.histogram(inside, bins)
    heights = counts / (np.diff(bins) * max(positive.size, 1))
    axes.stairs(heights, bins, fill=True, color="0.82")
    axes.stairs(heights, bins, color="0.55", linewidth=0.8, label="measured")
    tall = float(np.quantile(heights, 0.97)) if heights.size else 1.0
    if density is not None:
        grid, heights_there = density
        shown = grid >= 0.9 * bins[0]
        axes.plot(
            grid[shown],
            heights_there[shown],
            color="firebrick",
            linewidth=1.6,
            label="theory: bulk",
        )
    axes.axvline(edge, color="firebrick", linewidth=0.8, linestyle=":", label="theory: edge")
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
            label="measured outliers" if index == 0 else "_nolegend_",
            zorder=6,
        )
    axes.set_ylim(0.0, 1.35 * tall)
    axes.set_xlabel(f"singular value of {symbol}")
    axes.set_ylabel("density")
    axes.legend(fontsize="small", frameon=False)
    return axes


def spectrum_figure(predicted: PredictedSpectra, measured: Spectra) -> Figure:
    """Weights and features after the last step, each with its prediction over the histogram."""
    both = measured.features is not None
    figure = Figure(figsize=(10.5 if both else 5.6, 4.4), layout="constrained")
    panels = figure.subplots(1, 2 if both else 1, squeeze=False)[0]
    setting = measured.setting
    matrices = [(panels[0], predicted.weights, measured.weights, "$W$")]
    if measured.features is not None:
        symbol = r"$\sigma(XW^\top)/\sqrt{n}$"
        matrices.append((panels[1], predicted.features, measured.features, symbol))
    for axes, theory, values, symbol in matrices:
        spectrum_of = theory[-1]
        found = beside(theory, values)[-1]
        if spectrum_of is None:
            known = next((part for part in reversed(theory) if part is not None), None)
            edge = float(np.quantile(values[:, -1], 0.99)) if known is None else known.edge
            spectrum(axes, values[:, -1], edge, measured=found.measured, symbol=symbol)
            continue
        spectrum(
            axes,
            values[:, -1],
            spectrum_of.edge,
            (spectrum_of.grid, spectrum_of.density),
            spectrum_of.outliers.tolist(),
            found.measured,
            symbol,
        )
    sizes = ", ".join(f"{size:.3g}" for size in setting.step_size)
    figure.suptitle(
        f"{setting.target.name}, {setting.activation.name}: d = {setting.d:,}, n = {setting.n:,}, "
        f"p = {setting.p:,}, step size {sizes}, {setting.batches} batches",
        fontsize="medium",
    )
    return figure
