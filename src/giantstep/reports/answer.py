"""The answer: how much, how many directions, which columns, what kind, what more rows bring."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np

from giantstep.estimator.parts import SOFT
from giantstep.reports.comparison import best_peer, what_is_better
from giantstep.reports.directions import Curve, Direction
from giantstep.reports.interval import rounded
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
    if score.nothing:
        mean = "the shares of the classes" if report.classes else "its mean"
        return (
            f"Nothing in these columns predicts {label} reliably: the fit predicts {mean} in every "
            "row, which explains 0 % of its variance."
        )
    if not report.predictable:
        return (
            f"Nothing in these columns predicts {label} reliably: on rows held out the fit "
            f"explains {score.percent} of its variance."
        )
    text = f"On rows held out the fit explains {score.percent} of the variance of {label}."
    if report.accuracy is not None and report.most_frequent is not None:
        text += (
            f" It names the class of {report.accuracy.percent} of them, where the most frequent "
            f"class alone is right on {report.most_frequent.percent}."
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
    if fitted == 0:
        return (
            "No direction was fitted: a few of them predict no better than a fit that uses all "
            f"columns.{worse}"
        )
    if certain == 0:
        none = "it is not" if fitted == 1 else "none of them is"
        were = "1 direction was" if fitted == 1 else f"{fitted} directions were"
        return (
            f"{were} fitted, and {none} certain at level {report.level:g}. A direction is a "
            f"weighted sum of columns.{worse}"
        )
    one = certain == 1
    text = f"{certain} direction{' is' if one else 's are'} certain"
    text += f" at level {report.level:g}"
    if fitted > certain:
        numbers = [str(k) for k, each in enumerate(report.directions, 1) if each.certain]
        text += f" (number {in_a_row(numbers)})"
        text += f", {fitted - certain} more {'is' if fitted - certain == 1 else 'are'} fitted"
    return f"{text}. A direction is a weighted sum of columns.{worse}"


def _which(report: Report, most: int = 3) -> str:
    numbered = list(enumerate(report.directions, 1))
    if not numbered or not report.predictable:
        return "There is no combination of columns to name."
    certain = [(number, direction) for number, direction in numbered if direction.certain][:most]
    if not certain:
        return " ".join([_with_care(len(numbered), most), *starmap(_mostly, numbered[:most])])
    often = [(number, direction) for number, direction in certain if direction.often]
    parts = [_made_of(number, direction) for number, direction in often]
    parts += [_lacking(number, d) for number, d in certain if d.found < len(d.stability)]
    parts += _by_what_is_lost(report, [direction for _, direction in certain])
    turning = [str(number) for number, direction in certain if direction.turns]
    if len(turning) == 1:
        parts.append(
            f"Refits turn direction {turning[0]} towards the others, so that its single weights "
            "mean little."
        )
    elif turning:
        parts.append(
            f"Refits mix directions {in_a_row(turning)}: what these span together is sure, the "
            "weights of each are not."
        )
    return " ".join(parts)


def _by_what_is_lost(report: Report, certain: Sequence[Direction], most: int = 5) -> list[str]:
    """The columns that count where weights are offsets, or not those of most refits."""
    texts = []
    if any(direction.references for direction in certain):
        texts.append("Weights of categories are offsets from one of them.")
    if report.lost:
        names = in_a_row([each.text for each in report.lost[:most]])
        texts.append(f"Shuffling one column at a time costs held-out rows most in {names}.")
    if not all(direction.often for direction in certain):
        part = max(report.estimator[-1].parts_, key=lambda part: part.adds, default=None)
        if part is not None and part.name in SOFT:
            texts.append("Predictions come mostly from a part of the fit without directions.")
    return texts


def _with_care(fitted: int, most: int) -> str:
    """What is said before the columns of directions of which none is certain."""
    if fitted == 1:
        return "Its columns are named tentatively."
    strongest = f" of the strongest {most}" if fitted > most else ""
    return f"The columns{strongest} are named tentatively."


def _mostly(number: int, direction: Direction, most: int = 4) -> str:
    """The columns of the largest weights, whose errors are not told."""
    # Above .3 a column makes a tenth of the variance of the direction.
    main = [w for w in direction.weights if abs(w.weight.value) > 0.3] or direction.weights
    names = [f"{w.column} ({rounded(w.weight.value, '+')})" for w in main[:most]]
    return f"Direction {number} is mostly {in_a_row(names)}."


def _lacking(number: int, direction: Direction) -> str:
    """What is said of a certain direction that some refits lack."""
    if not direction.found:
        return f"None of the {len(direction.stability)} refits finds direction {number}."
    one = direction.found == 1
    return (
        f"Only {direction.found} of {len(direction.stability)} refits {'finds' if one else 'find'} "
        f"direction {number}."
    )


def in_a_row(words: Sequence[str]) -> str:
    """Words of a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _made_of(number: int, direction: Direction, most: int = 4) -> str:
    """The columns whose weight is sure not to be zero, and not small."""
    if direction.turns:
        return _mostly(number, direction, most)
    # Below a tenth a column makes 1 % of the variance of the direction.
    large = [w for w in direction.weights if abs(w.weight.value) > 0.1]
    clear = [w for w in large if w.weight.low > 0 or w.weight.high < 0]
    if not clear:
        return (
            f"Which columns make direction {number} is not sure: every weight may be zero. "
            f"{correlated(direction)}"
        )
    more = len(clear) - most
    names = [w.text for w in clear[:most]] + ([f"{more} more"] if more > 0 else [])
    text = f"Direction {number} is made of {in_a_row(names)}."
    unsure = len(large) - len(clear)
    if not unsure:
        return text
    others = "One more large weight" if unsure == 1 else f"{unsure} more large weights"
    return f"{text} {others} may be zero. {correlated(direction)}"


