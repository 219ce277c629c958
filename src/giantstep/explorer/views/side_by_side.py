"""Two settings side by side: what the second learns that the first does not, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from giantstep.analysis.exponents import picks_up
from giantstep.analysis.subspace import name_space
from giantstep.experiment import stairs_of
from giantstep.explorer.views.reading import direction_names, mean_of, short, sorted_directions
from giantstep.explorer.views.trajectory import Frame

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass(frozen=True)
class Side:
    """One of two settings: what it is called, its frame, and its steps of theory or of runs."""

    name: str
    frame: Frame
    steps: Sequence[Mapping[str, Any]]

    def found(self) -> dict[str, tuple[int, float]]:
        """Directions that are found after the last step: the step that found each, and its cosine
        after that step.
        """
        names, d = direction_names(self.frame.as_dict()), self.frame.setting.d
        after = [dict(sorted_directions(step, names, d)[0]) for step in self.steps]
        places = {
            name: next(k for k, found in enumerate(after) if name in found)
            for name in (after[-1] if after else ())
        }
        return {name: (self.steps[k]["step"], after[k][name]) for name, k in places.items()}

    def missed(self, name: str, *, times: float = 3.0) -> str:
        """The end of a sentence about a direction that is not found.

        It is at chance up to so many ``times`` the cosine of a random neuron.  A cosine within as
        many numerical errors of theory does not count.
        """
        names = direction_names(self.frame.as_dict())
        together = [" and ".join(directions) for directions in names]
        if name in together:
            index = together.index(name)
            values = [step["median_cosines"][index] for step in self.steps]
            cosines = [
                mean_of(value) or 0.0
                for value in values
                if (mean_of(value) or 0.0) >= times * value.get("numerical_error", 0.0)
            ]
            chance = math.sqrt(len(names[index]) / self.frame.setting.d)
            if max(cosines, default=0.0) >= times * chance:
                return f"its cosine is at most {short(max(cosines))}, and chance {short(chance)}."
        return "it stays at chance."

    def obstacle(self, direction: str) -> tuple[int, int] | None:
        """The step that offers a direction and the degree that the activation does not have."""
        setting = self.frame.setting
        for blocked in stairs_of(self.frame.analysis, setting).blocked:
            if direction in name_space(blocked.basis) and not picks_up(
                setting.activation, blocked.coefficient
            ):
                return blocked.step, blocked.coefficient
        return None

    def error(self) -> float | None:
        """The test error of the readout after the last step."""
        return mean_of(self.steps[-1].get("test_error")) if self.steps else None


def difference_sentences(first: Side, second: Side) -> str:
    """What the second setting learns more or less than the first, and both errors."""
    known, other = first.found(), second.found()
    told = [_lost(first, second, name, *at) for name, at in known.items() if name not in other]
    told += [_found(second, first, name, *at) for name, at in other.items() if name not in known]
    if not told:
        both = " and ".join(known)
        told = [f"Both find {both}." if both else "Neither finds a direction of the target."]
    errors = first.error(), second.error()
    if errors[0] is not None and errors[1] is not None:
        told.append(
            f"The test error after the last step is {short(errors[0])} with {first.name} and "
            f"{short(errors[1])} with {second.name}."
        )
    return " ".join(told)


def _found(one: Side, other: Side, name: str, step: int, cosine: float) -> str:
    """The step of one setting that finds a direction, which the other never finds."""
    return (
        f"With {one.name} step {step} finds {name} (cosine {short(cosine)} after that step). "
        f"With {other.name} {other.missed(name)}"
    )


def _lost(first: Side, second: Side, name: str, step: int, cosine: float) -> str:
    """Why the second setting does not find a direction that the first has found."""
    obstacle = second.obstacle(name)
    if obstacle is None:
        return _found(first, second, name, step, cosine)
    offered, degree = obstacle
    which = f"the {ORDINALS[offered - 1]} step" if offered <= len(ORDINALS) else f"step {offered}"
    activation = second.frame.setting.activation.name
    return (
        f"With {second.name} {which} stays blocked, and {name} is not found: {activation} has no "
        f"part of degree {degree}."
    )
