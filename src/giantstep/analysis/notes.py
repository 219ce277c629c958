"""What a reader must know beside the numbers: what is undecided, blocked, truncated or close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    found = []
    unresolved = series.tail / (series.variance + series.tail)
    for name, entry in (("leap index", information), ("generative exponent", generative)):
        if entry.undecided:
            degrees = ", ".join(f"T_{k}" for k in entry.undecided[:4])
            more = ", ..." if len(entry.undecided) > 4 else ""
            found.append(
                f"{name}: {degrees}{more} not resolved; {unresolved:.2g} of the variance lies "
                f"beyond degree {series.degree}"
            )
    for name, staircase_ in stairs.items():
        for step, decision in enumerate(staircase_.decisions, start=1):
            if decision.undecided:
                many = decision.undecided
                found.append(
                    f"step {step} ({name}): {many} direction{'s' if many > 1 else ''} not found, "
                    f"but up to {min(1.0, decision.bound**2):.2g} of the variance is unresolved"
                )
    return found


def warnings(
    series: HermiteSeries,
    activation: Activation,
    steps: Sequence[OneStep],
    stairs: Mapping[str, Staircase],
    fits: FittedDegrees,
) -> list[str]:
    """What a reader must know before trusting the record."""
    found = []
    share = series.tail / (series.variance + series.tail)
    if series.tail > 0:
        accuracy = (
            f"quadrature error {series.error:.1g}"
            if series.replicates is None
            else f"sampled, standard errors up to {series.standard_errors.max():.1g}"
        )
        found.append(
            f"not a polynomial: expanded to degree {series.degree}, which leaves {share:.2g} of "
            f"the variance ({accuracy})"
        )
    if series.replicates is not None:
        found.append(
            f"what is called absent without proof is below {RELEVANT:g} standard deviations"
        )
    if share > 1.0 - RELEVANT**2:
        found.append(
            "nothing of the target is within reach of the expansion: its coefficients there are "
            f"below {rank_tolerance(series):.0e}, and the floors stay at the full variance"
        )
    for name, entry in stairs.items():
        if any(decision.near_tie for decision in entry.decisions):
            found.append(f"the {name} staircase has a near-tie: see its singular values")
        for blocked in entry.blocked:
            names = ", ".join(name_space(blocked.basis))
            reason = (
                f"its coefficient b_{blocked.coefficient} is zero"
                if not picks_up(activation, blocked.coefficient)
                else f"its response to the label has no part for y^{blocked.label_power}"
            )
            found.append(
                f"step {blocked.step} ({name}) would add {names}, but {activation.name} cannot "
                f"pick it up: {reason}"
            )
    found.extend(
        f"one step at n ~ d^{entry.batch_exponent}{' (deflated)' if entry.deflated else ''} would "
        f"learn {', '.join(name_space(entry.basis))}, but b_{entry.degree} of {activation.name} "
        "is zero"
        for entry in steps
        if entry.blocked
    )
    missed = series.select(~fitted_terms(series, fits))
    if missed.square - missed.tail > rank_tolerance(series) ** 2:
        biased = FittedDegrees(activation, bias=1.0)
        helped = bool(np.any(fitted_terms(missed, biased)))
        found.append(
            f"without biases no sum of {activation.name} neurons has terms of {fits.missing}, "
            "which its floors count" + ("; with biases (bias > 0) it has them" if helped else "")
        )
    return found
