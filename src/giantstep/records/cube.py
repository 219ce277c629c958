"""A tidy table as a data set of xarray: over the fields that its settings are a grid of."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from giantstep.errors import InputError

if TYPE_CHECKING:
    import xarray

INNER = ("run", "step")
"""Columns that tell the rows of one setting apart."""


@dataclass(frozen=True)
class Dimension:
    """The values along a dimension, and where among them each row of the table lies."""

    values: list[Any]
    places: Int[np.ndarray, " rows"]


def data_set(columns: Mapping[str, Sequence[Any]], index: Sequence[str]) -> xarray.Dataset:
    """The columns over their index, without places that no setting fills.

    Dimensions are run, step and the fewest fields that the settings are a full grid of; fields
    that follow these, as n = 4d follows d, are coordinates.  Settings that are no full grid lie
    along one dimension, ``setting``.  Predictions are the same for all runs, and do without them.
    """
    import xarray

    fields = {name: columns[name] for name in index if name not in INNER}
    settings = list(zip(*fields.values(), strict=True))
    outer = _outer(fields, settings)
    inner = {name: _dimension(columns[name]) for name in index if name in INNER}
    dimensions = outer | inner
    if len(set(zip(*(each.places for each in dimensions.values()), strict=True))) < len(settings):
        raise InputError("to_xarray needs one row for each run and step of a setting, got several")
    coordinates: dict[str, Any] = {name: (name, each.values) for name, each in dimensions.items()}
    for name, column in fields.items():
        if name not in outer:
            coordinates[name] = _over(_followed(column, outer), np.array(column))
    variables = {}
    for name, column in columns.items():
        if name not in index:
            left_out = "run" if name.startswith("predicted_") else ""
            held = {key: each for key, each in dimensions.items() if key != left_out}
            variables[name] = _over(held, np.array(column, dtype=float))
    return xarray.Dataset(variables, coordinates)


def _dimension(column: Sequence[Hashable]) -> Dimension:
    """The different values of a column: numbers by size, others in the order in which they come."""
    values: list[Any] = list(dict.fromkeys(column))
    if all(isinstance(value, Real) for value in values):
        values.sort()
    numbers = {value: number for number, value in enumerate(values)}
    return Dimension(list(numbers), np.array([numbers[value] for value in column], dtype=int))


def _outer(
    fields: Mapping[str, Sequence[Any]], settings: Sequence[tuple[Any, ...]]
) -> dict[str, Dimension]:
    """The fewest fields whose values, all combined, are the settings; else their numbers."""
    dimensions = {name: _dimension(column) for name, column in fields.items()}
    varying = [name for name, each in dimensions.items() if len(each.values) > 1]
    count = len(set(settings))
    for size in range(len(varying) + 1):
        for names in combinations(varying, size):
            chosen = {name: dimensions[name] for name in names}
            full = math.prod(len(each.values) for each in chosen.values())
            seen = set(zip(*(each.places for each in chosen.values()), strict=True))
            if full == count and (not names or len(seen) == count):
                return chosen
    numbers = _dimension(settings)
    return {"setting": Dimension(list(range(count)), numbers.places)}


def _followed(column: Sequence[Any], outer: Mapping[str, Dimension]) -> dict[str, Dimension]:
    """The dimensions that decide a field: none, one of them, or all."""
    if len(set(column)) == 1:
        return {}
    for name, each in outer.items():
        pairs = set(zip(each.places.tolist(), column, strict=True))
        if len(pairs) == len(each.values):
            return {name: each}
    return dict(outer)


def _over(dimensions: Mapping[str, Dimension], column: np.ndarray) -> tuple[Any, np.ndarray]:
    """A column over the dimensions that decide it; NaN where a setting has fewer runs or steps."""
    shape = [len(each.values) for each in dimensions.values()]
    missing = np.nan if column.dtype.kind == "f" else column[0]
    array = np.full(shape, missing, dtype=column.dtype)
    array[tuple(each.places for each in dimensions.values())] = column if shape else column[0]
    return tuple(dimensions), array
