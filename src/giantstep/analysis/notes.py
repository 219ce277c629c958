"""What a reader must know beside the numbers: what is undecided, blocked, truncated or close."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from giantstep.analysis.exponents import Exponent, OneStep, picks_up
from giantstep.analysis.fitted_degrees import FittedDegrees
from giantstep.analysis.floors import fitted_terms
from giantstep.analysis.staircase import Blocked, Staircase
from giantstep.analysis.subspace import name_list
from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import RELEVANT, rank_tolerance
from giantstep.problem.activation import Activation


def undecided(
    series: HermiteSeries,
    information: Exponent,
    generative: Exponent,
    stairs: Mapping[str, Staircase],
) -> list[str]:
    """What could not be settled, in sentences."""
    sentences = []
    unresolved = series.tail / (series.variance + series.tail)
    for name, entry in (("leap index", information), ("generative exponent", generative)):
        if entry.undecided:
            degrees = ", ".join(f"T_{k}" for k in entry.undecided[:4])
            more = ", ..." if len(entry.undecided) > 4 else ""
            sentences.append(
                f"{name}: it is not known whether {degrees}{more} are zero. {unresolved:.2%} of "
                f"the variance lies beyond degree {series.degree}."
            )
    for name, staircase in stairs.items():
        for step, decision in enumerate(staircase.decisions, start=1):
            if decision.undecided:
                many = decision.undecided
                sentences.append(
                    f"step {step} ({name} batches): {many} direction{'s' if many > 1 else ''} not "
                    f"found, but up to {min(1.0, decision.bound**2):.2%} of the variance could "
                    "not be computed."
                )
    return sentences


def warnings(
    series: HermiteSeries,
    activation: Activation,
    steps: Sequence[OneStep],
    stairs: Mapping[str, Staircase],
    fits: FittedDegrees,
) -> list[str]:
    """What a reader must know before trusting the record."""
    return [
        *_of_expansion(series),
        *_near_ties(stairs),
        *_of_blocked(stairs, activation),
        *(_of_blocked_step(entry, activation) for entry in steps if entry.blocked),
        *_of_missing_degrees(series, activation, fits),
    ]


def _of_expansion(series: HermiteSeries) -> Iterator[str]:
    """How much of the target its truncated or sampled series leaves."""
    share = series.tail / (series.variance + series.tail)
    if series.tail > 0:
        accuracy = (
            f"quadrature error {series.error:.1g}"
            if series.replicates is None
            else f"sampled, standard errors up to {series.standard_errors.max():.1g}"
        )
        yield (
            f"The target is not a polynomial. Its expansion stops at degree {series.degree} and "
            f"leaves out {share:.2g} of the variance ({accuracy})."
        )
    if series.replicates is not None:
        yield (f"Parts of the target below {RELEVANT:g} of its standard deviation count as absent.")
    if share > 1.0 - RELEVANT**2:
        yield (
            "The expansion contains nothing of the target: all its coefficients are below "
            f"{rank_tolerance(series):.0e}. The floors stay at the full variance."
        )


def _near_ties(stairs: Mapping[str, Staircase]) -> Iterator[str]:
    """Staircases whose rank is close to a tie."""
    for name, staircase in stairs.items():
        if any(decision.near_tie for decision in staircase.decisions):
            yield (
                f"A direction of the staircase with {name} batches is a near-tie: its singular "
                "value is close to the tolerance below which it counts as zero."
            )


def _of_blocked(stairs: Mapping[str, Staircase], activation: Activation) -> list[str]:
    """Directions that the activation cannot learn, each once for all batches that offer it so."""
    batches: dict[tuple[int, str, str], list[str]] = {}
    for name, staircase in stairs.items():
        for blocked in staircase.blocked:
            directions = name_list(blocked.basis)
            reason = obstacle(activation, blocked)
            batches.setdefault((blocked.step, directions, reason), []).append(name)
    return [
        f"With {' or '.join(names)} batches step {step} would add {directions}, but "
        f"{activation.name} cannot learn it: {reason}."
        for (step, directions, reason), names in batches.items()
    ]


def obstacle(activation: Activation, blocked: Blocked) -> str:
    """Why an activation does not learn directions that a step offers."""
    if picks_up(activation, blocked.coefficient):
        power = f"y^{blocked.label_power}"
        return f"a step with {activation.name} does not depend on {power}"
    return lacks(activation, blocked.coefficient)


def lacks(activation: Activation, degree: int) -> str:
    """Why a gradient step with an activation cannot use target parts of a degree."""
    coefficient = activation.coefficients(degree)
    if abs(float(coefficient.values[degree])) <= max(VANISHING, 100.0 * coefficient.error):
        return f"{activation.name} has no part of degree {degree}"
    # A jump: the function has the part, its derivative almost everywhere does not.
    return f"the slope of {activation.name} has no part of degree {degree - 1}"


def _of_blocked_step(entry: OneStep, activation: Activation) -> str:
    """What one step would learn with another activation."""
    assert entry.degree is not None, "a step is blocked through a degree"
    removed = f" with degrees below {entry.batch_exponent} removed" if entry.deflated else ""
    return (
        f"One step at n ~ d^{entry.batch_exponent}{removed} would learn "
        f"{name_list(entry.basis)}, but {activation.name} cannot: "
        f"{lacks(activation, entry.degree)}."
    )


def _of_missing_degrees(
    series: HermiteSeries, activation: Activation, fits: FittedDegrees
) -> Iterator[str]:
    """Terms of the target whose degree no neuron of the activation has."""
    missed = series.select(~fitted_terms(series, fits))
    if missed.square - missed.tail > rank_tolerance(series) ** 2:
        helped = np.any(fitted_terms(missed, FittedDegrees(activation, bias=1.0)))
        yield (
            f"Without biases a sum of {activation.name} neurons has no terms of {fits.missing}. "
            "These terms of the target count in the floors."
            + " With biases (bias > 0) they can be fitted."
            * bool(helped)
        )
