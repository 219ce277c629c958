"""The mean overlaps of a row after one giant step, as a formula with its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.tensors import present_terms
from giantstep.language.brief import brief
from giantstep.language.symbols import exact_number, real_symbols, sympy_library
from giantstep.problem.activation import Activation, make_activation
from giantstep.problem.target import Target, make_target

Powers = tuple[int, ...]
"""Powers of the start overlaps m_1, m_2, ... in one term."""


@dataclass(frozen=True)
class OneStepFormula:
    """Mean overlaps E[m'] of a row after one step on the labels, from start overlaps m.

    ``slopes`` are the b_k, k = 0, 1, ..., of the activation at the norm of the row; ``updates``
    has, for each direction, the coefficient of every product of powers of m.

    E[m'] = m + eta s_p a (sum_k b_{k+1}/k! T_{k+1}[m^k] + m sum_k b_{k+2}/k! <T_k, m^k>), eta the
    step size, s_p the output scale, a the output weight of the row (docs/theory/index.md, eq. (2);
    to leading order section 3 of arXiv 2305.18270).  Gaussian inputs; the residual is the label, as
    with a symmetric start.

    >>> from giantstep import one_step_formula
    >>> one_step_formula("x1 + x1*x2").updates[1]  # relu: m_1/sqrt(2 pi) and m_1 m_2^2 b_4
    {(1, 0): 0.3989422804014327, (1, 2): -0.3989422804014327}
    """

    target: Target
    activation: Activation
    norm: float
    slopes: Float[np.ndarray, " k"]
    updates: tuple[dict[Powers, float], ...]

    __repr__ = brief

    def to_sympy(self) -> Any:
        """E[m'] as a column of sympy, in the real symbols m1, m2, ..., eta, s_p and a.

        >>> from giantstep import one_step_formula
        >>> one_step_formula("x1", activation="He1").to_sympy()
        Matrix([[a*eta*s_p + m1]])
        """
        sympy = sympy_library()
        m = real_symbols(*(f"m{k + 1}" for k in range(self.target.r)))
        size = sympy.Mul(*real_symbols("eta", "s_p", "a"))

        def term(powers: Powers, value: float) -> Any:
            return sympy.Mul(exact_number(value), *map(sympy.Pow, m, powers))

        drifts = [sympy.Add(*(term(*entry) for entry in each.items())) for each in self.updates]
        return sympy.Matrix([x + size * drift for x, drift in zip(m, drifts, strict=True)])


def one_step_formula(
    target: str | Callable[..., Any] | Target,
    activation: str | Callable[[Any], Any] | Activation = "relu",
    *,
    norm: float = 1.0,
    highest: int = 24,
) -> OneStepFormula:
    """The formula of the mean overlaps after one step, for rows of one norm at the start.

    Degrees of the target up to ``highest`` count; overlaps below 1 make further ones negligible.
    ``OneStepFormula`` has the equation (section 3 of arXiv 2305.18270 to leading order).

    >>> from giantstep import one_step_formula
    >>> one_step_formula("He2(x1)", activation="He2").updates
    ({(1,): 4.0},)
    """
    neuron, function = make_activation(activation), make_target(target)
    series = function.series
    degree = min(series.degree, highest)
    # What a gradient sees: a jump of the activation has no slope.
    slopes = neuron.slope_coefficients(degree + 2, norm)
    b = np.where(np.abs(slopes.values) > max(VANISHING, 100.0 * slopes.error), slopes.values, 0.0)
    updates: list[dict[Powers, float]] = [{} for _ in range(function.r)]
    terms = present_terms(series).truncate(degree)
    for exponent, c in zip(terms.exponents, terms.coefficients, strict=True):
        # <T_k, m^k>/k! has the term c m^alpha/sqrt(alpha!), and T_{k+1}[m^k]/k! its gradient in m.
        k, alpha = int(exponent.sum()), tuple(exponent.tolist())
        weight = float(c) / math.sqrt(math.prod(map(math.factorial, alpha)))
        for j, update in enumerate(updates):
            if alpha[j]:
                _count(update, _moved(alpha, j, -1), float(b[k]) * weight * alpha[j])
            _count(update, _moved(alpha, j, 1), float(b[k + 2]) * weight)
    ordered = [_ordered(update) for update in updates]
    return OneStepFormula(function, neuron, norm, b, tuple(ordered))


def _moved(powers: Powers, place: int, by: int) -> Powers:
    """Powers with that of one overlap higher or lower."""
    return (*powers[:place], powers[place] + by, *powers[place + 1 :])


def _count(terms: dict[Powers, float], powers: Powers, value: float) -> None:
    if value:
        terms[powers] = terms.get(powers, 0.0) + value


def _ordered(terms: dict[Powers, float]) -> dict[Powers, float]:
    """Terms by degree, within one degree by m_1 first."""
    keys = sorted(terms, key=lambda powers: (sum(powers), [-k for k in powers]))
    return {powers: terms[powers] for powers in keys if terms[powers]}
