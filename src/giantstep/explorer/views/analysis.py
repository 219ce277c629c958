"""The analysis of a target as the page draws it: numbers, stairs, floors, bars."""

from __future__ import annotations

from typing import Any

from giantstep.analysis.activation import ActivationAnalysis
from giantstep.analysis.analyze import Analysis
from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import completed, name_space
from giantstep.explorer.views.formulas import formulas_view


def analysis_view(analysis: Analysis, activation: ActivationAnalysis) -> dict[str, Any]:
    """The stable keys of the record, stairs to draw, and the coefficients of the activation."""
    record = analysis.as_dict()
    return record | {
        "formulas": formulas_view(analysis.target, analysis.activation),
        "stairs": {
            "fresh": stairs_view(analysis.fresh, analysis.target.r),
            "reused": stairs_view(analysis.reused, analysis.target.r),
        },
        "coefficients": activation.as_dict(),
    }


def stairs_view(stairs: Staircase, r: int) -> dict[str, Any]:
    """Steps with the directions each adds, those the activation is blind to, and what is left."""
    steps: list[dict[str, Any]] = []
    for index, basis in enumerate(stairs.bases):
        blocked = [
            {
                "directions": name_space(entry.basis),
                "coefficient": entry.coefficient,
                "label_power": entry.label_power,
            }
            for entry in stairs.blocked
            if entry.step == index + 1
        ]
        steps.append(
            {
                "step": index + 1,
                "adds": name_space(stairs.added(index + 1)),
                "dimension": len(basis),
                "blocked": blocked,
            }
        )
    learned = stairs.bases[-1]
    remaining = completed(learned)[len(learned) :]
    rising = [place for place, step in enumerate(steps, start=1) if step["adds"]]
    return {
        "steps": steps[: max(rising, default=0)],
        "dimension": len(learned),
        "directions": r,
        "missing": name_space(remaining) if len(remaining) else [],
        "decided": stairs.converged,
    }
