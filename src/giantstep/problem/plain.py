"""The plain step, which theories and models of the features are about, and what goes beyond it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from giantstep.errors import shown
from giantstep.problem.label_transform import make_transform
from giantstep.problem.setting import Setting

PLAIN: dict[str, tuple[Any, ...]] = {
    "bias": (0.0,),
    "decay": (0.0,),
    "label_transform": (make_transform("y"),),
    "loss": ("square",),
    "readout_between": ("frozen",),
    "rows": ("free",),
    "update": ("gradient",),
    "batches": ("fresh", "reused"),
}
"""Fields by which a step of a setting may go beyond the plain one, and their plain values."""


def beyond_plain(
    setting: Setting,
    what: str,
    covered: Mapping[str, tuple[Any, ...] | None] = MappingProxyType({}),
) -> str | None:
    """The word by which a setting goes beyond the plain step, as an objection of ``what``.

    ``covered`` are fields in which it may, with the values there are, None for any.
    """
    if "inputs" not in covered and not setting.inputs.taken_for_gaussian:
        return f"inputs must be gaussian for {what}, got {setting.inputs.text!r}"
    for field, plain in (PLAIN | dict(covered)).items():
        if plain is not None and getattr(setting, field) not in plain:
            given, values = setting.as_dict()[field], " or ".join(str(value) for value in plain)
            return f"{field} must be {values} for {what}, got {shown(given)}"
    return None
