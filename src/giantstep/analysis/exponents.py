"""Leap index, information and generative exponents, and what one giant step learns.

T_k = E[grad^k f]; the information exponent (leap index in DKLPS, arXiv 2305.18270) is the smallest
k >= 1 with T_k != 0 (leap index).  One step at n ~ d^l learns the range of T_l and nothing below
(theorem on one step of that paper).  The generative exponent is the smallest k over all transforms
of the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.analysis.subspace import Decision, Evidence, decide, snap, tidy
from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import (
    Presence,
    information_exponent,
    present_terms,
    rank_tolerance,
    standard_deviation,
    tensor_presence,
)
from giantstep.gaussian.terms import hermite_terms
from giantstep.problem.activation import Activation


@dataclass(frozen=True)
class OneStep:
    """What one step learns at n ~ d^batch_exponent, labels deflated below that degree or not."""

    batch_exponent: int
    deflated: bool
    degree: int | None
    basis: Float[np.ndarray, "_ r"]
    decision: Decision
    blocked: bool

    @property
    def learned(self) -> Float[np.ndarray, "_ r"]:
        """What this activation learns of it: nothing where it is blocked."""
        return self.basis[:0] if self.blocked else self.basis


@dataclass(frozen=True)
class Exponent:
    """A smallest degree, and the lower degrees that could not be decided."""

    value: int | None
    undecided: tuple[int, ...]


def exponent(labels: Sequence[HermiteSeries], settled: int = 0) -> Exponent:
    """Smallest degree k >= 1 that some series surely has; degrees <= ``settled`` are proven absent.

    One series gives the information exponent, all transforms of the label the generative one.
    """
    value = min((k for s in labels if (k := information_exponent(s)) is not None), default=None)
    highest = max(s.degree for s in labels) + 1 if value is None else value - 1
    undecided = [
        k
        for k in range(settled + 1, highest + 1)
        if any(tensor_presence(s, k) is Presence.UNDECIDED for s in labels)
    ]
    return Exponent(value, tuple(undecided))


def tensor_terms(series: HermiteSeries, degree: int | None = None) -> dict[str, float]:
    """The part of one degree as {``He2(x1)*x2``: coefficient}: the tensor T_k, spelled out.

    Without a degree the whole series.
    """
    part = present_terms(series)
    if degree is not None:
        part = part.select(part.degrees == degree)
    return hermite_terms(part.exponents, part.coefficients)


def one_step(
    series: HermiteSeries, activation: Activation, batch_exponent: int, deflated: bool
) -> OneStep:
    """Range of T_l (l <= batch_exponent), or of T_k with the labels deflated below degree k.

    The update of neuron i is eta a_i b_l/(l-1)! T_l[m^(l-1)] to leading order, so that a zero
    coefficient b_l of the activation blocks it.
    """
    left = series.select(series.degrees >= batch_exponent) if deflated else series
    lowest = information_exponent(left)
    learned = lowest is not None and lowest <= batch_exponent
    degree = lowest if learned else None
    sd = standard_deviation(series)
    r = series.r
    matrices = series.gradient_matrices(0, degree)[0] / sd if degree else np.zeros((1, 0, r))
    rows, decision, tilt = decide(
        [Evidence(matrices, rank_tolerance(series) / sd)], np.eye(r), truncation=0.0
    )
    blocked = degree is not None and not picks_up(activation, degree)
    return OneStep(batch_exponent, deflated, degree, tidy(snap(rows, tilt)), decision, blocked)


def picks_up(activation: Activation, degree: int, scale: float = 1.0) -> bool:
    """Whether the gradient's slope coefficient of that degree is not zero."""
    # One target after the other asks the same of an expression; a callable may change meanwhile.
    decided = _slope_is_there if activation.expression is None else _known_slope_is_there
    return decided(activation, degree, scale)


def _slope_is_there(activation: Activation, degree: int, scale: float) -> bool:
    b = activation.slope_coefficients(degree, scale)
    return abs(float(b.values[degree])) > max(VANISHING, 100.0 * b.error)


_known_slope_is_there = lru_cache(maxsize=1024)(_slope_is_there)
