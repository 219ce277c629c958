"""What is given of an experiment, read: texts, sizes in terms of each other, step sizes."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.language.expression import Expression, substitute
from giantstep.language.quantity import listed, quantity, whole
from giantstep.language.word import Word
from giantstep.problem.activation import make_activation
from giantstep.problem.batches import read_batches
from giantstep.problem.between import read_between
from giantstep.problem.fields import BATCH
from giantstep.problem.given_rows import GivenRows, make_rows
from giantstep.problem.inputs import make_inputs
from giantstep.problem.labels import LabelTransform, make_transform
from giantstep.problem.losses import first_residual, read_loss
from giantstep.problem.recording import read_record
from giantstep.problem.starts import READOUT_STARTS
from giantstep.problem.step_size import IDENTITY, giant_step_size, output_scale, step_sizes
from giantstep.problem.tables import DataSet, rows_taken
from giantstep.problem.target import make_target

DIMENSION, TEST_N = 1000, 20_000
"""What d and test_n are when they are not given, and no data set says its columns and rows."""

MOST_STEPS = 10**6
"""One step size is held for each step; beyond, they would fill megabytes of every record."""

MOST_RUNS = 2**32
"""The number of a run is one word of 32 bits in the key of its random numbers."""

LARGEST_SEED = 2**63 - 1
"""A seed is two words of 32 bits in that key, and a signed integer in JSON and TOML readers."""


def read_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as they are held: texts read, sizes and step sizes as numbers."""
    if fields["target"] is None:
        raise InputError("target is missing")
    target = make_target(fields["target"])
    inputs = make_inputs(fields["inputs"])
    data = inputs.data_set(target.column)
    d = _dimension(fields["d"], data)
    p = whole(fields["p"], {"d": d}, "p")
    steps = whole(fields["steps"], {}, "steps", least=0, most=MOST_STEPS)
    if fields["n"] is None:
        fields = fields | {"n": _batch_size(fields | {"steps": steps}, {"d": d, "p": p}, data)}
    n = whole(fields["n"], {"d": d, "p": p}, "n")
    letters: dict[str, float] = {"d": d, "n": n, "p": p}
    deflate = _deflate(fields["deflate"])
    scale = str(fields["output_scale"])
    readout = _readout(fields["readout_start"], p)
    transform, loss = make_transform(fields["label_transform"]), read_loss(fields["loss"])
    start_rows = make_rows(fields["start_rows"])
    start_gram = _matrix(fields["start_gram"], letters, "start_gram")

    def giant() -> float:
        try:
            return giant_step_size(
                target,
                letters,
                scale=output_scale(scale, p),
                readout_start=readout,
                deflate=deflate,
                seen=seen_label(transform, loss, fields["residual"]),
                update=fields["update"],
                length=_row_length(start_rows, start_gram),
            )
        except InputError:
            _ = target.series  # refused for itself where it is the target's fault
            raise InputError(
                "label_transform must have finite values and moments at the labels of the "
                f"target, got {transform.text!r}"
            ) from None

    batches = read_batches(fields["batches"], letters)
    readout_n = whole(fields["readout_n"], letters, "readout_n", least=0)
    test_n = fields["test_n"]
    if test_n is None:
        sizes = {"n": n, "steps": steps, "readout_n": readout_n, "batches": batches}
        test_n = TEST_N if data is None else max(len(data.rows) - rows_taken(fields | sizes), 1)
    return {
        **fields,
        "target": target,
        "activation": make_activation(fields["activation"]),
        "d": d,
        "n": n,
        "p": p,
        "steps": steps,
        "step_size": step_sizes(fields["step_size"], steps, letters, giant=giant),
        "output_scale": scale,
        "start_overlaps": _matrix(fields["start_overlaps"], letters, "start_overlaps"),
        "start_gram": start_gram,
        "start_rows": start_rows,
        "readout_start": readout,
        "bias": quantity(fields["bias"], {}, "bias"),
        "decay": quantity(fields["decay"], {}, "decay"),
        "batches": batches,
        "record": read_record(fields["record"]),
        "loss": loss,
        "readout_between": read_between(fields["readout_between"], letters),
        "label_transform": transform,
        "deflate": deflate,
        "noise": quantity(fields["noise"], {}, "noise"),
        "corruption": quantity(fields["corruption"], {}, "corruption"),
        "ridge": _ridges(fields["ridge"], letters),
        "readout_n": readout_n,
        "test_n": whole(test_n, letters, "test_n", least=0),
        "inputs": inputs,
        "runs": whole(fields["runs"], {}, "runs", most=MOST_RUNS),
        "seed": whole(fields["seed"], {}, "seed", least=0, most=LARGEST_SEED),
        "spectra": whole(fields["spectra"], letters, "spectra", least=0),
    }