def correlated(direction: Direction, subject: str = "It", most: int = 4) -> str:
    """The columns that a direction goes together with, one category of a column of words."""
    # Where one category is more frequent, the others are rarer: they correlate with it by that.
    leading = {c.source or c.column: c for c in reversed(direction.correlations)}
    listed = [c for c in direction.correlations if c in leading.values()]
    # Below .3 a column shares less than a tenth of its variance with the direction.
    strong = [c for c in listed if abs(c.weight.value) > 0.3]
    names = [c.text for c in (strong or listed)[:most]]
    return f"{subject} correlates most with {in_a_row(names)}."


def _what_kind(report: Report) -> str:
    peer = best_peer(report.models)
    parts = [_along(report), _against_a_line(report)]
    if peer is not None and peer.name != LINEAR:
        parts.append(what_is_better(peer))
    return " ".join(part for part in parts if part) or "What kind of function it is cannot be said."


def _along(report: Report) -> str:
    """The label along the first certain direction."""
    numbered = enumerate(report.directions, 1)
    certain = [(number, d.curve) for number, d in numbered if d.certain and d.often]
    if not certain:
        return ""
    number, curve = certain[0]
    # The score of two classes is that of the second.
    names = report.classes[1:] if len(report.classes) == 2 else report.classes
    what = f"the share of class {names[steepest(curve)]!r}" if names else "the label"
    form = shape(curve)
    if form not in (CONSTANT, UNCHANGED):
        return f"Along direction {number} {what} {form}."
    # Rows held out need the direction: what its curve does not show is not missing.
    others = "the other directions" if len(report.directions) > 1 else "other columns"
    return (
        f"{what[0].upper()}{what[1:]} depends on direction {number} together with {others}, or in "
        "a way that one curve does not show beyond its error."
    )


def _against_a_line(report: Report) -> str:
    """What the linear model says of the function, and why it is worse where that is known."""
    line = next((m for m in report.models if m.name == LINEAR), None)
    if line is None or line.gain is None or not report.predictable:
        return ""
    if line.gain.high >= 0:
        close = line.gain.value > -0.02
        well = "does as well, with {}" if close else "explains {}, which may be as good"
        return f"A linear model {well.format(line.score.percent)}."
    columns = report.estimator[-1].n_features_in_
    rows = report.distinct * (report.folds - 1) / report.folds
    if rows >= 5 * columns:
        # What least squares loses by the noise in so many weights, noise being all it misses.
        weights = (1.0 - line.score.low) * columns / (rows - columns - 1)
        if -line.gain.high > weights:
            text = f"A linear model explains {line.score.percent}"
            return f"{text}: bends and products add the difference."
    kind = "logistic" if report.classes else "ridge"
    return f"The linear model here ({kind}) does worse, with {line.score.percent}."


CONSTANT, UNCHANGED = "is constant", "does not change beyond its error"
"""Forms of a curve that shows nothing."""


def steepest(curve: Curve) -> int:
    """The output that changes most along a direction."""
    return int(np.argmax(np.ptp(curve.values, axis=1)))


def shape(curve: Curve, straight: float = 0.99, bent: float = 0.9, open_turn: float = 0.25) -> str:
    """The form of the fitted label along a direction, in words; what its band allows is no turn.

    straight -> share that a line explains of the curve, from which on it counts as one; bent -> the
    least share where the line is within the band; open_turn -> share of the range by which a curve
    comes back within its band for the turn to be left open.
    """
    output, at = steepest(curve), curve.at
    values = curve.values[output]
    reach = np.nan_to_num((curve.high[output] - curve.low[output]) / 2.0)
    spread = float(np.ptp(values))
    if spread <= 0:
        return CONSTANT
    line = np.polyval(np.polyfit(at, values, 1), at)
    share = 1.0 - float(np.sum((values - line) ** 2) / np.sum((values - values.mean()) ** 2))
    if share > straight:
        return "follows almost a straight line"
    if share > bent and bool(np.all(np.abs(values - line) <= reach)):
        return "is straight within its error"
    places = _extremes(values, reach, 0.1 * spread)
    turns = len(places) - 2
    if turns == 0:
        up = values[places[1]] > values[places[0]]
        if len(_extremes(values, np.zeros_like(reach), open_turn * spread)) > 2:
            return f"{'rises' if up else 'falls'}, and its error leaves open whether it turns"
        return f"{'rises' if up else 'falls'} all the way, on a bent line"
    if turns == 1:
        return "has a valley" if values[places[1]] < values[places[0]] else "has a hill"
    if turns < 0:
        return UNCHANGED
    return f"turns {turns} times"


def _extremes(values: np.ndarray, reach: np.ndarray, least: float) -> list[int]:
    """Places between which a curve rises or falls by more than ``least`` and its error.

    They are the first and the last of these places, and the turns between them.
    """

    def beyond(i: int, j: int) -> bool:
        return abs(values[i] - values[j]) > max(least, float(np.hypot(reach[i], reach[j])))

    pairs = [(i, j) for j in range(len(values)) for i in range(j) if beyond(i, j)]
    if not pairs:
        return []
    # The first place that some later one leaves beyond doubt, then turn after turn.
    start, place = min(pairs, key=lambda pair: (pair[1], -abs(values[pair[0]] - values[pair[1]])))
    places = [start, place]
    for j in range(place + 1, len(values)):
        way = 1.0 if values[places[-1]] > values[places[-2]] else -1.0
        if way * (values[j] - values[places[-1]]) > 0:
            places[-1] = j
        elif beyond(places[-1], j):
            places.append(j)
    return places


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
        f"fitted on all {now.rows:,} rows it explains {now.score.percent}."
    )
