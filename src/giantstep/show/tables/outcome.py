"""What happened in an experiment, in the sentences that stand above its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

from giantstep.analysis.answer import Basis, lacks, named
from giantstep.analysis.staircase import added
from giantstep.analysis.subspace import span
from giantstep.experiment import Experiment, learned_subspaces
from giantstep.records.summary import SpectrumStep, Value
from giantstep.show.tables.parts import counted, listed, plain, spread


def directions_outcome(experiment: Experiment, most: int = 4) -> list[str]:
    """Which direction was found at which step, and which are not clearly above chance.

    At most ``most`` directions are told, in the order of the staircase.
    """
    last = experiment.steps[-1].step
    d = experiment.setting.d
    learned: list[str] = []
    left: list[str] = []
    missing: list[Basis] = []
    for place, (_, basis) in enumerate(experiment.subspaces[:most]):
        chance = math.sqrt(len(basis) / d)
        if 3.0 * chance >= 1.0:
            return [f"d = {d} is too small to tell a learned direction from chance."]
        values = [(step.step, step.cosines[place]) for step in experiment.steps]
        first = next((entry for entry in values if above_chance(entry[1], chance)), None)
        if first is not None:
            learned.append(_learned(*first, named(basis), learned))
        elif values[-1][1].known:
            size = f"{plain(values[-1][1].mean, 2)}, chance {plain(chance, 2)}"
            left.append(f"{named(basis)} (cosine {size})")
            missing.append(basis)
    sentences = [", ".join(learned) + "."] if learned else []
    if left:
        sentences.append(f"Not clearly above chance after step {last}: {', '.join(left)}.")
        sentences += _expected(experiment, span(*missing))
    return sentences


def _expected(experiment: Experiment, missing: Basis) -> Iterator[str]:
    """Whether directions that were not learned are learned as d grows, and why not."""
    analysis = experiment.analysis
    if analysis is None:
        return
    possible = learned_subspaces(analysis, experiment.model)[-1]
    if possible is None:
        return
    never = added(possible, missing) if len(possible) else missing
    expected = added(never, missing) if len(never) else missing
    if len(expected):
        verb = "is" if len(expected) == 1 else "are"
        yield f"For large d {named(expected)} {verb} expected to be learned by then."
    if not len(never):
        return
    blocked = () if experiment.stairs is None else experiment.stairs.blocked
    causes = [entry for entry in blocked if len(added(entry.basis, never)) < len(never)]
    why = lacks(analysis.activation, causes[0].coefficient) if causes else ""
    reason = f": {why}" if why else " from so few samples"
    yield f"Theory does not expect {named(never)} to be learned{reason}."


def above_chance(cosine: Value, chance: float) -> bool:
    """Whether a median cosine is above three times that of random rows, by two standard errors."""
    return cosine.known and cosine.mean - 2.0 * (cosine.standard_error or 0.0) > 3.0 * chance


def _learned(step: int, cosine: Value, name: str, earlier: list[str]) -> str:
    size = f"(cosine {plain(cosine.mean, 2)})"
    if step == 0:
        return f"{'the' if earlier else 'The'} start already has {name} {size}"
    return f"{'step' if earlier else 'Step'} {step} learned {name} {size}"


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
