"""The answer: how much, how many directions, which columns, what kind, what more rows bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from giantstep.reports.comparison import best_peer, what_is_better
from giantstep.reports.directions import Curve, Direction
from giantstep.reports.models import LINEAR

if TYPE_CHECKING:
    from giantstep.reports.record import Report


def answer(report: Report) -> tuple[str, ...]:
    """One text a question; what has not been computed yet is not spoken of."""
    return (
        _how_much(report),
        _how_many(report),
        _which(report),
        _what_kind(report),
        _what_next(report),
    )


def _how_much(report: Report) -> str:
    score, label = report.score, repr(report.label)
    if not report.predictable:
        return (
            f"Nothing in these columns predicts {label} reliably: on rows held out the fit "
            f"explains {score.percent} of its variance."
        )
    text = f"On rows held out the fit explains {score.percent} of the variance of {label}."
    if report.accuracy is not None and report.most_frequent is not None:
        text += (
            f" It names the class of {report.accuracy.percent} of them, where the most frequent "
            f"class alone is right on {report.most_frequent:.0%}."
        )
    return text


def _how_many(report: Report) -> str:
    certain = sum(direction.certain for direction in report.directions)
    fitted = len(report.directions)
    peer = best_peer(report.models)
    worse = ""
    if peer is not None and peer.gain is not None:
        more = f"it explains {peer.gain.percent} more"
        worse = f" {peer.name.capitalize()} predicts better on this table: {more}."
    if not report.predictable:
        return "So no direction is to be read into these columns."
    if certain == 0:
        use = " The fit leans on all columns a little, not on a few directions."
        return (
            f"No small number of directions is certain to carry it.{use if fitted else ''}{worse}"
        )
    one = certain == 1
    text = f"{certain} direction{' is' if one else 's are'} certain"
    text += f" at level {report.level:g}"
    if fitted > certain:
        text += f", {fitted - certain} more {'is' if fitted - certain == 1 else 'are'} fitted"
    return f"{text}.{worse}"


def _which(report: Report) -> str:
    certain = [direction for direction in report.directions if direction.certain]
    if not certain:
        return "There is no combination of columns to name."
    parts = [_made_of(number, d) for number, d in enumerate(report.directions, 1) if d.certain]
    return " ".join(parts[:3])


def _made_of(number: int, direction: Direction, most: int = 4) -> str:
    """The columns whose weight is beyond its error, and not small."""
    # Below a tenth a column makes 1 % of the variance of the direction.
    large = [w for w in direction.weights if abs(w.weight.value) > 0.1]
    clear = [w for w in large if w.weight.low > 0 or w.weight.high < 0]
    named = (clear or list(direction.weights))[:most]
    listed = ", ".join(f"{w.column} ({w.weight.value:+.2f} ± {w.weight.error:.2f})" for w in named)
    more = len(clear) - len(named)
    tail = f" and {more} more" if more > 0 else ""
    unsure = "" if clear else ", none of them beyond its error"
    return f"Direction {number} is made of {listed}{tail}{unsure}."


def _what_kind(report: Report) -> str:
    certain = [(number, d.curve) for number, d in enumerate(report.directions, 1) if d.certain]
    straight = next((m for m in report.models if m.name == LINEAR), None)
    peer = best_peer(report.models)
    kind = ""
    if certain:
        number, curve = certain[0]
        # The score of two classes is that of the second.
        names = report.classes[1:] if len(report.classes) == 2 else report.classes
        what = f"the share of class {names[steepest(curve)]!r}" if names else "the label"
        kind = f"Along direction {number} {what} {shape(curve)}."
    if straight is not None and straight.gain is not None and report.predictable:
        better = -straight.gain.value
        if straight.gain.high < 0:
            kind += (
                f" A linear model explains {straight.score.percent}: bends and products add the "
                "difference."
            )
        elif better < 0.02:
            kind += f" A linear model does as well, with {straight.score.percent}."
        else:
            kind += f" A linear model explains {straight.score.percent}, which may be as good."
    if peer is not None and peer.name != LINEAR:
        kind += f" {what_is_better(peer)}"
    return kind.strip() or "What kind of function it is cannot be said."


def steepest(curve: Curve) -> int:
    """The output that changes most along a direction."""
    return int(np.argmax(np.ptp(curve.values, axis=1)))


def shape(curve: Curve, straight: float = 0.99) -> str:
    """The form of the fitted label along a direction, in words."""
    values, at = curve.values[steepest(curve)], curve.at
    spread = float(np.ptp(values))
    if spread <= 0:
        return "is constant on its own"
    line = np.polyval(np.polyfit(at, values, 1), at)
    left = float(np.sum((values - line) ** 2) / np.sum((values - values.mean()) ** 2))
    # Turns count if they are a tenth of the whole range, beyond the wiggles of a fit.
    turns = _turns(values, 0.1 * spread)
    if 1.0 - left > straight:
        return "follows almost a straight line"
    if turns == 0:
        return f"{'rises' if values[-1] > values[0] else 'falls'} all the way, on a bent line"
    if turns == 1:
        return (
            "has a valley" if values[len(at) // 2] < (values[0] + values[-1]) / 2 else "has a hill"
        )
    return f"turns {turns} times"


def _turns(values: np.ndarray, least: float) -> int:
    """How often a curve changes between rising and falling by more than ``least``."""
    turns, way, extreme = 0, 0, float(values[0])
    for value in map(float, values):
        if (way >= 0 and value > extreme) or (way <= 0 and value < extreme):
            if way or abs(value - extreme) > least:
                way = way or (1 if value > extreme else -1)
                extreme = value
        elif abs(value - extreme) > least:
            turns, way, extreme = turns + 1, -way, value
    return turns


def _what_next(report: Report) -> str:
    if report.curve is None or all(point.measured for point in report.curve.points):
        return "What more rows would bring has not been computed."
    now, twice = report.curve.at(1.0), report.curve.at(2.0)
    if not report.predictable:
        return (
            "More rows of this kind promise little: extrapolated, twice as many would explain "
            f"{twice.score.percent}."
        )
    return (
        f"With twice as many rows the fit would explain about {twice.score.percent}, extrapolated; "
        f"with all {now.rows:,} of them it is {now.score.percent}."
    )
