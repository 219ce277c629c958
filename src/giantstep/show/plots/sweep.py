"""Figures of a sweep: the phase diagram with the predicted boundary, and curves over one axis."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from giantstep.records.plot import Curve, Plot
from giantstep.show.mathtext import power
from giantstep.show.plots.curves import curves
from giantstep.show.plots.style import THEORY
from giantstep.show.tables.setting import setting_title
from giantstep.sweeps.axes import Axis
from giantstep.sweeps.boundary import boundary_level, map_axes, missing_boundary, value_range
from giantstep.sweeps.result import COSINES, POWER, Outcome, Sweep


def map_figure(
    sweep: Sweep, observable: str, boundary: float | None = None, *, most: int = 6
) -> Figure:
    """The observable over two axes, a panel for each of ``most`` places on the others.

    Contours of the measured and of the predicted values are at ``boundary``: unless told otherwise
    the cosine 1/2, or halfway between the least and the largest value; one step on n = d^k also
    has its limit, k = leap.
    """
    chosen = map_axes(sweep)
    assert chosen is not None
    measured, predicted = (
        np.moveaxis(values, chosen, (-1, -2))
        for values in (sweep.measured(observable), sweep.predicted(observable))
    )
    x, y = (sweep.axes[index] for index in chosen)
    others = [axis for index, axis in enumerate(sweep.axes) if index not in chosen]
    every = list(itertools.product(*(range(len(axis.places)) for axis in others)))
    places = every[:most]
    least, largest = value_range(sweep, observable)
    ends = (0.0 if observable.startswith(COSINES) else least, largest)
    level = boundary_level(sweep, observable, boundary)
    figure = Figure(figsize=(1.6 + 4.4 * len(places), 4.4), layout="constrained")
    panels = figure.subplots(1, len(places), squeeze=False, sharey=True)[0]
    drawn: set[str] = set()
    for axes, place in zip(panels, places, strict=True):
        cells = np.ma.masked_invalid(measured[place])
        shades = axes.pcolormesh(
            _edges(x), _edges(y), cells, vmin=ends[0], vmax=ends[1], cmap="viridis"
        )
        for (name, (colour, line, _)), values in zip(
            BOUNDARIES.items(), (measured[place], predicted[place]), strict=True
        ):
            if _boundary(axes, x, y, values, level, colour, line):
                drawn.add(name)
        _limit(axes, sweep, x, y)
        _scales(axes, x, y)
        axes.set_title(_place(others, place), fontsize="medium")
    panels[0].set_ylabel(power(y.label))
    figure.colorbar(shades, ax=panels, label=_label(observable))
    _legend(figure, sweep, level, drawn)
    absent = missing_boundary(sweep, observable, boundary)
    _words(figure, sweep, len(every) - len(places), *([absent] if absent else []))
    return figure


def _place(axes: Sequence[Axis], place: Sequence[int]) -> str:
    """A place on the axes that are not drawn."""
    parts = (f"{axis.name} = {axis.texts[k]}" for axis, k in zip(axes, place, strict=True))
    return power(", ".join(parts))


BOUNDARIES: dict[str, tuple[str, Any, str]] = {
    "simulation": ("white", "-", "0.6"),
    "theory": (THEORY, "--", THEORY),
}
"""Contours of a map: their colour, their line, and their colour in the legend."""


def _legend(figure: Figure, sweep: Sweep, level: float, drawn: set[str]) -> None:
    """What the contours, the limit and the colour of failed cells mean, below the maps."""
    handles: list[Any] = [
        Line2D([], [], color=colour, linestyle=line, label=f"{name}: boundary at {level:.3g}")
        for name, (_, line, colour) in BOUNDARIES.items()
        if name in drawn
    ]
    if sweep.limit is not None:
        label = f"limit of large $d$, $k$ = {sweep.limit:g}"
        handles.append(Line2D([], [], color="black", linestyle=":", label=label))
    if sweep.failed:
        handles.append(Patch(facecolor=FAILED, label="failed"))
    look: dict[str, Any] = {"ncols": len(handles) or 1, "frameon": False, "fontsize": "small"}
    if handles:
        figure.legend(handles=handles, loc="outside lower center", **look)


FAILED = "0.85"
"""The colour of what is missing."""


def _edges(axis: Axis) -> Float[np.ndarray, " k"]:
    """Borders of the cells, halfway between their places on the scale of the axis."""
    assert axis.coordinates is not None
    at = np.array(axis.coordinates)
    at = np.log(at) if axis.log else at
    inner = 0.5 * (at[1:] + at[:-1])
    edges = np.concatenate([[2 * at[0] - inner[0]], inner, [2 * at[-1] - inner[-1]]])
    return np.exp(edges) if axis.log else edges


def _boundary(
    axes: Axes,
    x: Axis,
    y: Axis,
    values: Float[np.ndarray, "y x"],
    level: float,
    colour: str,
    line: str,
) -> bool:
    """Draw the contour of a level, and say whether there is one."""
    finite = values[np.isfinite(values)]
    crossed = len(finite) > 0 and bool(finite.min() < level < finite.max())
    if crossed:
        masked = np.ma.masked_invalid(values)
        style: dict[str, Any] = {"levels": [level], "colors": [colour], "linestyles": [line]}
        axes.contour(x.coordinates, y.coordinates, masked, linewidths=2.0, **style)
    return crossed


def _limit(axes: Axes, sweep: Sweep, x: Axis, y: Axis) -> None:
    if sweep.limit is None:
        return
    draw = axes.axvline if x.label == POWER else axes.axhline
    if POWER in (x.label, y.label):
        draw(sweep.limit, color="black", linestyle=":", linewidth=1.5)


def _scales(axes: Axes, x: Axis, y: Axis) -> None:
    axes.set_facecolor(FAILED)
    axes.set_xlabel(power(x.label))
    axes.set_xscale("log" if x.log else "linear")
    axes.set_yscale("log" if y.log else "linear")


def curves_figure(sweep: Sweep, observable: str, *, most: int = 6) -> Figure:
    """The observable over the axis with most numbers, a curve for each of ``most`` other places."""
    along = max(range(len(sweep.axes)), key=lambda k: _many_numbers(sweep.axes[k]))
    x = sweep.axes[along]
    others = [axis for k, axis in enumerate(sweep.axes) if k != along]
    places = list(itertools.product(*(range(len(axis.places)) for axis in others)))
    chosen = [places[k] for k in _spread(len(places), most)]
    at = range(len(x.places)) if x.coordinates is None else x.coordinates
    drawn: list[Curve] = []
    for number, place in enumerate(chosen):
        line: Any = (*place[:along], slice(None), *place[along:])
        shifted = _beside(x, list(at), number, len(chosen))
        drawn += _series(sweep, observable, line, _place(others, place), list(at), shifted)
    figure = Figure(figsize=(8.4, 4.8), layout="constrained")
    plot = Plot(power(x.label), _label(observable), drawn, x_scale="log" if x.log else "linear")
    axes = curves(figure.subplots(), plot)
    # Nothing here is negative: an axis that starts above 0 would exaggerate differences.
    axes.set_ylim(bottom=0.0)
    _series_legend(axes, bool(others))
    _ticks(axes, x, list(at))
    _words(figure, sweep, len(places) - len(chosen))
    return figure


def _many_numbers(axis: Axis) -> tuple[bool, int]:
    """Numbers before words, then the axis with more values."""
    return axis.coordinates is not None, len(axis.places)


def _beside(
    x: Axis, at: list[float], number: int, count: int, *, width: float = 0.1, most: float = 0.5
) -> list[float]:
    """Places shifted sideways, so that the bars of several series do not cover each other.

    Neighbours are ``width`` of the least distance of two places apart, all series within ``most``.
    """
    scale = np.log(at) if x.log else np.array(at, dtype=float)
    gap = float(np.diff(np.sort(scale)).min()) if len(at) > 1 else 0.0
    shift = (number - 0.5 * (count - 1)) * min(width, most / count) * gap
    return (np.exp(scale + shift) if x.log else scale + shift).tolist()


def _series(
    sweep: Sweep, observable: str, line: Any, label: str, at: list[float], shifted: list[float]
) -> list[Curve]:
    """Runs and theory of one place on the other axes, under one name in the legend."""
    theories = np.array([_theory(outcome) for outcome in sweep.outcomes], dtype=object)
    used = ", ".join(dict.fromkeys(filter(None, theories.reshape(sweep.grid.shape)[line])))
    several = len(set(filter(None, theories))) > 1 and bool(used)
    name = (label or "simulation") + f" (theory: {used})" * several
    error = sweep.standard_error(observable)[line]
    bars = error.tolist() if np.all(np.isfinite(error)) else None
    drawn = [Curve(name, shifted, sweep.measured(observable)[line].tolist(), bars)]
    predicted = sweep.predicted(observable)[line]
    if np.any(np.isfinite(predicted)):
        drawn.append(Curve("theory", at, predicted.tolist(), theory=True, series=name))
    return drawn


def _series_legend(axes: Axes, several: bool) -> None:
    """A name for each series beside the curves, which may be anywhere."""
    handles, names = axes.get_legend_handles_labels()
    named = [(h, n) for h, n in zip(handles, names, strict=True) if not several or n != "theory"]
    title = "points: simulation, bars: 2 standard errors"
    axes.legend(
        *zip(*named, strict=True),
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize="small",
        frameon=False,
        title=title + "\nlines: theory\npoints are shifted sideways" * several,
        title_fontsize="x-small",
    )


def _ticks(axes: Axes, x: Axis, at: list[float], *, most: int = 8) -> None:
    """A tick at each place where they are words or few, for points are shifted off it."""
    if x.coordinates is None or len(at) <= most:
        words = x.texts if x.coordinates is None else [f"{place:g}" for place in at]
        axes.set_xticks(at, words)
        axes.xaxis.set_minor_locator(NullLocator())


def _theory(outcome: Outcome) -> str | None:
    """The name of the theory of a cell."""
    return None if outcome.predicted is None else outcome.predicted.theory


def _label(observable: str) -> str:
    return f"{observable.replace('_', ' ')}, mean over runs"


def _words(figure: Figure, sweep: Sweep, left_out: int, *remarks: str) -> None:
    """Above a figure what all cells share, how many series are not drawn, and remarks."""
    lines = [setting_title(*(cell.setting for cell in sweep.grid.cells)), *remarks]
    if left_out:
        series = "1 series is" if left_out == 1 else f"{left_out:,} series are"
        lines.append(f"{series} not drawn; table.csv has all of them")
    figure.suptitle("\n".join(lines), fontsize="small")


def _spread(count: int, most: int) -> list[int]:
    """At most so many of the numbers below ``count``, evenly spread."""
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, most)).tolist()})


def sweep_figures(
    sweep: Sweep, observable: str, boundary: float | None = None
) -> dict[str, Figure]:
    """The figures there are, by the names of their files."""
    if not sweep.finished:
        return {}
    figures = {"curves.png": curves_figure(sweep, observable)}
    if map_axes(sweep) is not None:
        figures["map.png"] = map_figure(sweep, observable, boundary)
    return figures