def _batch_size(
    fields: Mapping[str, Any], letters: Mapping[str, float], data: DataSet | None
) -> int | str:
    """n where it is not given: for labels of a data set as many as its rows are enough for.

    Batches, readout and test then take the same number of rows each, unless theirs is given.
    """
    if data is None or data.labels is None or str(fields["batches"]).startswith("minibatch"):
        return BATCH

    def taken(n: int) -> int:
        sizes = {**letters, "n": n}
        test = n if fields["test_n"] is None else whole(fields["test_n"], sizes, "test_n", least=0)
        readout = whole(fields["readout_n"], sizes, "readout_n", least=0)
        batches = read_batches(fields["batches"], sizes)
        return test + rows_taken({**fields, "n": n, "readout_n": readout, "batches": batches})

    rows = len(data.rows)
    return max(1, bisect_right(range(1, rows + 1), rows, key=taken))


def _dimension(given: Any, data: DataSet | None) -> int:
    if data is None:
        return whole(DIMENSION if given is None else given, {}, "d")
    if given is not None and whole(given, {}, "d") != data.d:
        raise InputError(
            f"d must be the {data.d} columns of x in the data set {data.path!r}, got {given}"
        )
    return data.d


def seen_label(transform: LabelTransform, loss: Word, residual: object) -> Expression:
    """What a first step sees of the label y, where the network answers 0."""
    first = IDENTITY if residual == "labels" else first_residual(loss)
    return substitute(first, (transform.expression,))


def _row_length(rows: GivenRows | None, gram: Any) -> float:
    """Root mean square length of the rows at the start; 1 for none and for what is refused."""
    try:
        squares = np.diagonal(gram) if rows is None else np.sum(rows.values**2, axis=1)
        return math.sqrt(float(np.mean(squares))) or 1.0
    except (TypeError, ValueError):
        return 1.0


def _matrix(value: Any, letters: Mapping[str, float], field: str) -> Any:
    """Rows of numbers; in a text rows are parted by ``;`` and numbers by ``,``."""
    if isinstance(value, str):
        rows = value.split(";")
        return [[quantity(entry, letters, field) for entry in listed(row)] for row in rows]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _readout(value: Any, p: int) -> str | tuple[float, ...]:
    """The name of a law, or p numbers."""
    if isinstance(value, str) and not any(sign in value for sign in ",.0123456789"):
        if value.strip() not in READOUT_STARTS:
            known = ", ".join(READOUT_STARTS)
            raise InputError(
                f"readout_start must be {known} or p = {p} numbers, got {shown(value)}"
            )
        return value.strip()
    numbers = tuple(quantity(entry, {}, "readout_start") for entry in listed(value))
    if len(numbers) != p:
        raise InputError(f"readout_start must be a name or p = {p} numbers, got {shown(value)}")
    if not any(numbers):
        raise InputError(f"readout_start must not be all zero, got {shown(value)}")
    return numbers


def _deflate(value: Any) -> int:
    try:
        return whole(value, {}, "deflate", least=-1, most=2)
    except InputError:
        raise InputError(f"deflate must be -1, 0, 1 or 2, got {shown(value)}") from None


def _ridges(value: Any, letters: Mapping[str, float]) -> tuple[float, ...] | str:
    if isinstance(value, str) and value.strip() == "cv":
        return "cv"
    numbers = tuple(
        quantity(ridge, letters, "ridge", kind="cv, a number") for ridge in listed(value)
    )
    if not numbers:
        raise InputError("ridge is empty, got []")
    for number in numbers:
        if number <= 0:
            raise InputError(f"ridge must be positive, got {number:g}")
    return numbers
