"""Target and activation as formulas, from their syntax trees."""

from __future__ import annotations

from giantstep.language.latex import latex
from giantstep.problem.activation import Activation
from giantstep.problem.target import Target


def formulas_view(target: Target, activation: Activation) -> dict[str, str]:
    """LaTeX between dollar signs for each of the two that has an expression."""
    found = {}
    if target.expression is not None:
        found["target"] = f"$f(x) = {latex(target.expression)}$"
    if activation.expression is not None:
        found["activation"] = rf"$\sigma(z) = {latex(activation.expression, variable='z')}$"
    return found
