"""Axes of a sweep: lists, ranges, log ranges and power grids of a field, or of several together.

    d = "1000, 10000"           a list
    noise = "0..1:5"            5 values evenly spaced from 0 to 1
    d = "100..10000:5 log"      evenly spaced on a log scale, sizes rounded
    n = "d^1..d^2:9"            n = d^kappa, kappa evenly spaced; n = "1d..16d:5 log" alike

The two ends of a range are the same text but for one number, which runs from one to the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.problem.differing import told_apart
from giantstep.problem.setting import DEFAULTS

WHOLE = frozenset(("d", "n", "p", "steps", "deflate", "readout_n", "test_n", "seed", "spectra"))
"""Fields of whole numbers: those of a range are rounded."""

_NUMBER = re.compile(r"(?:(?:^|(?<=[\^(*/,]))-)?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>.+):\s*(?P<count>[0-9]+)\s*(?P<log>log)?\s*")


@dataclass(frozen=True)
class Axis:
    """Values of one field, or of several that vary together: fields and values at each place.

    ``given`` are the values that settings are made of; in ``places`` the name of a callable stands
    for it.  ``coordinates`` are numbers to draw the places at, ``None`` where they are words.
    """

    places: tuple[dict[str, Any], ...]
    given: tuple[dict[str, Any], ...]
    label: str
    coordinates: tuple[float, ...] | None
    log: bool = False

    @property
    def name(self) -> str:
        """The field that it is known by, the first of those that vary together."""
        return next(iter(self.places[0]))

    @property
    def texts(self) -> tuple[str, ...]:
        """The values of that field in a few digits."""
        return tuple(short(place[self.name]) for place in self.places)


def short(value: Any) -> str:
    """A value as a label: its numbers in four digits, whole ones in full."""
    return _NUMBER.sub(
        lambda found: found[0] if found[0].lstrip("-").isdigit() else f"{float(found[0]):.4g}",
        str(value),
    )


def read_axes(given: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> tuple[Axis, ...]:
    """The axes of a mapping, one for each key, or of several, whose keys vary together each."""
    if isinstance(given, Mapping):
        tables: list[Mapping[str, Any]] = [{field: values} for field, values in given.items()]
    elif isinstance(given, list | tuple) and all(isinstance(table, Mapping) for table in given):
        tables = list(given)
    else:
        raise InputError(f"axes must be a table of fields and their values, got {shown(given)}")
    if not tables or not all(tables):
        raise InputError(
            "axes must name at least one field, got none: [axes] of a file or --vary d=1000,10000"
        )
    axes = tuple(_axis(table) for table in tables)
    names = [field for axis in axes for field in axis.places[0]]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"axes must name a field once, got {name!r} twice")
    return axes


def read_vary(texts: Sequence[str]) -> list[dict[str, str]]:
    """Axes as they are typed: FIELD=VALUES, several that vary together joined by ``;``."""
    tables: list[dict[str, str]] = []
    for text in texts:
        table: dict[str, str] = {}
        for part in text.split(";"):
            field, equals, values = part.partition("=")
            if not equals or not field.strip() or not values.strip():
                raise InputError(f"vary must be FIELD=VALUES, such as d=1000,10000, got {text!r}")
            name = field.strip().replace("-", "_")
            if any(name in other for other in (*tables, table)):
                raise InputError(
                    f"vary must name a field once, with all of its values as in d=100,200; got "
                    f"{name} a second time in {text!r}"
                )
            table[name] = values.strip()
        tables.append(table)
    return tables


def _axis(table: Mapping[str, Any]) -> Axis:
    columns: dict[str, tuple[list[Any], bool]] = {}
    for field, given in table.items():
        if field not in DEFAULTS or field == "runs":
            allowed = ", ".join(name for name in DEFAULTS if name != "runs")
            raise InputError(f"axes must be fields of a setting ({allowed}), got {field!r}")
        columns[field] = _values(field, given)
    lengths = {field: len(values) for field, (values, _) in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{field} {count}" for field, count in lengths.items())
        raise InputError(f"axes that vary together must have as many values each, got {counts}")
    given = _places({field: values for field, (values, _) in columns.items()})
    places = _places({field: _plain_values(values) for field, (values, _) in columns.items()})
    seen: set[str] = set()
    for place in given:
        if repr(place) in seen:
            raise InputError(f"axes must have a value once, got {shown(place)} twice")
        seen.add(repr(place))
    first = next(iter(columns))
    values, log = columns[first]
    label, coordinates = _coordinates(first, values)
    if len(columns) > 1:
        label += f" (with {', '.join(list(columns)[1:])})"
    if coordinates is not None and not log and len(coordinates) > 1 and min(coordinates) > 0:
        # On a log scale where the ends of positive values differ by so much.
        log = max(coordinates) >= 20.0 * min(coordinates)
    return Axis(places, given, label, coordinates, log)


def _places(columns: Mapping[str, Sequence[Any]]) -> tuple[dict[str, Any], ...]:
    return tuple(
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    )


def _plain_values(values: Sequence[Any]) -> list[Any]:
    """The values, names in the place of callables; those of the same name are numbered."""
    if not any(callable(value) for value in values):
        return list(values)
    names = [getattr(value, "name", getattr(value, "__name__", str(value))) for value in values]
    return list(told_apart(values, names))


def _values(field: str, given: Any) -> tuple[list[Any], bool]:
    """The values of a field, and whether they are evenly spaced on a log scale."""
    if isinstance(given, str):
        pieces: list[Any] = _pieces(given)
    elif isinstance(given, list | tuple | np.ndarray):
        pieces = np.asarray(given).tolist() if isinstance(given, np.ndarray) else list(given)
    else:
        pieces = [given]
    values: list[Any] = []
    log = False
    for piece in pieces:
        match = _RANGE.fullmatch(piece) if isinstance(piece, str) else None
        if match is None:
            values.append(_plain(field, piece))
        else:
            values.extend(_range(field, piece, match))
            log = match["log"] is not None and len(pieces) == 1
    if not values:
        raise InputError(f"axes must have values, got none for {field}")
    return values, log


def _plain(field: str, piece: Any) -> Any:
    """A value as it is given; a number that is typed is a number."""
    if isinstance(piece, str) and (number := _NUMBER.fullmatch(piece.strip())):
        value = float(number[0])
        return int(number[0]) if number[0].lstrip("-").isdigit() else value
    if isinstance(piece, str) and not piece.strip():
        raise InputError(f"axes must have values, got an empty one for {field}")
    if isinstance(piece, str) and ".." in piece and "/" not in piece:  # but for paths of files
        raise InputError(f"{field} must be a range LOW..HIGH:COUNT, got {piece!r}")
    return piece.strip() if isinstance(piece, str) else piece


def _pieces(text: str) -> list[str]:
    """A text cut at its commas, but for those in parentheses."""
    pieces, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces


def _range(field: str, piece: str, match: re.Match[str], *, most: int = 10_000) -> Iterator[Any]:
    """The values of a range; more than ``most`` are a slip of the pen."""
    low, high, count = match["low"].strip(), match["high"].strip(), int(match["count"])
    frame, ends = _frame([low, high])
    if frame is None or ends is None or not 2 <= count <= most:
        raise InputError(
            f"{field} must be a range LOW..HIGH:COUNT whose ends differ in one number, with 2 to "
            f"{most:,} values, got {piece.strip()!r}"
        )
    if match["log"] and min(ends) <= 0:
        raise InputError(f"{field} must be positive on a log scale, got {piece.strip()!r}")
    space = np.geomspace if match["log"] else np.linspace
    for number in space(ends[0], ends[1], count).tolist():
        # Twelve digits: what a range adds in the last ones is rounding.
        value = float(f"{number:.12g}")
        if frame != "#":
            yield frame.replace("#", f"{value:.12g}")
        else:
            yield round(value) if field in WHOLE or value.is_integer() else value


def _frame(texts: Sequence[str]) -> tuple[str | None, list[float] | None]:
    """What texts have in common with # for the one number they differ in, and those numbers."""
    frames = {_NUMBER.sub("#", text.replace("#", "")) for text in texts}
    numbers = [[float(number) for number in _NUMBER.findall(text)] for text in texts]
    if len(frames) > 1:
        return None, None
    differing = [k for k, column in enumerate(zip(*numbers, strict=True)) if len(set(column)) > 1]
    if len(differing) != 1:
        return None, None
    place = differing[0]
    count = iter(range(len(numbers[0])))
    first = texts[0]
    frame = _NUMBER.sub(lambda found: "#" if next(count) == place else found[0], first)
    return frame, [row[place] for row in numbers]


def _coordinates(field: str, values: Sequence[Any]) -> tuple[str, tuple[float, ...] | None]:
    """The label of an axis and where its values lie on it."""
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        return field, tuple(float(value) for value in values)
    if not all(isinstance(value, str | Real) for value in values):
        return field, None
    texts = [value if isinstance(value, str) else f"{value:.12g}" for value in values]
    frame, numbers = _frame(texts)
    if frame is None or numbers is None or not all(math.isfinite(number) for number in numbers):
        return field, None
    if frame in ("#d", "#n", "#p"):
        return f"{field}/{frame[1]}", tuple(numbers)
    # Powers of d are named k; another number beside them on a map has another letter.
    letter = "k" if "^#" in frame else "a"
    return f"{letter} in {field} = {frame.replace('#', letter)}", tuple(numbers)
