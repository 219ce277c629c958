"""The picture of a fit: what is certain, what predicts, the response, importances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from giantstep.estimator.words import column_names, counted, stages, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from giantstep.estimator.base import GiantStep

BEYOND, WITHIN = "0.35", "0.75"
"""Dark: beyond noise, or added by a part; light: within noise, or explained alone."""


def picture(fit: GiantStep) -> Figure:
    """Four panels: what is certain, what predicts, the response, the columns."""
    figure = Figure(figsize=(11.0, 8.0), layout="constrained")
    (certain, parts), (response, columns) = figure.subplots(2, 2)
    figure.suptitle(summary(fit), fontsize="medium")
    _certain(certain, fit)
    _parts(parts, fit)
    _response(response, fit)
    _importances(columns, fit)
    return figure


def _certain(axes: Axes, fit: GiantStep) -> None:
    """The strongest test beside each number of directions, over its noise edge."""
    strongest = [
        max(tests, key=lambda test: test.statistic / test.edge) for _, tests in stages(fit)
    ]
    ratios = [test.statistic / test.edge for test in strongest]
    colours = [BEYOND if test.beyond_noise else WITHIN for test in strongest]
    axes.bar(range(len(ratios)), ratios, color=colours)
    # A single test is a bar, not a wall.
    axes.set_xlim(-0.7, max(len(ratios), 3) - 0.3)
    axes.axhline(1.0, color="firebrick", linewidth=1.2, linestyle=":")
    names = [
        f"{f'beside {counted(test.given)}' if test.given else 'at first'}\n{test.kind}"
        for test in strongest
    ]
    axes.set_xticks(range(len(ratios)), names, fontsize="small")
    axes.set_ylabel("statistic over noise edge")
    axes.set_title("what is certain: dark bars, beyond the line", fontsize="medium")


def _parts(axes: Axes, fit: GiantStep) -> None:
    """What each part explains alone, and what it adds to the others."""
    parts = fit.parts_[::-1]
    places = np.arange(len(parts))
    alone, adds = ([max(getattr(p, what), 0.0) for p in parts] for what in ("alone", "adds"))
    axes.barh(places + 0.2, alone, 0.4, color=WITHIN, label="alone")
    axes.barh(places - 0.2, adds, 0.4, color=BEYOND, label="added to the others")
    total = fit.out_of_fold_score_
    axes.axvline(total, color="firebrick", linewidth=1.2, linestyle=":", label="all parts together")
    axes.set_yticks(places, [f"{p.name}\nweight {p.weight:.2f}" for p in parts], fontsize="small")
    axes.set_xlabel("share of the variance of rows left out")
    axes.set_title("what predicts", fontsize="medium")
    axes.legend(fontsize="small", frameon=False)


def _response(axes: Axes, fit: GiantStep, points: int = 60) -> None:
    """Data over the fitted curve or surface on the leading directions."""
    u, y = fit._sample
    if fit.n_fitted_ == 0:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no direction was found", ha="center", transform=axes.transAxes)
        return
    line = np.linspace(u[:, 0].min(), u[:, 0].max(), points)
    if fit.n_fitted_ == 1:
        axes.plot(u[:, 0], y[:, 0], ".", color="0.6", markersize=3, label="rows")
        axes.plot(line, fit.response(line[:, None])[:, 0], color="firebrick", label="fit")
        axes.set_ylabel("standardised label")
        axes.legend(fontsize="small", frameon=False)
    else:
        other = np.linspace(u[:, 1].min(), u[:, 1].max(), points)
        grid = np.zeros((points, points, fit.n_fitted_))
        grid[:, :, 0], grid[:, :, 1] = line[None, :], other[:, None]
        surface = fit.response(grid.reshape(-1, fit.n_fitted_))[:, 0].reshape(points, points)
        reach = float(np.quantile(np.abs(y[:, 0]), 0.98)) or 1.0
        colours: dict[str, Any] = {"cmap": "coolwarm", "vmin": -reach, "vmax": reach}
        axes.contourf(line, other, surface.clip(-reach, reach), levels=15, **colours)
        axes.scatter(u[:, 0], u[:, 1], c=y[:, 0], s=9, edgecolors="0.3", linewidths=0.3, **colours)
        axes.set_ylabel("direction 2")
    axes.set_xlabel("direction 1")
    axes.set_title("rows over the fitted response", fontsize="medium")


def _importances(axes: Axes, fit: GiantStep, shown: int = 10) -> None:
    """Shares of the leading columns in the squared gradient."""
    leading = np.argsort(-fit.feature_importances_)[:shown][::-1]
    names = column_names(fit)
    axes.barh(range(len(leading)), fit.feature_importances_[leading], color="0.7")
    axes.set_yticks(range(len(leading)), [names[i] for i in leading])
    axes.set_xlabel("share of the squared gradient")
    axes.set_title("importance of the columns", fontsize="medium")
