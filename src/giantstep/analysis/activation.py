"""What an activation can pick up: its coefficients, those of its slope, its label response."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from giantstep.analysis.exponents import picks_up
from giantstep.analysis.staircase import label_response
from giantstep.errors import InputError
from giantstep.gaussian.accuracy import VANISHING
from giantstep.problem.activation import Activation, make_activation
from giantstep.records.plain import fields_of

HIGHEST_DEGREE = 8
"""Degrees listed by default."""


@dataclass(frozen=True)
class ActivationDegree:
    """c_k = E[sigma He_k]/k!, b_k = E[sigma' He_{k-1}] of the gradient, and whether b_k != 0."""

    degree: int
    coefficient: float
    slope: float
    picks_up: bool


@dataclass(frozen=True)
class ActivationAnalysis:
    """The degrees of an activation, and the powers of the label it hands on when batches repeat."""

    activation: Activation
    degrees: tuple[ActivationDegree, ...]
    label_powers: frozenset[int]
    uncertainty: float

    def as_dict(self) -> dict[str, Any]:
        """The record as plain lists, numbers and strings."""
        return fields_of(self, "activation", "label_powers") | {
            "activation": self.activation.name,
            "label_powers": sorted(self.label_powers),
        }


def analyze_activation(
    activation: str | Callable[[Any], Any] | Activation, degree: int = HIGHEST_DEGREE
) -> ActivationAnalysis:
    """Coefficients of an activation up to ``degree``.

    A gradient step moves a neuron along T_k through b_k = E[sigma'(z) He_{k-1}(z)], sigma' the
    almost-everywhere derivative; without jumps b_k = k! c_k.
    """
    if not 1 <= degree <= 32:
        raise InputError(f"degree must be in 1..32, got {degree}")
    sigma = make_activation(activation)
    values, slopes = sigma.coefficients(degree), sigma.slope_coefficients(degree)

    def nonzero(value: float, error: float) -> float:
        return value if abs(value) > max(VANISHING, 100.0 * error) else 0.0

    listed = tuple(
        ActivationDegree(
            degree=k,
            coefficient=nonzero(float(values.values[k]) / math.factorial(k), values.error),
            slope=nonzero(float(slopes.values[k]), slopes.error),
            picks_up=k > 0 and picks_up(sigma, k),
        )
        for k in range(degree + 1)
    )
    moves = any(entry.picks_up for entry in listed)
    powers = label_response(sigma) if moves else frozenset()
    return ActivationAnalysis(sigma, listed, powers, max(values.error, slopes.error))
