"""A prediction or some runs as the page draws them: steps, subspaces, floors, neurons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.analysis.analyze import Analysis
from giantstep.analysis.staircase import target_plane
from giantstep.experiment import floors_of, stairs_of, subspaces_of
from giantstep.explorer.views.formulas import formulas_view
from giantstep.problem.setting import Setting
from giantstep.records.summary import summarize
from giantstep.records.trajectory import Trajectory


@dataclass(frozen=True)
class Frame:
    """What trajectories of a setting are seen against: its subspaces, its plane, its floors."""

    analysis: Analysis
    setting: Setting

    @cached_property
    def subspaces(self) -> list[tuple[str, Float[np.ndarray, "k r"]]]:
        return subspaces_of(self.analysis, self.setting)

    @cached_property
    def plane(self) -> tuple[Float[np.ndarray, "k r"], tuple[str, ...]]:
        """The first two directions that are learned, one where the target has no second."""
        return target_plane(stairs_of(self.analysis, self.setting), self.setting.target.r)

    def as_dict(self) -> dict[str, Any]:
        """Names of subspaces and directions, and the floors after every recorded step.

        ``floors`` are those of the setting's activation, ``floors_any`` those of any.
        """
        floors, floors_any = (
            floors_of(self.analysis, self.setting, any_activation=best) for best in (False, True)
        )
        return {
            "formulas": formulas_view(self.setting.target, self.setting.activation),
            "recorded": list(self.setting.recorded),
            "subspaces": [name for name, _ in self.subspaces],
            "plane": list(self.plane[1]),
            "floors": [floors[step] for step in self.setting.recorded],
            "floors_any": [floors_any[step] for step in self.setting.recorded],
        }


def steps_view(trajectory: Trajectory, frame: Frame) -> list[dict[str, Any]]:
    """Lengths, cosines and errors after every recorded step, means with standard errors.

    Cosines of theory also have a ``numerical_error``: what its quadrature leaves open of them.
    """
    steps = [step.as_dict() for step in summarize(trajectory, dict(frame.subspaces))]
    for index, (_, basis) in enumerate(frame.subspaces):
        errors = numerical_errors(trajectory, basis)
        for step, error in zip(steps, errors.tolist(), strict=True):
            step["median_cosines"][index]["numerical_error"] = error
    return steps


def numerical_errors(
    trajectory: Trajectory, basis: Float[np.ndarray, "k r"]
) -> Float[np.ndarray, " t"]:
    """Standard error by quadrature of the cosines with a subspace after each step.

    It is the root mean square over rows and neurons, and 0 for runs.
    """
    if trajectory.overlap_uncertainty is None:
        return np.zeros(len(trajectory.steps))
    squares = np.sum(trajectory.overlap_uncertainty**2 @ (basis**2).T, axis=-1)
    norms = np.maximum(trajectory.norms, np.finfo(float).tiny)
    return np.sqrt(np.mean(squares / norms**2, axis=(0, 2)))


def neurons_view(trajectory: Trajectory, frame: Frame) -> list[Any]:
    """Cosines with the directions of the plane, by run, step and neuron."""
    plane, _ = frame.plane
    cosines = trajectory.by_run(trajectory.cosine)
    return (cosines[:, :, shown_neurons(trajectory)] @ plane.T).tolist()


def shown_neurons(
    trajectory: Trajectory, *, most_neurons: int = 400, most_places: int = 2**15
) -> Int[np.ndarray, " k"]:
    """The neurons that are drawn, by their numbers.

    Of a run ``most_neurons`` are drawn, evenly spread (more lie on top of each other), and
    ``most_places`` are sent, all steps counted: half a megabyte.
    """
    _, steps, p, _ = trajectory.overlap.shape
    count = min(p, most_neurons, max(1, most_places // steps))
    return np.linspace(0, p - 1, count).round().astype(int)
