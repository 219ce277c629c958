"""How the fields of a setting are read: texts, sizes in terms of each other, step sizes.

A reader takes what was given, the name of the field and the other fields, and returns what the
record holds, or refuses it in one sentence with the field and the value.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from numbers import Real
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.language.expression import Expression, substitute
from giantstep.language.quantity import EXACT, listed, quantity, whole
from giantstep.language.word import Word
from giantstep.problem.batches import BATCHES, BatchKind, BatchWord
from giantstep.problem.between import BetweenWord
from giantstep.problem.fields import Reading
from giantstep.problem.frames import FORMS, read_frame
from giantstep.problem.lookahead import LookaheadWord
from giantstep.problem.losses import first_residual
from giantstep.problem.recording import RecordWord
from giantstep.problem.starts import READOUT_STARTS, ReadoutWord
from giantstep.problem.step_size import (
    IDENTITY,
    OutputScale,
    giant_step_size,
    output_scale,
    step_sizes,
)
from giantstep.problem.tables import DataSet, rows_taken
from giantstep.problem.target import Target, make_target
from giantstep.problem.updates import Update, UpdateWord

Held = TypeVar("Held")
AnyWord = TypeVar("AnyWord", bound=Word[Any])
Reader = Callable[[Any, str, Reading], Held]


def text(make: Callable[[Any], Held]) -> Reader[Held]:
    """What a function makes of the text of a field alone."""
    return lambda value, name, reading: make(value)


def one_of(*words: str) -> Reader[str]:
    """One of a few words."""

    def read(value: Any, name: str, reading: Reading) -> str:
        if not (isinstance(value, str) and value in words):
            choices = " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
            raise InputError(f"{name} must be {choices}, got {shown(value)}")
        return value

    return read


def kind_of(word: type[AnyWord]) -> Reader[AnyWord]:
    """A word without numbers, from the table of its kinds."""
    choose = one_of(*word.kinds)
    return lambda value, name, reading: word(choose(value, name, reading))


def size(*letters: str, least: int = 1, most: int = EXACT) -> Reader[int]:
    """A whole number, which may be given in terms of other sizes."""
    return lambda value, name, reading: whole(
        value, reading.numbers(*letters), name, least=least, most=most
    )


def number(value: Any, name: str, reading: Reading) -> float:
    """A plain number."""
    return quantity(value, {}, name)


def read_target(value: Any, name: str, reading: Reading) -> Target:
    """The target, which has no default."""
    if value is None:
        raise InputError("target is missing")
    return make_target(value)


# -- sizes that a data set knows ------------------------------------------------------------------


def _data(reading: Reading) -> DataSet | None:
    """The data set whose rows are the inputs."""
    return reading["inputs"].data_set(reading["target"].column)


def dimension(value: Any, name: str, reading: Reading, unless_given: int = 1000) -> int:
    """d: the columns of a data set, else a size of its own."""
    data = _data(reading)
    if data is None:
        return whole(unless_given if value is None else value, {}, name)
    if value is not None and whole(value, {}, name) != data.d:
        raise InputError(
            f"d must be the {data.d} columns of x in the data set {data.path!r}, got {value}"
        )
    return data.d


UNLESS_LABELLED = "4d"
"""What n is when it is not given, and no labels of a data set say how many there are."""


def batch_size(value: Any, name: str, reading: Reading) -> int:
    """n, where it is not given for labels of a data set as many as its rows are enough for.

    Batches, readout and test then take the same number of rows each, unless theirs is given.
    """
    if value is not None:
        return whole(value, reading.numbers("d", "p"), name)
    data, given = _data(reading), reading.given.get("batches")
    drawn = isinstance(given, str) and any(
        given.startswith(each) for each, kind in BATCHES.items() if kind.draws
    )
    if data is None or data.labels is None or drawn:
        return whole(UNLESS_LABELLED, reading.numbers("d", "p"), name)

    def taken(n: int) -> int:
        tried = reading.instead(n=n)
        test = n if reading.given.get("test_n") is None else tried["test_n"]
        return test + rows_taken(tried)

    rows = len(data.rows)
    return max(1, bisect_right(range(1, rows + 1), rows, key=taken))


def samples_of_test(value: Any, name: str, reading: Reading, unless_given: int = 20_000) -> int:
    """test_n: where it is not given, the rows of a data set that are left."""
    if value is None:
        data = _data(reading)
        value = unless_given if data is None else max(len(data.rows) - rows_taken(reading), 1)
    return whole(value, reading.numbers("d", "n", "p"), name, least=0)


# -- the network ----------------------------------------------------------------------------------


def scale_of_outputs(value: Any, name: str, reading: Reading) -> OutputScale:
    """s_p as a text; the number 1 is one, too."""
    scales: tuple[OutputScale, ...] = get_args(OutputScale)
    one = isinstance(value, Real) and not isinstance(value, bool) and value == 1
    return scales[scales.index(one_of(*scales)("1" if one else value, name, reading))]


def matrix(value: Any, name: str, reading: Reading) -> tuple[tuple[float, ...], ...] | None:
    """Rows of numbers; in a text rows are parted by ``;`` and numbers by ``,``."""
    if value is None:
        return None
    rows = value.split(";") if isinstance(value, str) else value
    rows = rows.tolist() if isinstance(rows, np.ndarray) else rows
    if not isinstance(rows, list | tuple) or not all(
        isinstance(row, str | list | tuple) for row in rows
    ):
        raise InputError(f"{name} must be rows of numbers, got {shown(value)}")
    if not rows:
        raise InputError(f"{name} must have p = {reading['p']} rows, got {shown(value)}")
    letters = reading.numbers("d", "n", "p")
    return tuple(tuple(quantity(entry, letters, name) for entry in listed(row)) for row in rows)


def readout(value: Any, name: str, reading: Reading) -> ReadoutWord | tuple[float, ...]:
    """The name of a law, or p numbers."""
    p = reading["p"]
    if isinstance(value, str) and not any(sign in value for sign in ",.0123456789"):
        if value.strip() not in READOUT_STARTS:
            names = ", ".join(READOUT_STARTS)
            raise InputError(f"{name} must be {names} or p = {p} numbers, got {shown(value)}")
        return ReadoutWord(value.strip())
    numbers = tuple(quantity(entry, {}, name) for entry in listed(value))
    if len(numbers) != p:
        raise InputError(f"{name} must be a name or p = {p} numbers, got {shown(value)}")
    if not any(numbers):
        raise InputError(f"{name} must not be all zero, got {shown(value)}")
    return numbers


def ridges(value: Any, name: str, reading: Reading) -> tuple[float, ...] | Literal["cv"]:
    """Penalties of the readout, or the word cv."""
    if isinstance(value, str) and value.strip() == "cv":
        return "cv"
    letters = reading.numbers("d", "n", "p")
    numbers = tuple(quantity(ridge, letters, name, kind="cv, a number") for ridge in listed(value))
    if not numbers:
        raise InputError(f"{name} is empty, got []")
    for ridge in numbers:
        if ridge <= 0:
            raise InputError(f"{name} must be positive, got {ridge:g}")
    return numbers


# -- the steps ------------------------------------------------------------------------------------


def batches(value: Any, name: str, reading: Reading) -> BatchWord:
    """The kind of batches; a set that steps draw n samples from has at least n."""

    def number(text: str, field: str, kind: BatchKind) -> float:
        letters = reading.numbers("d", "n", "p")
        return float(whole(text, letters, field, least=reading["n"] if kind.draws else 1))

    return BatchWord.read(value, name, number)


def between(value: Any, name: str, reading: Reading) -> BetweenWord:
    """What becomes of the readout between steps."""
    return BetweenWord.read(
        value, name, lambda text, field, _: quantity(text, reading.numbers("d", "n", "p"), field)
    )


def lookahead(value: Any, name: str, reading: Reading) -> LookaheadWord:
    """Where a step takes its gradient."""
    return LookaheadWord.read(
        value, name, lambda text, field, _: quantity(text, reading.numbers("d", "n", "p"), field)
    )


def recording(value: Any, name: str, reading: Reading) -> RecordWord:
    """Which steps are recorded."""
    return RecordWord.read(value, name, lambda text, field, _: float(whole(text, {}, field)))


def update(value: Any, name: str, reading: Reading) -> UpdateWord:
    """What a step makes of the gradient: lengths that clip are positive, shares kept below one."""

    def length(text: str, field: str, kind: Update) -> float:
        letters, typed = reading.numbers("d", "n", "p"), shown(text.strip())
        if kind.remembered is None:
            number = quantity(text, letters, field)
            if not number > 0:
                raise InputError(f"{field} needs a positive length, got {typed}")
            return number
        with suppress(InputError):
            number = quantity(text, letters, field)
            if 0 <= number < 1:
                return number
        words = f"{' and '.join(kind.numbers)} from 0 to less than 1"
        raise InputError(f"{field} needs {words}, got {typed}")

    return UpdateWord.read(value, name, length)


def deflate(value: Any, name: str, reading: Reading) -> int:
    """The degree up to which the fitted part of the labels is removed."""
    try:
        return whole(value, {}, name, least=-1, most=2)
    except InputError:
        raise InputError(f"{name} must be -1, 0, 1 or 2, got {shown(value)}") from None


def frame(value: Any, name: str, reading: Reading) -> str:
    """The target directions: random, axes, by blocks of the inputs, or named columns."""
    known = read_frame(value)
    if known is None:
        raise InputError(f"{name} must be {FORMS}, got {shown(value)}")
    return known


def sizes_of_steps(value: Any, name: str, reading: Reading) -> tuple[float, ...]:
    """One size for each step, which may be given in terms of the giant one."""

    def giant() -> float:
        letters, seen, length = (
            reading.numbers("d", "p"),
            _seen_label(reading),
            _row_length(reading),
        )
        scale = output_scale(reading["output_scale"], reading["p"])
        names = ("target", "readout_start", "deflate", "update")
        target, readout_start, degree, update = (reading[each] for each in names)
        try:
            return giant_step_size(
                target,
                letters,
                scale=scale,
                readout_start=readout_start,
                deflate=degree,
                seen=seen,
                update=update.name,
                length=length,
            )
        except InputError:
            _ = reading["target"].series  # refused for itself where it is the target's fault
            raise InputError(
                "label_transform must have finite values and moments at the labels of the "
                f"target, got {reading['label_transform'].text!r}"
            ) from None

    return step_sizes(value, reading["steps"], reading.numbers("d", "n", "p"), giant=giant)


def _seen_label(reading: Reading) -> Expression:
    """What a first step sees of the label y, where the network answers 0."""
    first = IDENTITY if reading["residual"] == "labels" else first_residual(reading["loss"])
    return substitute(first, (reading["label_transform"].expression,))


def _row_length(reading: Reading) -> float:
    """Root mean square length of the rows at the start; 1 where neither they nor Q are given."""
    rows, gram = reading["start_rows"], reading["start_gram"]
    if rows is None and gram is None:
        return 1.0
    if rows is not None:
        squares = np.sum(rows.values**2, axis=1)
    else:
        squares = np.array([row[k] for k, row in enumerate(gram) if k < len(row)])
    return math.sqrt(max(float(np.mean(squares)), 0.0)) or 1.0
