"""Plots as SVG in a page: axes, points, lines, bands; colours come from the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

Numbers = Sequence[float] | np.ndarray

PALETTE = 6
"""Colours of series in the style sheet: classes s0, s1, ..."""


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two others: steps of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * unit for unit in (1.0, 2.0, 5.0, 10.0) if power * unit >= raw)
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass
class Axes:
    """A plot of given ranges; every method adds something to it."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_name: str
    y_name: str
    title: str
    width: float = 620.0
    height: float = 360.0
    logarithmic: bool = False
    parts: list[str] = field(default_factory=list)

    left, right, top, bottom = 74.0, 12.0, 12.0, 50.0

    def _across(self, value: float) -> float:
        low, high = self.x
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low)
        return self.left + share * (self.width - self.left - self.right)

    def _up(self, value: float) -> float:
        share = (value - self.y[0]) / (self.y[1] - self.y[0])
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def _inside(self, xs: Numbers, *lines: Numbers) -> list[np.ndarray]:
        """Lines cut to the part of ``xs`` that the axes show, and to their heights."""
        at = np.asarray(xs, dtype=float)
        ends = np.array([max(at[0], self.x[0]), min(at[-1], self.x[1])])
        places = np.concatenate([ends[:1], at[(at > ends[0]) & (at < ends[1])], ends[1:]])
        if ends[0] > ends[1]:
            places = places[:0]
        heights = [np.clip(np.interp(places, at, line), *self.y) for line in lines]
        return [places, *heights]

    def _path(self, xs: Numbers, ys: Numbers) -> str:
        pairs = (f"{self._across(a):.1f},{self._up(b):.1f}" for a, b in zip(xs, ys, strict=True))
        return "M" + "L".join(pairs)

    def points(self, xs: Numbers, ys: Numbers, kinds: Sequence[str], radius: float = 2.4) -> None:
        """Discs; ``kinds`` are classes of the style sheet or colours."""
        self.parts += [
            f'<circle cx="{self._across(a):.1f}" cy="{self._up(b):.1f}" r="{radius}" '
            f"{_kind(kind)}/>"
            for a, b, kind in zip(xs, ys, kinds, strict=True)
        ]

    def line(self, xs: Numbers, ys: Numbers, kind: str = "s0") -> None:
        """A line over increasing ``xs``, as far as the axes show it."""
        xs, ys = self._inside(xs, ys)
        if len(xs):
            self.parts.append(f'<path class="line {kind}" d="{self._path(xs, ys)}"/>')

    def band(self, xs: Numbers, low: Numbers, high: Numbers, kind: str = "s0") -> None:
        """The ground between two lines over increasing ``xs``, as far as the axes show it."""
        xs, low, high = self._inside(xs, low, high)
        if len(xs):
            edge = self._path([*xs, *xs[::-1]], [*high, *low[::-1]])
            self.parts.append(f'<path class="band {kind}" d="{edge}Z"/>')

    def bar(self, x: float, low: float, high: float, kind: str = "s0") -> None:
        """An error bar."""
        at = self._across(x)
        self.parts.append(
            f'<path class="bar {kind}" d="M{at:.1f},{self._up(low):.1f}V{self._up(high):.1f}"/>'
        )

    def cells(self, boxes: Sequence[tuple[float, float, float, float]], fills: Numbers) -> None:
        """Rectangles from x, y to x, y, coloured by shares; they overlap by a hair."""
        drawn = []
        for box, share in zip(boxes, fills, strict=True):
            left, right = self._across(box[0]), self._across(box[2])
            top, bottom = self._up(box[3]), self._up(box[1])
            drawn.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left + 0.6:.1f}" '
                f'height="{bottom - top + 0.6:.1f}" fill="{diverging(share)}"/>'
            )
        self.parts.append(f'<g opacity="0.45">{"".join(drawn)}</g>')

    def _frame(self) -> str:
        bottom, left = self.height - self.bottom, self.left
        lines = [f'<path class="axis" d="M{left},{self.top}V{bottom}H{self.width - self.right}"/>']
        marks = [] if self.logarithmic else ticks(*self.x)
        for value in marks or _decades(*self.x):
            at = self._across(value)
            text = f"{round(value):,}" if self.logarithmic else f"{value:.4g}"
            lines.append(f'<path class="grid" d="M{at:.1f},{self.top}V{bottom}"/>')
            lines.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
        for value in ticks(*self.y):
            at = self._up(value)
            lines.append(f'<path class="grid" d="M{left},{at:.1f}H{self.width - self.right}"/>')
            lines.append(
                f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{value:.4g}</text>'
            )
        middle, centre = (left + self.width - self.right) / 2, (self.top + bottom) / 2
        lines.append(
            f'<text class="name" x="{middle:.0f}" y="{self.height - 8}" text-anchor="middle">'
            f"{escape(self.x_name)}</text>"
        )
        lines.append(
            f'<text class="name" transform="translate(14 {centre:.0f}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.y_name)}</text>'
        )
        return "".join(lines)

    def svg(self) -> str:
        """All of it, the frame below the rest."""
        return (
            f'<svg viewBox="0 0 {self.width:.0f} {self.height:.0f}" role="img" '
            f'aria-label="{escape(self.title, quote=True)}"><title>{escape(self.title)}</title>'
            f"{self._frame()}{''.join(self.parts)}</svg>"
        )


def _kind(kind: str) -> str:
    return f'fill="{kind}"' if kind.startswith("#") else f'class="point {kind}"'


def _decades(low: float, high: float) -> list[float]:
    """Places of a logarithmic axis: 1, 2 and 5 times powers of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    places = [unit * 10.0**k for k in powers for unit in (1, 2, 5)]
    return [place for place in places if low <= place <= high]


def diverging(share: float) -> str:
    """A colour between blue (0), grey and orange (1), seen on light and dark ground."""
    ends = np.array([[33, 102, 172], [150, 150, 150], [217, 95, 14]], dtype=float)
    place = 2.0 * min(max(share, 0.0), 1.0)
    k = min(int(place), 1)
    red, green, blue = (ends[k] + (place - k) * (ends[k + 1] - ends[k])).round().astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"
