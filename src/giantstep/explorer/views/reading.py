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
    names = direction_names(frame)
    return {
        "neurons": [neurons_reading(step, names, d) for step in steps],
        "alignment": alignment_reading(steps, names, d),
        "errors": errors_reading(steps, frame["floors"]),
    }


def direction_names(frame: Mapping[str, Any]) -> Names:
    """The directions of each subspace: "x2, x3 (step 2)" has two, and the step that adds them."""
    return [name.split(" (")[0].split(", ") for name in frame["subspaces"]]


def neurons_reading(step: Step, names: Names, d: int) -> str:
    """Where the neurons point after one step."""
    if step["step"] == 0:
        return f"At the start the neurons point in random directions. {_chance(d)}"
    along, others = sorted_directions(step, names, d)
    cosines = [f"at least {short(cosine)} with {spanned(name)}" for name, cosine in along]
    told = f"After step {step['step']} half of the neurons have a |cosine| of "
    first = [f"{told}{', and of '.join(cosines)}."] if cosines else []
    return " ".join([*first, *others])


def alignment_reading(steps: Sequence[Step], names: Names, d: int) -> str:
    """Which step found which direction, and what is still at chance after the last."""
    told: list[str] = []
    idle: list[int] = []
    seen: set[str] = set()
    for step in steps:
        if step["step"] == 0:
            continue
        along, _ = sorted_directions(step, names, d)
        new = [(name, cosine) for name, cosine in along if name not in seen]
        seen.update(name for name, _ in new)
        if not new:
            idle.append(step["step"])
            continue
        found = " and ".join(f"{name} ({_cosine_with(name, cosine)})" for name, cosine in new)
        told += [*_found_nothing(idle), f"Step {step['step']} found {found}."]
        idle = []
    told += _found_nothing(idle)
    return " ".join([*told, *sorted_directions(steps[-1], names, d)[1]]) if steps else ""


def _found_nothing(steps: Sequence[int]) -> list[str]:
    """A sentence about consecutive steps that found no direction, none where there are none."""
    if not steps:
        return []
    which = f"Step {steps[0]}" if len(steps) == 1 else f"Steps {steps[0]} to {steps[-1]}"
    return [f"{which} found no new direction."]


def spanned(name: str) -> str:
    """What a cosine is measured with: a direction, or the space that several of them span."""
    count = 1 + name.count(" and ")
    return name if count == 1 else f"the {'plane' if count == 2 else 'space'} of {name}"


def _cosine_with(name: str, cosine: float) -> str:
    count = 1 + name.count(" and ")
    space = "" if count == 1 else f" with their {'plane' if count == 2 else 'space'}"
    return f"|cosine| {short(cosine)}{space}"


def errors_reading(steps: Sequence[Step], floors: Sequence[float | None], *, most: int = 4) -> str:
    """How the test error of the readout falls, and where it lies against the last floor.

    Of more than ``most`` errors the first two and the last are told.
    """
    errors = [mean_of(step.get("test_error")) for step in steps]
    if len(errors) < 2 or any(error is None for error in errors):
        return "The theory gives no error of the readout for this setting."
    known = [error for error in errors if error is not None]
    places = ["at the start", *(f"after step {step['step']}" for step in steps[1:])]
    told = [f"{short(error)} {place}" for error, place in zip(known, places, strict=True)]
    shown = told if len(told) <= most else [told[0], told[1], told[-1]]
    sentence = f"The test error is {', '.join(shown[:-1])} and {shown[-1]}."
    floor = floors[-1]
    if floor is None:
        return sentence
    if known[-1] >= floor or short(known[-1]) == short(floor):
        return f"{sentence} The floor after the last step is {short(floor)}."
    return (
        f"{sentence} That is below the last floor, {short(floor)}. "
        "A floor is a lower bound as d grows, and d is finite here."
    )


def sorted_directions(
    step: Step, names: Names, d: int, *, learned: float = 0.1, times: float = 3.0
) -> tuple[list[tuple[str, float]], list[str]]:
    """Directions that are found after a step with their cosines, and sentences about the others.

    A direction is found where its median cosine is at least ``learned`` and so many ``times`` the
    cosine of a random neuron: what is smaller cannot be seen in the plots.  A smaller cosine is
    told where it is as many times its numerical error; one that theory leaves open is below that.
    """
    found: list[tuple[str, float]] = []
    others: list[str] = []
    for directions, value in zip(names, step["median_cosines"], strict=True):
        name, verb = " and ".join(directions), "is" if len(directions) == 1 else "are"
        cosine, chance = mean_of(value), math.sqrt(len(directions) / d)
        error = value.get("numerical_error", 0.0)
        if cosine is not None and cosine >= max(learned, times * chance):
            found.append((name, cosine))
        elif chance >= error if cosine is None else cosine < times * chance:
            size = "1/√d" if len(directions) == 1 else rf"$\sqrt{{{len(directions)}/d}}$"
            others.append(f"{name} {verb} still at chance, about {size} = {short(chance)}.")
        elif cosine is None or cosine < times * error:
            others.append(
                f"{name}: the |cosine| is too small for the numerical accuracy of theory, about "
                f"{short(error)}."
            )
        else:
            others.append(f"{name}: the |cosine| is {short(cosine)}, and chance {short(chance)}.")
    return found, others


def _chance(d: int) -> str:
    return f"Their cosines with the target are at chance, about 1/√d = {short(d**-0.5)}."


def mean_of(value: Mapping[str, Any] | None) -> float | None:
    mean = None if value is None else value["mean"]
    return None if mean is None or not math.isfinite(mean) else float(mean)


def short(value: float) -> str:
    """Two digits after the point, or two significant ones where these would be zeros."""
    return f"{value:.2f}" if abs(value) >= 0.095 or value == 0 else f"{value:.1g}"
