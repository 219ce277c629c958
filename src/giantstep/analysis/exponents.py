"""Leap index, information and generative exponents, and what one giant step learns.

T_k = E[grad^k f]; the information exponent (leap index in DKLPS, arXiv 2305.18270) is the smallest
k >= 1 with T_k != 0.  One step at n ~ d^l learns the range of T_l and nothing below (Theorem 1 of
that paper).  The generative exponent is the smallest k over all transforms of the label.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.analysis.subspace import Decision, row_space, tidy
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import information_exponent, rank_tolerance, standard_deviation
from giantstep.problem.activation import Activation

# A coefficient b_k(s) of the activation below this is zero: quadrature leaves 1e-13.
VANISHING = 1e-9


@dataclass(frozen=True)
class OneStep:
    """What one step learns at n ~ d^batch_exponent, labels deflated below that degree or not."""

    batch_exponent: int
    deflated: bool
    degree: int | None
    basis: Float[np.ndarray, "_ r"]
    decision: Decision
    blocked: bool


def generative_exponent(label_powers: Sequence[HermiteSeries]) -> int | None:
    """Smallest information exponent over the given powers of the label."""
    exponents = [information_exponent(series) for series in label_powers]
    return min((k for k in exponents if k is not None), default=None)


def active_dimension(series: HermiteSeries) -> int:
    """Number of directions the target depends on: the rank of all its gradients."""
    sd = standard_deviation(series)
    rows, _ = row_space(series.gradient_matrix(0, None) / sd, rank_tolerance(series) / sd)
    return len(rows)


def tensor_terms(series: HermiteSeries, degree: int) -> dict[str, float]:
    """The part of one degree as {``He2(x1)*x2``: coefficient}: the tensor T_k, spelled out."""
    part = series.select(series.degrees == degree)
    tolerance = rank_tolerance(series)
    return {
        name_term(exponent): float(c) / math.sqrt(math.prod(map(math.factorial, exponent)))
        for exponent, c in zip(part.exponents.tolist(), part.coefficients, strict=True)
        if abs(c) > tolerance
    }


def name_term(exponent: Sequence[int]) -> str:
    """``He2(x1)*x2`` for the exponents (2, 1)."""
    factors = [f"x{j + 1}" if k == 1 else f"He{k}(x{j + 1})" for j, k in enumerate(exponent) if k]
    return "*".join(factors) or "1"


def one_step(
    series: HermiteSeries, activation: Activation, batch_exponent: int, deflated: bool
) -> OneStep:
    """Range of T_l (l <= batch_exponent), or of T_k with the labels deflated below degree k.

    The update of neuron i is eta a_i b_l/(l-1)! T_l[m^(l-1)] to leading order, so that a zero
    coefficient b_l of the activation blocks it.
    """
    lowest = information_exponent(
        series.select(series.degrees >= batch_exponent) if deflated else series
    )
    learned = lowest is not None and lowest <= batch_exponent
    degree = lowest if learned else None
    sd = standard_deviation(series)
    matrix = series.gradient_matrix(0, degree) if degree else np.zeros((0, series.r))
    rows, decision = row_space(matrix / sd, rank_tolerance(series) / sd)
    blocked = degree is not None and not picks_up(activation, degree)
    return OneStep(batch_exponent, deflated, degree, tidy(rows), decision, blocked)


def picks_up(activation: Activation, degree: int, scale: float = 1.0) -> bool:
    """Whether b_degree(scale) of the activation is not zero."""
    b = activation.derivative_coefficients(degree, scale)
    return abs(float(b.values[degree])) > max(VANISHING, 100.0 * b.error)
