"""What happened in an experiment, in the sentences that stand above its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

from giantstep.analysis.answer import named
from giantstep.experiment import Experiment
from giantstep.records.summary import SpectrumStep, Value
from giantstep.show.tables.parts import counted, listed, plain, spread


def directions_outcome(experiment: Experiment, most: int = 4) -> list[str]:
    """Which direction was found at which step, and which are still at chance.

    At most ``most`` directions are told, in the order of the staircase.
    """
    last = experiment.steps[-1].step
    d = experiment.setting.d
    learned: list[str] = []
    left: list[str] = []
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
    sentences = [", ".join(learned) + "."] if learned else []
    if left:
        verb = "is" if len(left) == 1 and len(experiment.subspaces[-1][1]) == 1 else "are"
        sentences.append(f"After step {last} {', '.join(left)} {verb} still at chance.")
    return sentences


def above_chance(cosine: Value, chance: float) -> bool:
    """Whether a median cosine is above three times that of random rows, by two standard errors."""
    return cosine.known and cosine.mean - 2.0 * (cosine.standard_error or 0.0) > 3.0 * chance


def _learned(step: int, cosine: Value, name: str, earlier: list[str]) -> str:
    size = f"(cosine {plain(cosine.mean, 2)})"
    if step == 0:
        return f"{'the' if earlier else 'The'} start already has {name} {size}"
    return f"{'step' if earlier else 'Step'} {step} found {name} {size}"


def spectra_outcome(experiment: Experiment) -> list[str]:
    """How many singular values the last step has outside the bulk, and where theory puts them."""
    measured, theory = experiment.steps[-1], experiment.predicted_steps
    sentences = []
    for matrix, name in (("weights", "W has"), ("features", "the features have")):
        entry = getattr(measured, matrix)
        if entry is None or entry.outliers is None or entry.counts is None:
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
            f"{spread(weights.alignment[0])} with the target directions."
        )
