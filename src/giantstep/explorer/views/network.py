"""What the drawing of the network shows, in sentences: where its neurons point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from giantstep.explorer.views.trajectory import Frame
from giantstep.records.trajectory import Trajectory


def network_view(trajectory: Trajectory, frame: Frame) -> list[str]:
    """A sentence for every recorded step, about the neurons of the first run."""
    plane, names = frame.plane
    cosines = trajectory.by_run(trajectory.cosine)[0] @ plane.T
    shares = np.mean(cosines**2, axis=1).tolist()
    steps = trajectory.steps.tolist()
    return [network_reading(step, of, names) for step, of in zip(steps, shares, strict=True)]


def network_reading(step: int, shares: Sequence[float], names: Sequence[str]) -> str:
    """How much of the squared length of a neuron lies along each direction, in the mean."""
    time = "At the start" if step == 0 else f"After step {step}"
    percents = [round(100 * share) for share in shares]
    parts = [f"{percent}% along {name}" for percent, name in zip(percents, names, strict=True)]
    parts.append(f"{100 - sum(percents)}% along other directions")
    told = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{time} the squared length of a neuron is {told}, on average."
