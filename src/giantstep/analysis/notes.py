"""What a reader must know beside the numbers: what is undecided, blocked, truncated or close."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from giantstep.analysis.exponents import Exponent, OneStep, picks_up
from giantstep.analysis.fitted_degrees import FittedDegrees
from giantstep.analysis.floors import fitted_terms
from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import name_space
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
        *(note for name, entry in stairs.items() for note in _of_stairs(name, entry, activation)),
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


def _of_stairs(name: str, stairs: Staircase, activation: Activation) -> Iterator[str]:
    """Near-ties of a staircase, and directions that the activation cannot learn."""
    if any(decision.near_tie for decision in stairs.decisions):
        yield (
            f"A direction of the staircase with {name} batches is a near-tie: its singular value "
            "is close to the tolerance below which it counts as zero."
        )
    for blocked in stairs.blocked:
        reason = (
            f"a step with it does not depend on y^{blocked.label_power}"
            if picks_up(activation, blocked.coefficient)
            else f"its coefficient b_{blocked.coefficient} is zero"
        )
        yield (
            f"Step {blocked.step} ({name} batches) would add "
            f"{', '.join(name_space(blocked.basis))}, but {activation.name} cannot learn it: "
            f"{reason}."
        )


def _of_blocked_step(entry: OneStep, activation: Activation) -> str:
    """What one step would learn with another activation."""
    removed = f" with degrees below {entry.batch_exponent} removed" if entry.deflated else ""
    return (
        f"One step at n ~ d^{entry.batch_exponent}{removed} would learn "
        f"{', '.join(name_space(entry.basis))}, but {activation.name} cannot: its coefficient "
        f"b_{entry.degree} is zero."
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
