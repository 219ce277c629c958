"""The picture of a fit: steps against noise, the response on the directions, importances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from giantstep.estimator.steps import PRUNED
from giantstep.estimator.words import column_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from giantstep.estimator.base import GiantStep

SHOWN = 10
"""Columns whose importance is shown."""

GRID = 60


def picture(fit: GiantStep) -> Figure:
    """Three panels side by side."""
    figure = Figure(figsize=(13.0, 4.2), layout="constrained")
    steps, response, columns = figure.subplots(1, 3)
    _steps(steps, fit)
    _response(response, fit)
    _importances(columns, fit)
    return figure


def _steps(axes: Axes, fit: GiantStep) -> None:
    """Statistic of every step over its noise edge."""
    tested = [step for step in fit.steps_ if step.kind != PRUNED]
    ratios = [step.statistic / step.edge for step in tested]
    axes.bar(range(len(ratios)), ratios, color="0.7")
    # A single step is a bar, not a wall.
    axes.set_xlim(-0.7, max(len(ratios), 3) - 0.3)
    axes.axhline(1.0, color="firebrick", linewidth=1.2, linestyle=":")
    axes.set_xticks(range(len(ratios)), [s.kind.replace(" ", "\n") for s in tested])
    axes.set_ylabel("singular value over noise edge")
    axes.set_title("steps of the search" if ratios else "no step was taken", fontsize="medium")


def _response(axes: Axes, fit: GiantStep) -> None:
    """Data over the fitted curve or surface on the leading directions."""
    u, y = fit._sample
    if fit.n_directions_ == 0:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no direction found", ha="center", transform=axes.transAxes)
        return
    line = np.linspace(u[:, 0].min(), u[:, 0].max(), GRID)
    if fit.n_directions_ == 1:
        axes.plot(u[:, 0], y[:, 0], ".", color="0.6", markersize=3, label="rows")
        axes.plot(line, fit.response(line[:, None])[:, 0], color="firebrick", label="fit")
        axes.set_ylabel("standardised label")
        axes.legend(fontsize="small", frameon=False)
    else:
        other = np.linspace(u[:, 1].min(), u[:, 1].max(), GRID)
        grid = np.zeros((GRID, GRID, fit.n_directions_))
        grid[:, :, 0], grid[:, :, 1] = line[None, :], other[:, None]
        surface = fit.response(grid.reshape(-1, fit.n_directions_))[:, 0].reshape(GRID, GRID)
        reach = float(np.quantile(np.abs(y[:, 0]), 0.98)) or 1.0
        colours: dict[str, Any] = {"cmap": "coolwarm", "vmin": -reach, "vmax": reach}
        axes.contourf(line, other, surface.clip(-reach, reach), levels=15, **colours)
        axes.scatter(u[:, 0], u[:, 1], c=y[:, 0], s=9, edgecolors="0.3", linewidths=0.3, **colours)
        axes.set_ylabel("direction 2")
    axes.set_xlabel("direction 1")
    axes.set_title("rows over the fitted response", fontsize="medium")


def _importances(axes: Axes, fit: GiantStep) -> None:
    leading = np.argsort(-fit.feature_importances_)[:SHOWN][::-1]
    names = column_names(fit)
    axes.barh(range(len(leading)), fit.feature_importances_[leading], color="0.7")
    axes.set_yticks(range(len(leading)), [names[i] for i in leading])
    axes.set_xlabel("share of the squared gradient")
    axes.set_title("importance of the columns", fontsize="medium")
