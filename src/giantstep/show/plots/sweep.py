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

from giantstep.records.plot import Curve, Plot
from giantstep.show.mathtext import power
from giantstep.show.plots.curves import curves
from giantstep.show.plots.style import THEORY
from giantstep.show.tables.setting import setting_title
from giantstep.sweeps.axes import Axis
from giantstep.sweeps.result import COSINES, LEARNED, POWER, Outcome, Sweep


def map_axes(sweep: Sweep) -> tuple[int, int] | None:
    """The first two axes whose values are numbers, at least two of each; None without."""
    numeric = [
        index
        for index, axis in enumerate(sweep.axes)
        if axis.coordinates is not None and len(axis.places) > 1
    ]
    return (numeric[0], numeric[1]) if len(numeric) > 1 else None


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
    cosines = observable.startswith(COSINES)
    ends = (0.0 if cosines else np.nanmin(measured), np.nanmax(measured))
    level = boundary if boundary is not None else LEARNED if cosines else 0.5 * sum(ends)
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
    _words(figure, sweep, len(every) - len(places))
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
    """The observable over the first axis, a curve for each of ``most`` places on the others."""
    x, *others = sweep.axes
    places = list(itertools.product(*(range(len(axis.places)) for axis in others)))
    chosen = [places[k] for k in _spread(len(places), most)]
    measured, predicted = sweep.measured(observable), sweep.predicted(observable)
    error = sweep.standard_error(observable)
    at = range(len(x.places)) if x.coordinates is None else x.coordinates
    theories = np.array([_theory(outcome) for outcome in sweep.outcomes], dtype=object)
    several = len(set(filter(None, theories))) > 1
    theories = theories.reshape(sweep.grid.shape)
    drawn: list[Curve] = []
    for place in chosen:
        line: Any = (slice(None), *place)
        label = _place(others, place)
        bars = error[line].tolist() if np.all(np.isfinite(error[line])) else None
        name = label or "simulation"
        drawn.append(Curve(name, list(at), measured[line].tolist(), bars))
        if np.any(np.isfinite(predicted[line])):
            used = ", ".join(dict.fromkeys(filter(None, theories[line])))
            words = "theory" + f" ({used})" * several + f": {label}" * bool(label)
            values = predicted[line].tolist()
            drawn.append(Curve(words, list(at), values, theory=True, series=name))
    figure = Figure(figsize=(8.4, 4.8), layout="constrained")
    plot = Plot(power(x.label), _label(observable), drawn, x_scale="log" if x.log else "linear")
    axes = curves(figure.subplots(), plot)
    # Nothing here is negative: an axis that starts above 0 would exaggerate differences.
    axes.set_ylim(bottom=0.0)
    # Beside the curves, which may be anywhere.
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize="small",
        frameon=False,
        title="points: simulation, bars: 2 standard errors\nlines: theory",
        title_fontsize="x-small",
    )
    if x.coordinates is None:
        axes.set_xticks(list(at), x.texts)
    _words(figure, sweep, len(places) - len(chosen))
    return figure


def _theory(outcome: Outcome) -> str | None:
    """The name of the theory of a cell."""
    return None if outcome.predicted is None else outcome.predicted.theory


def _label(observable: str) -> str:
    return f"{observable.replace('_', ' ')}, mean over runs"


def _words(figure: Figure, sweep: Sweep, left_out: int) -> None:
    """Above a figure what all cells share, and how many series are not drawn."""
    lines = [setting_title(*(cell.setting for cell in sweep.grid.cells))]
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
