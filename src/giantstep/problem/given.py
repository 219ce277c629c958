"""What is given of an experiment, read: texts, sizes in terms of each other, step sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.language.quantity import listed, quantity, whole
from giantstep.problem.activation import make_activation
from giantstep.problem.inputs import make_inputs
from giantstep.problem.step_size import giant_step_size, output_scale, step_sizes
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
    n = whole(fields["n"], {"d": d, "p": p}, "n")
    letters: dict[str, float] = {"d": d, "n": n, "p": p}
    steps = whole(fields["steps"], {}, "steps", least=0, most=MOST_STEPS)
    deflate = _deflate(fields["deflate"])
    scale = str(fields["output_scale"])
    giant = giant_step_size(
        target,
        letters,
        scale=output_scale(scale, p),
        readout_start=str(fields["readout_start"]),
        deflate=deflate,
    )
    overlaps = fields["start_overlaps"]
    readout_n = whole(fields["readout_n"], letters, "readout_n", least=0)
    test_n = fields["test_n"]
    if test_n is None:
        sizes = {"n": n, "steps": steps, "readout_n": readout_n}
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
        "start_overlaps": overlaps.tolist() if isinstance(overlaps, np.ndarray) else overlaps,
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


def _dimension(given: Any, data: DataSet | None) -> int:
    if data is None:
        return whole(DIMENSION if given is None else given, {}, "d")
    if given is not None and whole(given, {}, "d") != data.d:
        raise InputError(
            f"d must be the {data.d} columns of x in the data set {data.path!r}, got {given}"
        )
    return data.d


def _deflate(value: Any) -> int:
    try:
        return whole(value, {}, "deflate", least=-1, most=1)
    except InputError:
        raise InputError(f"deflate must be -1, 0 or 1, got {shown(value)}") from None


def _ridges(value: Any, letters: Mapping[str, float]) -> tuple[float, ...] | str:
    if isinstance(value, str) and value.strip() == "cv":
        return "cv"
    numbers = tuple(quantity(ridge, letters, "ridge", also="cv") for ridge in listed(value))
    if not numbers:
        raise InputError("ridge is empty, got []")
    for number in numbers:
        if number <= 0:
            raise InputError(f"ridge must be positive, got {number:g}")
    return numbers
