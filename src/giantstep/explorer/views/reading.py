"""What the plots of few neurons show, in sentences made from their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Step = Mapping[str, Any]
"""One step of ``steps_view``."""

Names = Sequence[Sequence[str]]
"""Subspaces, each as the names of the directions that span it."""


def reading_view(steps: Sequence[Step], frame: Mapping[str, Any], d: int) -> dict[str, Any]:
    """Sentences for the three plots; those of ``neurons`` are one for every recorded step."""
    # "x2, x3 (step 2)" is a subspace of two dimensions, and the step that the staircase adds it in.
    names = [name.split(" (")[0].split(", ") for name in frame["subspaces"]]
    return {
        "neurons": [neurons_reading(step, names, d) for step in steps],
        "alignment": alignment_reading(steps, names, d),
        "errors": errors_reading(steps, frame["floors"]),
    }


def neurons_reading(step: Step, names: Names, d: int) -> str:
    """Where the neurons point after one step."""
    if step["step"] == 0:
        return f"At the start the neurons point in random directions. {_chance(d)}"
    along, others = _sorted(step, names, d)
    cosines = [f"at least {_short(cosine)} with {name}" for name, cosine in along]
    told = f"After step {step['step']} half of the neurons have a cosine of "
    first = [f"{told}{', and of '.join(cosines)}."] if cosines else []
    return " ".join([*first, *others])


def alignment_reading(steps: Sequence[Step], names: Names, d: int) -> str:
    """Which step found which direction, and what is still at chance after the last."""
    told: list[str] = []
    seen: set[str] = set()
    for step in steps:
        if step["step"] == 0:
            continue
        along, _ = _sorted(step, names, d)
        new = [(name, cosine) for name, cosine in along if name not in seen]
        seen.update(name for name, _ in new)
        if new:
            found = " and ".join(f"{name} (cosine {_short(cosine)})" for name, cosine in new)
            told.append(f"Step {step['step']} found {found}.")
        elif len(told) < 3:
            told.append(f"Step {step['step']} found no new direction.")
    return " ".join([*told, *_sorted(steps[-1], names, d)[1]]) if steps else ""


def errors_reading(steps: Sequence[Step], floors: Sequence[float | None], *, most: int = 4) -> str:
    """How the test error of the readout falls, and where it lies against the last floor.

    Of more than ``most`` errors the first two and the last are told.
    """
    errors = [_mean(step.get("test_error")) for step in steps]
    if len(errors) < 2 or any(error is None for error in errors):
        return "The theory gives no error of the readout for this setting."
    known = [error for error in errors if error is not None]
    places = ["at the start", *(f"after step {step['step']}" for step in steps[1:])]
    told = [f"{_short(error)} {place}" for error, place in zip(known, places, strict=True)]
    shown = told if len(told) <= most else [told[0], told[1], told[-1]]
    sentence = f"The test error is {', '.join(shown[:-1])} and {shown[-1]}."
    floor = floors[-1]
    if floor is None:
        return sentence
    if known[-1] >= floor or _short(known[-1]) == _short(floor):
        return f"{sentence} The floor after the last step is {_short(floor)}."
    return (
        f"{sentence} That is below the last floor, {_short(floor)}. "
        "A floor is a lower bound as d grows, and d is finite here."
    )


def _sorted(
    step: Step, names: Names, d: int, *, learned: float = 0.1, chances: float = 3.0
) -> tuple[list[tuple[str, float]], list[str]]:
    """Directions that are found after a step with their cosines, and sentences about the others.

    A direction is found where its median cosine is at least ``learned`` and ``chances`` times the
    cosine of a random neuron: what is smaller cannot be seen in the plots.
    """
    found: list[tuple[str, float]] = []
    others: list[str] = []
    for directions, value in zip(names, step["median_cosines"], strict=True):
        name, verb = " and ".join(directions), "is" if len(directions) == 1 else "are"
        cosine, chance = _mean(value), math.sqrt(len(directions) / d)
        if cosine is not None and cosine >= max(learned, chances * chance):
            found.append((name, cosine))
        elif cosine is None or cosine < chances * chance:
            others.append(f"{name} {verb} still at chance, about 1/√d = {_short(chance)}.")
        else:
            others.append(f"{name}: the cosine is {_short(cosine)}, and chance {_short(chance)}.")
    return found, others


def _chance(d: int) -> str:
    return f"Their cosines with the target are at chance, about 1/√d = {_short(d**-0.5)}."


def _mean(value: Mapping[str, Any] | None) -> float | None:
    mean = None if value is None else value["mean"]
    return None if mean is None or not math.isfinite(mean) else float(mean)


def _short(value: float) -> str:
    """Two digits after the point, or two significant ones where these would be zeros."""
    return f"{value:.2f}" if abs(value) >= 0.095 or value == 0 else f"{value:.1g}"
