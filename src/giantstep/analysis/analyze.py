"""What can be learned, before any simulation: one record for a target and an activation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.exponents import (
    OneStep,
    generative_exponent,
    one_step,
    picks_up,
    tensor_terms,
)
from giantstep.analysis.floors import Floor, Regime, floor, regimes
from giantstep.analysis.staircase import Staircase, leaps, staircase
from giantstep.analysis.subspace import Decision, name_space, span
from giantstep.errors import InputError
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import information_exponent, rank_tolerance, standard_deviation
from giantstep.problem.activation import Activation, make_activation
from giantstep.problem.target import Target, make_target

LABEL_DEGREE = 3
"""Powers of the label that reused batches are given: y, y^2, y^3 decide all known examples."""


@dataclass(frozen=True)
class Analysis:
    """Exponents, one step, staircases and floors of a target; ``as_dict`` has the stable keys."""

    target: Target
    activation: Activation
    series: HermiteSeries
    information_exponent: int | None
    generative_exponent: int | None
    leaps: tuple[int, ...]
    one_step: tuple[OneStep, ...]
    fresh: Staircase
    reused: Staircase
    floors: tuple[Floor, ...]
    regimes: tuple[Regime, ...]
    label_degree: int
    notes: tuple[str, ...]

    @property
    def leap_index(self) -> int | None:
        """Smallest k >= 1 with T_k != 0, as in arXiv 2305.18270: the information exponent."""
        return self.information_exponent

    @property
    def directions(self) -> list[str]:
        """Names of the target coordinates, the columns of every basis."""
        return [f"x{k + 1}" for k in range(self.target.r)]

    @property
    def deciding_tensor(self) -> dict[str, float]:
        """The terms of T_l, l the leap index, as Hermite products with their coefficients."""
        return tensor_terms(self.series, self.leap_index) if self.leap_index else {}

    def as_dict(self) -> dict[str, Any]:
        """The record as plain lists, numbers and strings."""
        return {
            "target": self.target.name,
            "activation": self.activation.name,
            "directions": self.directions,
            "variance": self.series.variance + self.series.tail,
            "degree": self.series.degree,
            "truncation": {"tail": self.series.tail, "quadrature_error": self.series.error},
            "leap_index": self.leap_index,
            "information_exponent": self.information_exponent,
            "generative_exponent": self.generative_exponent,
            "label_degree": self.label_degree,
            "deciding_tensor": {"degree": self.leap_index, "terms": self.deciding_tensor},
            "leaps": list(self.leaps),
            "one_step": [_one_step_dict(entry) for entry in self.one_step],
            "staircase": {
                "fresh": _staircase_dict(self.fresh),
                "reused": _staircase_dict(self.reused),
            },
            "floors": [
                {
                    "step": step,
                    "dimension": len(entry.basis),
                    "narrow": entry.narrow,
                    "by_degree": list(entry.by_degree),
                    "uncertainty": entry.uncertainty,
                }
                for step, entry in enumerate(self.floors)
            ],
            "regimes": [
                {
                    "n": entry.n_exponent,
                    "p": entry.p_exponent,
                    "basis": entry.basis.tolist(),
                    "learned": name_space(entry.basis),
                    "fitted": describe(entry.fitted, rank_tolerance(self.series)),
                    "floor": entry.floor,
                }
                for entry in self.regimes
            ],
            "notes": list(self.notes),
        }


def _decision_dict(decision: Decision) -> dict[str, Any]:
    return {
        "smallest_kept": decision.smallest_kept,
        "largest_dropped": decision.largest_dropped,
        "tolerance": decision.tolerance,
        "near_tie": decision.near_tie,
    }


def _one_step_dict(entry: OneStep) -> dict[str, Any]:
    return {
        "n": entry.batch_exponent,
        "deflated": entry.deflated,
        "degree": entry.degree,
        "dimension": len(entry.basis),
        "basis": entry.basis.tolist(),
        "learned": name_space(entry.basis),
        "blocked": entry.blocked,
        "decision": _decision_dict(entry.decision),
    }


def _staircase_dict(stairs: Staircase) -> dict[str, Any]:
    return {
        "dimensions": stairs.dimensions,
        "bases": [basis.tolist() for basis in stairs.bases],
        "adds": [name_space(stairs.added(t + 1)) for t in range(len(stairs.bases))],
        "decisions": [_decision_dict(decision) for decision in stairs.decisions],
        "converged": stairs.converged,
        "with_activation": {
            "dimensions": stairs.reached_dimensions,
            "bases": [basis.tolist() for basis in stairs.reached],
        },
        "blocked": [
            {
                "step": entry.step,
                "directions": name_space(entry.basis),
                "basis": entry.basis.tolist(),
                "coefficient": entry.coefficient,
                "label_power": entry.label_power,
            }
            for entry in stairs.blocked
        ],
    }


def describe(series: HermiteSeries, tolerance: float, most: int = 8) -> str:
    """A series as text, its largest terms first, ``...`` for the rest."""
    terms: dict[str, float] = {}
    for degree in np.unique(series.degrees).tolist():
        terms |= tensor_terms(series, degree)
    pieces = (
        sorted(terms.items(), key=lambda item: -abs(item[1]))
        if len(terms) > most
        else terms.items()
    )
    text = ""
    for name, value in list(pieces)[:most]:
        if abs(value) <= tolerance:
            continue
        sign = "-" if value < 0 else "+"
        size = f"{abs(value):.4g}"
        body = size if name == "1" else name if size == "1" else f"{size}*{name}"
        text += f" {sign} {body}" if text else (f"-{body}" if sign == "-" else body)
    return (text or "0") + (" + ..." if len(terms) > most else "")


def analyze(
    target: str | Callable[..., Any] | Target,
    activation: str | Callable[[Any], Any] | Activation = "relu",
    *,
    directions: Sequence[Sequence[float]] | Float[np.ndarray, "r m"] | None = None,
    label_degree: int = LABEL_DEGREE,
) -> Analysis:
    """Say what a two-layer network can learn from giant steps on a target.

    ``label_degree`` is the highest power of the label used for reused batches and for the
    generative exponent.
    """
    if not 1 <= label_degree <= 8:
        raise InputError(f"label_degree must be in 1..8, got {label_degree}")
    f, sigma = make_target(target, directions), make_activation(activation)
    series = f.series
    powers = {1: series}
    for j in range(2, label_degree + 1):
        power = f.label_power(j)
        if power is None:
            break
        powers[j] = power
    highest = max(powers)
    # A power may be constant (sign squared): it then has nothing to teach.
    powers = {j: s for j, s in powers.items() if standard_deviation(s) > rank_tolerance(s)}
    steps = tuple(
        one_step(series, sigma, kappa, deflated)
        for kappa in (1, 2, 3)
        for deflated in ((False, True) if kappa > 1 else (False,))
    )
    fresh = staircase({1: series}, sigma)
    reused = staircase(powers, sigma)
    learned = {1: steps[0].basis}
    by_degree = {entry.batch_exponent: entry.basis for entry in steps if entry.deflated}
    learned[2] = span(learned[1], by_degree[2])
    nothing = np.zeros((0, f.r))
    notes = [*f.notes]
    if highest < label_degree:
        notes.append(
            f"label powers beyond y^{highest} are too large to expand: reused batches and the "
            "generative exponent use those up to it"
        )
    return Analysis(
        target=f,
        activation=sigma,
        series=series,
        information_exponent=information_exponent(series),
        generative_exponent=generative_exponent(list(powers.values())),
        leaps=tuple(leaps(series)),
        one_step=steps,
        fresh=fresh,
        reused=reused,
        floors=tuple(floor(series, basis) for basis in (nothing, *fresh.bases)),
        regimes=regimes(series, learned),
        label_degree=highest,
        notes=(*notes, *_warnings(series, sigma, steps, fresh, reused)),
    )


def _warnings(
    series: HermiteSeries,
    activation: Activation,
    steps: Sequence[OneStep],
    fresh: Staircase,
    reused: Staircase,
) -> list[str]:
    """What a reader must know before trusting the record."""
    found = []
    if series.tail > 0:
        share = series.tail / (series.variance + series.tail)
        found.append(
            f"not a polynomial: expanded to degree {series.degree}, which leaves {share:.2g} of "
            f"the variance (quadrature error {series.error:.1g})"
        )
    for name, stairs in (("fresh", fresh), ("reused", reused)):
        if not stairs.converged:
            found.append(f"the {name} staircase has not converged in degree {series.degree}")
        if any(decision.near_tie for decision in stairs.decisions):
            found.append(f"the {name} staircase has a near-tie: see its singular values")
        for entry in stairs.blocked:
            names = ", ".join(name_space(entry.basis))
            reason = (
                f"its coefficient b_{entry.coefficient} is zero"
                if not picks_up(activation, entry.coefficient)
                else f"its response to the label has no part for y^{entry.label_power}"
            )
            found.append(
                f"step {entry.step} ({name}) would add {names}, but {activation.name} cannot pick "
                f"it up: {reason}"
            )
    found.extend(
        f"one step at n ~ d^{entry.batch_exponent}{' (deflated)' if entry.deflated else ''} would "
        f"learn {', '.join(name_space(entry.basis))}, but b_{entry.degree} of {activation.name} "
        "is zero"
        for entry in steps
        if entry.blocked
    )
    return found
