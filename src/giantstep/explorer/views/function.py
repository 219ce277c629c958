"""What the network computes, as the page draws it beside the target, with a sentence a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.explorer.views.trajectory import Frame, shown_neurons
from giantstep.prediction.narrow.fitted_function import FittedFunction, fitted_function, lacks
from giantstep.records.trajectory import Trajectory

FLAT = 0.01
"""Share of the target's variance below which a surface is called flat: a tenth of its height."""


def function_view(prediction: Trajectory, frame: Frame, *, log2_points: int) -> dict[str, Any]:
    """Surfaces of target and network over the plane; ``complaint`` says why there are none.

    ``readout`` are the fitted weights of the neurons that ``neurons_view`` sends.
    """
    plane, names = frame.plane
    reason = lacks(prediction)
    if reason is not None:
        return {"complaint": f"What the network computes is not drawn: {reason}."}
    function = fitted_function(prediction, plane, log2_points=log2_points)
    steps = prediction.steps[function.places].tolist()
    rest = rest_of_target(prediction, function, len(plane))
    return {
        "complaint": None,
        "places": function.places.tolist(),
        "grid": _short(function.grid),
        "target": _short(function.target),
        "network": _short(function.network),
        "readout": _short(function.readout[:, shown_neurons(prediction)]),
        "reading": [
            f"{function_reading(step, names, function, at)}{rest[at]}"
            for at, step in enumerate(steps)
        ],
    }


def function_reading(step: int, names: Sequence[str], function: FittedFunction, at: int) -> str:
    """Along which directions the network varies after a step, and how much of the target it has."""
    time = "At the start" if step == 0 else f"After step {step}"
    pairs = list(zip(names, function.varies[at].tolist(), strict=True))
    followed = [name for name, share in pairs if share >= FLAT]
    flat = [name for name, share in pairs if share < FLAT]
    share = f"{max(float(function.explained[at]), 0.0):.0%}"
    explained = f"It explains {share} of the target's variance over these directions."
    if len(names) == 1:
        explained = f"It explains {share} of the target's variance along {names[0]}."
    if not followed:
        return f"{time} the network is nearly flat along {' and '.join(names)}. {explained}"
    if flat:
        return (
            f"{time} the network follows {followed[0]} only; along {flat[0]} it is flat. "
            f"{explained}"
        )
    return f"{time} the network follows {' and '.join(followed)}. {explained}"


def rest_of_target(prediction: Trajectory, function: FittedFunction, shown: int) -> list[str]:
    """After each step how much of the whole target is explained, where it has more directions.

    The share is 1 - test error / variance.  It is left out where the test error is not known, and
    where it contains noise of the labels.
    """
    setting, errors = prediction.setting, prediction.test_error
    if setting.target.r <= shown:
        return [""] * len(function.places)
    averaged = " The other directions of the target are averaged out here."
    if errors is None or setting.label_noise:
        return [averaged] * len(function.places)
    series = setting.target.series
    unexplained = errors.mean(axis=0)[function.places] / (series.variance + series.tail)
    return [
        f" The target has other directions: over all of them it explains {max(share, 0.0):.0%}."
        if np.isfinite(share)
        else averaged
        for share in (1.0 - unexplained).tolist()
    ]


def _short(values: Float[np.ndarray, "..."], digits: int = 4) -> list[Any]:
    """Numbers with so many digits of the largest one: the page draws a few hundred pixels."""
    largest = float(np.max(np.abs(values), initial=0.0))
    places = digits - 1 - int(np.floor(np.log10(largest))) if largest > 0.0 else 0
    return np.round(values, places).tolist()
