"""What happened in an experiment, in the sentences that stand above its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv, poch

from giantstep.analysis.analyze import Analysis
from giantstep.analysis.answer import Basis, named
from giantstep.analysis.notes import lacks, obstacle
from giantstep.analysis.staircase import added
from giantstep.analysis.subspace import span
from giantstep.experiment import (
    Experiment,
    learned_subspaces,
    order_of_batch,
    stairs_of,
    step_of_batch,
)
from giantstep.records.summary import SpectrumStep, Value, measured
from giantstep.show.tables.parts import counted, listed, plain, spread

CLEAR = 2.0
"""Times the median cosine of random neurons that a learned direction has, by two standard errors.

A direction that is above random neurons by two standard errors, but not by this factor, is weakly
aligned."""

SURE = 4.5
"""The same for a direction that the analysis says is not learned as d grows.

The noise of a step alone is larger along directions of the label: for He2 by sqrt(5) = 2.24.
"""


@dataclass(frozen=True)
class Found:
    """One entry of the staircase: its directions, and what the runs have of them after each step.

    ``count`` is how many of the directions are learned after the step ``step``, at first 0 and
    None; ``cosine`` is the median cosine with their span there, or after the last step; ``factor``
    is how many times that of random neurons it must be to count as learned; ``lost`` is the cosine
    after the last step if it does not count as learned there.  ``turned`` says that the cosine is
    large enough after the last step, but belongs to a direction of another entry.
    """

    basis: Basis
    step: int | None
    count: int
    cosine: Value
    factor: float
    lost: Value | None = None
    turned: bool = False


def directions_outcome(experiment: Experiment, most: int = 4) -> list[str]:
    """Which direction was found at which step, and which are not clearly above chance.

    At most ``most`` directions are told, in the order of the staircase.
    """
    last, d = experiment.steps[-1].step, experiment.setting.d
    learned: list[Found] = []
    weak: dict[float, list[str]] = {}
    left: list[str] = []
    turned: list[str] = []
    missing: list[Basis] = []
    for place, (_, basis) in enumerate(experiment.subspaces[:most]):
        k = len(basis)
        chance = random_cosine(k, d)
        if CLEAR * chance >= 1.0:
            return [f"d = {d} is too small to tell a learned direction from chance."]
        found = _found(experiment, place, basis, learned)
        if found.step is not None:
            learned.append(found)
        elif found.turned:
            turned.append(f"{named(basis)} ({spread(found.cosine)})")
            missing.append(basis)
        elif found.cosine.known:
            # Rows that share their noise have the mean cosine of one random direction.
            aligned = above_chance(with_error(found.cosine, k, d), mean_random_cosine(k, d), 1.0)
            size = spread(found.cosine) if aligned else plain(found.cosine.mean, 2)
            text = f"{named(basis)} (cosine {size}, random neurons {plain(chance, 2)})"
            (weak.setdefault(found.factor, []) if aligned else left).append(text)
            missing.append(basis)
    texts = [_learned(found, first=place == 0, last=last) for place, found in enumerate(learned)]
    sentences = [", ".join(texts) + "."] if texts else []
    sentences += [
        f"Weakly aligned after step {last}: {', '.join(names)}. To count as learned, a cosine must "
        f"clearly exceed {factor:g} times that of random neurons."
        for factor, names in weak.items()
    ]
    if turned:
        sentences.append(
            f"What was learned also has a cosine with {', '.join(turned)}. This adds no direction."
        )
    if left:
        sentences.append(f"Not clearly above chance after step {last}: {', '.join(left)}.")
    if missing:
        sentences += _expected(experiment, span(*missing))
    return sentences


def random_cosine(k: int, d: int) -> float:
    """Median length of the projection of a random unit vector of R^d on k directions.

    Its square has the law Beta(k/2, (d - k)/2).
    """
    return math.sqrt(float(betaincinv(0.5 * k, 0.5 * (d - k), 0.5))) if k < d else 1.0


def mean_random_cosine(k: int, d: int) -> float:
    """Mean length of the projection of a random unit vector of R^d on k directions, k < d.

    Gamma((k + 1)/2) Gamma(d/2) / (Gamma(k/2) Gamma((d + 1)/2)).
    """
    return float(poch(0.5 * k, 0.5) / poch(0.5 * d, 0.5))


def with_error(cosine: Value, k: int, d: int) -> Value:
    """The cosine; that of one run with the standard deviation of one random direction's as error.

    Neurons of one run share the noise of its batch: their number does not reduce it.
    """
    if cosine.standard_error is not None:
        return cosine
    return replace(
        cosine, standard_error=math.sqrt(max(k / d - mean_random_cosine(k, d) ** 2, 0.0))
    )


def _found(experiment: Experiment, place: int, basis: Basis, learned: Sequence[Found]) -> Found:
    """The first step after which directions of a subspace are above chance.

    Inputs that are not N(0, I) turn what a step learns: one direction may have a cosine with two
    entries of the staircase.  There the rows must span more than those ``learned`` so far.
    """
    allowed, k, d = _allowed(experiment), len(basis), experiment.setting.d
    turned, turning = False, not experiment.setting.inputs.is_gaussian
    for index, step in enumerate(experiment.steps):
        possible = allowed[step.step]
        ruled_out = possible is not None and len(_outside(possible, basis)) == len(basis)
        factor = SURE if ruled_out else CLEAR
        cosine = step.cosines[place]
        turned = False
        if above_chance(with_error(cosine, k, d), random_cosine(k, d), factor):
            known = [each.basis for each in learned if (each.step or 0) <= step.step]
            turned = turning and bool(known) and not _adds(experiment, index, known, basis, factor)
            if turned:
                continue
            count = _learned_directions(experiment, index, basis, factor)
            final = experiment.steps[-1].cosines[place]
            kept = above_chance(with_error(final, k, d), random_cosine(k, d), factor)
            return Found(basis, step.step, count, cosine, factor, None if kept else final)
    return Found(basis, None, 0, cosine, factor, turned=turned)


def _allowed(experiment: Experiment) -> list[Basis | None]:
    """What the analysis lets the network have learned after every step; None where unknown."""
    if experiment.analysis is None:
        return [None] * (experiment.setting.steps + 1)
    return learned_subspaces(experiment.analysis, experiment.model)


def _outside(possible: Basis, basis: Basis) -> Basis:
    return added(possible, basis) if len(possible) else basis


def _learned_directions(experiment: Experiment, index: int, basis: Basis, factor: float) -> int:
    """How many directions of a subspace the neurons of a run lie along, at least one.

    Singular values of the neurons' cosines with the basis, over sqrt p: root mean square cosines
    along the axes of the neurons.  Random neurons have d^(-1/2) along each.
    """
    if len(basis) == 1:
        return 1
    simulated = experiment.simulated
    cosines = simulated.overlap[:, index] / simulated.norms[:, index, :, None]
    sizes = np.linalg.svd(cosines @ basis.T, compute_uv=False) / math.sqrt(cosines.shape[1])
    d = experiment.setting.d
    axes = (with_error(measured(axis), 1, d) for axis in sizes.T)
    return max(1, sum(above_chance(axis, random_cosine(1, d), factor) for axis in axes))


def _adds(
    experiment: Experiment, index: int, known: Sequence[Basis], basis: Basis, factor: float
) -> bool:
    """Whether the neurons lie along more directions with a subspace than with the known ones."""
    before = _learned_directions(experiment, index, span(*known), factor)
    return _learned_directions(experiment, index, span(*known, basis), factor) > before


def _expected(experiment: Experiment, missing: Basis) -> Iterator[str]:
    """Whether directions that were not learned are learned as d grows, and why not."""
    analysis = experiment.analysis
    possible = _allowed(experiment)[-1]
    if analysis is None or possible is None:
        return
    never = _outside(possible, missing)
    expected = added(never, missing) if len(never) else missing
    if len(expected):
        yield f"For large d, steps of giant size are expected to learn {named(expected)} by then."
    if len(never):
        why = _obstacle(experiment, analysis, never)
        reason = f": {why}" if why else _shortage(experiment, analysis, never)
        yield f"Theory does not expect {named(never)} to be learned{reason}."


def _shortage(experiment: Experiment, analysis: Analysis, never: Basis) -> str:
    """Whether directions take more steps, more samples a step, or another activation."""
    reached = stairs_of(analysis, experiment.model).reached
    later = order_of_batch(analysis, experiment.model) <= 1 and bool(reached)
    if later and not len(_outside(reached[-1], never)):
        return " in so few steps"
    for stage in analysis.stages:
        if stage.missing is not None and len(_outside(stage.basis, never)) < len(never):
            return f": {lacks(analysis.activation, stage.missing)}"
    return " from so few samples"


def _obstacle(experiment: Experiment, analysis: Analysis, never: Basis) -> str:
    """What the activation lacks for directions that are not learned, empty if it is not that."""
    setting = experiment.model
    entry = step_of_batch(analysis, setting)
    if entry is not None:
        blocked = entry.blocked and entry.degree is not None
        offered = blocked and len(_outside(entry.basis, never)) < len(never)
        return lacks(analysis.activation, entry.degree or 0) if offered else ""
    stairs = stairs_of(analysis, setting)
    for cause in stairs.blocked:
        if cause.step <= setting.steps and len(_outside(cause.basis, never)) < len(never):
            return obstacle(analysis.activation, cause)
    return ""


def above_chance(cosine: Value, chance: float, factor: float) -> bool:
    """Whether a cosine is above ``factor`` times that of random rows, by two standard errors."""
    return cosine.known and cosine.mean - 2.0 * (cosine.standard_error or 0.0) > factor * chance


def _learned(found: Found, *, first: bool, last: int) -> str:
    name, size = named(found.basis), f"cosine {plain(found.cosine.mean, 2)}"
    if found.count < len(found.basis):
        name = f"{counted(found.count, 'direction')} in the span of {name}"
        size += " with the span"
    if found.lost is not None:
        size += f", but {plain(found.lost.mean, 2)} after step {last}"
    if found.step == 0:
        return f"{'The' if first else 'the'} start already has {name} ({size})"
    return f"{'Step' if first else 'step'} {found.step} learned {name} ({size})"


def spectra_outcome(experiment: Experiment) -> list[str]:
    """How many singular values the last step has outside the bulk, and where theory puts them."""
    measured, theory = experiment.steps[-1], experiment.predicted_steps
    sentences = []
    for matrix, name in (("weights", "W has"), ("features", "the features have")):
        entry = getattr(measured, matrix)
        if entry is None:
            continue
        if entry.outliers is None or entry.counts is None:
            first = getattr(experiment.steps[0], matrix)
            sentences.append(
                f"After step {measured.step} the largest singular value of "
                f"{name.removesuffix(' has').removesuffix(' have')} is {spread(entry.leading[0])}; "
                f"at the start it was {spread(first.leading[0])}."
            )
            continue
        predicted = None if theory is None else getattr(theory[-1], matrix)
        sentences.append(
            f"After step {measured.step} {name} {_outliers(entry)} outside the bulk"
            f"{_places(entry, predicted)}."
        )
    return [*sentences, *_alignment(experiment)]


def _outliers(entry: SpectrumStep) -> str:
    counts = entry.counts or (0,)
    low, high = min(counts), max(counts)
    if low == high:
        return "no singular value" if not low else counted(low, "singular value")
    return f"{low} to {high} singular values"


def _places(entry: SpectrumStep, predicted: SpectrumStep | None) -> str:
    if not entry.outliers:
        return ""
    text = listed(entry.outliers)
    if predicted is not None and predicted.outliers:
        text += f"; theory: {listed(predicted.outliers)}"
    return f" ({text})"


def _alignment(experiment: Experiment) -> Iterator[str]:
    """The alignment of the leading direction of W with the target."""
    weights = experiment.steps[-1].weights
    if weights is not None and weights.alignment:
        yield (
            "The leading direction of W has alignment "
            f"{spread(weights.alignment[0])} with the target directions (1: it lies in their span)."
        )
