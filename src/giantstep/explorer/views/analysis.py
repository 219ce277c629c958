"""The analysis of a target as the page draws it: numbers, stairs, floors, bars."""

from __future__ import annotations

from typing import Any

from giantstep.analysis.activation import ActivationAnalysis
from giantstep.analysis.analyze import Analysis
from giantstep.analysis.notes import obstacle
from giantstep.analysis.staircase import Staircase, added
from giantstep.analysis.subspace import completed, name_space, span
from giantstep.explorer.views.formulas import formulas_view
from giantstep.problem.activation import Activation


def analysis_view(analysis: Analysis, activation: ActivationAnalysis) -> dict[str, Any]:
    """The stable keys of the record, stairs to draw, and the coefficients of the activation."""
    record = analysis.as_dict()
    return record | {
        "formulas": formulas_view(analysis.target, analysis.activation),
        "stairs": {
            "fresh": stairs_view(analysis.fresh, analysis.activation),
            "reused": stairs_view(analysis.reused, analysis.activation),
        },
        "coefficients": activation.as_dict(),
    }


def stairs_view(stairs: Staircase, activation: Activation) -> dict[str, Any]:
    """Steps with the directions that this activation learns, and what it does not learn.

    ``blocked`` are directions that a step offers and the activation cannot use, with the reason;
    ``missing`` are those that no activation learns from n ~ d samples a step.
    """
    nothing = stairs.bases[0][:0]
    pairs = zip([nothing, *stairs.reached], stairs.reached, strict=False)
    steps = [
        {"step": step, "adds": name_space(added(before, now)), "dimension": len(now)}
        for step, (before, now) in enumerate(pairs, start=1)
    ]
    rising = [place for place, step in enumerate(steps, start=1) if step["adds"]]
    offered, learned = stairs.bases[-1], stairs.reached[-1]
    remaining = completed(offered)[len(offered) :]
    return {
        "steps": steps[: max(rising, default=0)],
        "dimension": len(learned),
        "directions": offered.shape[1],
        "blocked": blocked_view(stairs, activation),
        "missing": name_space(remaining) if len(remaining) else [],
        "decided": stairs.converged,
    }


def blocked_view(stairs: Staircase, activation: Activation) -> list[dict[str, Any]]:
    """Directions that a step offers and that are never learned, with the step and the reason.

    Where a step could use a direction itself, an earlier one that it builds on is blocked.
    """
    learned = stairs.reached[-1]
    found = []
    for step in range(1, len(stairs.bases) + 1):
        offered = stairs.added(step)
        left = added(learned, offered) if len(offered) else offered
        if not len(left):
            continue
        causes = [entry for entry in stairs.blocked if entry.step == step]
        reason = (
            obstacle(activation, causes[0])
            if causes
            else "it needs a direction that is blocked before"
        )
        found.append({"step": step, "directions": name_space(left), "reason": reason})
        learned = span(learned, left)
    return found
