"""The pictures of a report's page, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from jaxtyping import Float, Int

from giantstep.reports.comparison import Compared
from giantstep.reports.curve import LearningCurve
from giantstep.reports.directions import Direction
from giantstep.reports.interval import rounded
from giantstep.reports.record import Report
from giantstep.reports.svg import PALETTE, Axes, Numbers, diverging, ticks
from giantstep.reports.weights import Weight

MOST_POINTS = 800
"""Rows that a picture shows: more hide each other, and make the page heavy."""


def shown_outputs(report: Report) -> list[int]:
    """Columns of labels that are drawn: the label, the second of two classes, or the largest."""
    if not report.classes:
        return [0]
    if len(report.classes) == 2:
        return [1]
    shares = report.outputs.mean(axis=0)
    return sorted(np.argsort(-shares, kind="stable")[: PALETTE - 1].tolist())


def padded(values: Numbers, share: float = 0.04) -> tuple[float, float]:
    """The range of some numbers and a little more."""
    finite = [v for v in map(float, values) if math.isfinite(v)]
    low, high = min(finite), max(finite)
    room = share * (high - low) or max(abs(low), 1.0) * share
    return low - room, high + room


def span_of(direction: Direction) -> tuple[float, float]:
    """Ends of an axis: those of all rows, unless some lie far beyond the others."""
    coordinate = direction.seen if len(direction.seen) else direction.curve.at
    low, high = np.quantile(coordinate, [0.01, 0.99])
    least, most = low - (high - low), high + (high - low)
    return padded([max(coordinate.min(), least), min(coordinate.max(), most)])


def shown_rows(report: Report, *directions: Direction) -> tuple[Int[np.ndarray, " k"], str]:
    """Rows that a picture has discs for, and what its caption says of the others."""
    known = np.all([np.isfinite(direction.coordinate) for direction in directions], axis=0)
    if not known.any():
        return np.flatnonzero(known), "none, because no refit found the direction"
    every = -(-report.rows // MOST_POINTS)
    words = "held-out rows" if every == 1 else f"one of every {every} held-out rows"
    ends = [(direction.coordinate, span_of(direction)) for direction in directions]
    beyond = np.any([(u < low) | (u > high) for u, (low, high) in ends], axis=0) & known
    if beyond.any():
        words += f", {int(beyond.sum()):,} of them far away and drawn at the edge"
    if not known.all():
        which = "the direction" if len(directions) == 1 else "both directions"
        words += (
            f". {int(np.sum(~known)):,} rows are left out, because the refit that holds them out "
            f"did not find {which}"
        )
    # Rows at the edge are few, and always shown.
    kept = known & (np.arange(report.rows) % every == 0)
    return np.flatnonzero(kept | beyond), words


def label_picture(report: Report, direction: Direction, number: int) -> str:
    """Held-out rows, means of them in bins with 95 % intervals, and the fit with its band."""
    u, y = direction.coordinate, report.outputs
    known = np.isfinite(u)
    outputs = shown_outputs(report)
    wide = span_of(direction)
    name = report.label if not report.classes else "share of the class"
    tall = padded(y[:, 0]) if not report.classes else (-0.08, 1.08)
    what = f"label against direction {number}"
    axes = Axes(wide, tall, f"direction {number}", name, what)
    drawn, _ = shown_rows(report, direction)
    if len(outputs) == 1:
        # Rows of one class would hide each other.
        size = 0.05 if report.classes else 0.0
        jitter = size * np.random.default_rng(0).uniform(-1, 1, len(drawn))
        axes.points(_within(u[drawn], wide), y[drawn, outputs[0]] + jitter, ["soft"] * len(drawn))
    for place, output in enumerate(outputs):
        kind = f"s{place}"
        # The estimator of two classes has one score, that of the second.
        row = output if direction.curve.values.shape[0] > output else 0
        curve = direction.curve
        # Bands of several classes would hide each other.
        if len(outputs) == 1 and np.isfinite(curve.low).all():
            axes.band(curve.at, curve.low[row], curve.high[row], kind)
        axes.line(curve.at, curve.values[row], kind)
        for at, mean, error in binned(np.clip(u[known], *wide), y[known, output]):
            axes.bar(at, max(mean - 1.96 * error, tall[0]), min(mean + 1.96 * error, tall[1]), kind)
            axes.points([at], [mean], [kind], radius=4.5)
    return axes.svg()


def _within(values: Float[np.ndarray, " g"], ends: tuple[float, float]) -> list[float]:
    return np.clip(values, *ends).tolist()


def binned(
    u: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], most: int = 12
) -> list[tuple[float, float, float]]:
    """Middle, mean and its standard error, in bins with as many rows each."""
    if not len(u):
        return []
    parts = np.array_split(np.argsort(u, kind="stable"), max(min(most, len(u) // 15), 1))
    return [
        (float(np.mean(u[p])), float(np.mean(y[p])), float(np.std(y[p]) / math.sqrt(len(p))))
        for p in parts
    ]


def plane_picture(report: Report) -> str:
    """Held-out rows in the plane of the two leading directions, over the fitted response."""
    first, second = report.directions[:2]
    output = shown_outputs(report)[0]
    y = report.outputs[:, output]
    spans = [span_of(d) for d in (first, second)]
    low, high = colour_ends(report)
    axes = Axes(
        spans[0], spans[1], "direction 1", "direction 2", "plane of the first two directions"
    )
    many = len(report.classes) > 2
    if not many:
        _surface(axes, report, output, (low, high))
    a, b = (np.clip(d.coordinate, *s) for d, s in zip((first, second), spans, strict=True))
    drawn, _ = shown_rows(report, first, second)
    if many:
        place = report.outputs[drawn].argmax(axis=1)
        listed = shown_outputs(report)
        kinds = [f"s{listed.index(k)}" if k in listed else "soft" for k in place]
    else:
        kinds = [diverging((v - low) / max(high - low, 1e-300)) for v in y[drawn]]
    axes.points(a[drawn], b[drawn], kinds)
    return axes.svg()


def colour_ends(report: Report) -> tuple[float, float]:
    """Labels that are blue and orange; of classes none and all of the rows."""
    if report.classes:
        return 0.0, 1.0
    low, high = np.quantile(report.outputs[:, 0], [0.02, 0.98])
    return float(low), float(high)


def _surface(
    axes: Axes, report: Report, output: int, ends: tuple[float, float], cells: int = 24
) -> None:
    """The response as coloured cells, further directions at their mean."""
    model = report.estimator[-1]
    xs, ys = (np.linspace(*span, cells + 1) for span in (axes.x, axes.y))
    grid = np.zeros((cells, cells, model.n_fitted_))
    grid[:, :, 0] = (xs[:-1] + xs[1:])[None, :] / 2
    grid[:, :, 1] = (ys[:-1] + ys[1:])[:, None] / 2
    response = model.response(grid.reshape(-1, model.n_fitted_))
    column = min(output, response.shape[1] - 1)
    values = (model._mean + model._scale * response)[:, column].reshape(cells, cells)
    shares = (values - ends[0]) / max(ends[1] - ends[0], 1e-300)
    places = [(i, j) for i in range(cells) for j in range(cells)]
    axes.cells([(xs[j], ys[i], xs[j + 1], ys[i + 1]) for i, j in places], shares.ravel())


def curve_picture(curve: LearningCurve) -> str:
    """Scores against rows: measured ones as discs with intervals, extrapolation as a band."""
    measured = [p for p in curve.points if p.measured]
    ahead = [p for p in curve.points if not p.measured]
    ends = [v for p in curve.points for v in (p.score.low, p.score.high)]
    rows = [p.rows for p in curve.points]
    tall = padded([max(min(ends), -0.5), min(max(ends), 1.0)])
    axes = Axes(
        (min(rows) * 0.9, max(rows) * 1.1),
        tall,
        "rows fitted",
        "share explained",
        "learning curve",
        logarithmic=True,
    )
    if ahead:
        line = [measured[-1], *ahead]
        lows, highs = [p.score.low for p in line], [p.score.high for p in line]
        axes.band([p.rows for p in line], lows, highs, "s1")
        axes.line([p.rows for p in line], [p.score.value for p in line], "s1")
    axes.line([p.rows for p in measured], [p.score.value for p in measured])
    for point in measured:
        axes.bar(point.rows, max(point.score.low, tall[0]), min(point.score.high, tall[1]))
        value = _within(np.array([point.score.value]), tall)
        axes.points([point.rows], value, ["s0"], radius=4.5)
    return axes.svg()


def strips(rows: Sequence[tuple[str, float, float, float]], title: str, zero: bool = True) -> str:
    """Numbers with intervals below each other: the name at the left, a disc on a bar beside it.

    zero -> whether the scale, which is written below, has to show zero.
    """
    height, width = 22.0, 400.0
    ends = [v for _, value, low, high in rows for v in (value, low, high) if math.isfinite(v)]
    low, high = padded([*ends, *([0.0] if zero else [])])

    def across(value: float) -> float:
        return (value - low) / (high - low) * width

    marks = ticks(low, high, about=8)
    ground = "".join(f'<path class="grid" d="M{across(m):.1f},0V{height}"/>' for m in marks)
    if low < 0.0 < high:
        ground += f'<path class="axis" d="M{across(0.0):.1f},0V{height}"/>'
    box = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    lines = []
    for name, value, lower, upper in rows:
        middle, bar = height / 2, ""
        if math.isfinite(lower):
            bar = f'<path class="bar s0" d="M{across(lower):.1f},{middle}H{across(upper):.1f}"/>'
        disc = f'<circle class="point s0" cx="{across(value):.1f}" cy="{middle}" r="4"/>'
        lines.append(
            f"<span>{escape(name)} <b>{rounded(value)}</b></span>"
            f'<svg {box} role="img" '
            f'aria-label="{rounded(value)}, {rounded(lower)} to {rounded(upper)}">'
            f"{ground}{bar}{disc}</svg>"
        )
    scale = "".join(
        f'<text x="{across(mark):.1f}" y="15" text-anchor="middle">{mark + 0.0:.4g}</text>'
        for mark in marks
    )
    lines.append(f'<span></span><svg {box} aria-hidden="true">{scale}</svg>')
    return f'<div class="strips" role="group" aria-label="{escape(title)}">{"".join(lines)}</div>'


def weights_picture(weights: Sequence[Weight], number: int) -> str:
    """Weights of the columns of a direction with their intervals."""
    rows = [(w.column, w.weight.value, w.weight.low, w.weight.high) for w in weights]
    return strips(rows, f"weights of columns in direction {number}")


def models_picture(models: Sequence[Compared]) -> str:
    """Scores of all models with their intervals."""
    rows = [(m.name, m.score.value, m.score.low, m.score.high) for m in models]
    return strips(rows, "share explained by model", zero=False)
