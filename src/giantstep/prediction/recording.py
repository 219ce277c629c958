"""Fields of a prediction after every step, at the steps that its setting records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from giantstep.problem.setting import Setting
from giantstep.records.spectrum import Spectrum


def recorded(setting: Setting, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields at the recorded steps; the readout at the start has no steps."""
    kept = np.array(setting.recorded)
    if len(kept) == setting.steps + 1:
        return fields

    def chosen(name: str, value: Any) -> Any:
        if isinstance(value, Spectrum):
            return replace(value, **{n: chosen(n, v) for n, v in value.arrays().items()})
        if not isinstance(value, np.ndarray) or name == "readout":
            return value
        if name.startswith("gradient_cosine"):  # of the steps themselves, the start has none
            return value[:, kept[1:] - 1]
        return value[kept] if name in ("grid", "density") else value[:, kept]

    return {name: chosen(name, value) for name, value in fields.items()}
