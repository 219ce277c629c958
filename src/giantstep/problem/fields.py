"""The fields of the record in groups, the common ones first, and in words."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, TypeVar

from pydantic import BaseModel

GROUPS: dict[str, tuple[str, ...]] = {
    "Experiment": (
        *("activation", "d", "n", "p", "steps", "step_size", "batches", "noise", "runs", "seed"),
    ),
    "Network": (
        *("output_scale", "start", "start_overlaps", "start_gram", "start_rows"),
        *("readout_start", "readout_between", "bias", "bias_at"),
    ),
    "Steps": ("update", "loss", "residual", "label_transform", "deflate", "decay", "rows"),
    "Data": ("inputs", "frame", "corruption"),
    "Readout": ("ridge", "readout_n", "readout_batch", "test_n"),
    "Computation": ("record", "spectra", "engine", "device", "precision"),
}
"""Every field but the target, in the order in which people need them."""

KINDS = {
    **dict.fromkeys(("d", "n", "p", "readout_n", "test_n", "spectra"), "SIZE"),
    **dict.fromkeys(("steps", "runs", "seed", "deflate"), "INTEGER"),
    **dict.fromkeys(("noise", "corruption", "bias", "decay"), "NUMBER"),
    **dict.fromkeys(("target", "activation", "label_transform"), "EXPRESSION"),
    **dict.fromkeys(("start_overlaps", "start_gram"), "MATRIX"),
    "step_size": "SIZES",
    "ridge": "NUMBERS",
    "start_rows": "FILE",
}
"""What a field takes where it is more than one of a few words."""

BATCH = "4d"
"""What n is when it is not given, and no labels of a data set say how many there are."""

_FOLLOWING = {
    ("d", None): "1000 (of a data set: its columns)",
    ("n", BATCH): "4d (for labels of a data set all rows, in equal parts)",
    ("test_n", None): "20000 (of a data set: the rows left)",
}
"""Defaults that depend on the inputs, in words."""

WIDTH = 92
"""Columns of the list of fields in a docstring."""

Record = TypeVar("Record", bound=BaseModel)


def in_words(name: str, description: str | None, default: Any) -> str:
    """What a field is, with its default where it has one."""
    known = _FOLLOWING.get((name, default), default) if isinstance(default, str | None) else default
    shown = f"{known:g}" if isinstance(known, float) else known
    return f"{description}; {shown} by default" if shown is not None else f"{description}"


def signature_defaults(record: type[BaseModel]) -> dict[str, Any]:
    """What every field of a record is when it is not given, from its signature."""
    parameters = inspect.signature(record).parameters
    return {name: each.default for name, each in parameters.items()} | {"n": BATCH}


def explained(record: type[Record]) -> type[Record]:
    """The record with every field and its default in its docstring, from their descriptions."""
    defaults = signature_defaults(record)
    lines = [inspect.cleandoc(record.__doc__ or "")]
    for group, names in {"Target": ("target",), **GROUPS}.items():
        lines += ["", group, "-" * len(group)]
        for name in names:
            text = in_words(name, record.model_fields[name].description, defaults[name])
            lines += [f"{name} : {KINDS.get(name, 'WORD')}"]
            lines += textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    record.__doc__ = "\n".join(lines)
    return record
