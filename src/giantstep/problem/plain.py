"""The plain step, which theories and models of the features are about."""

from __future__ import annotations

from typing import Any

from giantstep.problem.label_transform import make_transform
from giantstep.problem.momentum import Momentum

PLAIN: dict[str, tuple[Any, ...]] = {
    "bias": (0.0,),
    "decay": (0.0,),
    "gradient": ("full",),
    "label_kind": ("number",),
    "label_transform": (make_transform("y"),),
    "lookahead": ("none",),
    "loss": ("square",),
    "momentum": (Momentum(),),
    "readout_between": ("frozen",),
    "rows": ("free",),
    "update": ("gradient",),
    "batches": ("fresh", "reused"),
}
"""Fields by which a step of a setting may go beyond the plain one, and their plain values."""
