"""What the network computes, as the page draws it beside the target, with a sentence a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.explorer.views.reading import short
from giantstep.explorer.views.trajectory import Frame, shown_neurons
from giantstep.prediction.narrow.fitted_function import FittedFunction, fitted_function, lacks
from giantstep.records.trajectory import Trajectory

FLAT = 0.01
"""Share of the target's variance below which a surface is called flat: a tenth of its height."""

LITTLE = 0.02
"""Share of the target's variance from which on a network with a flat surface has learned a little.

A surface of a tenth of the target's height explains up to a fifth of its variance."""


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
    told = explained_sentences(prediction, function, names)
    return {
        "complaint": None,
        "places": function.places.tolist(),
        "grid": _short(function.grid),
        "target": _short(function.target),
        "network": _short(function.network),
        "readout": _short(function.readout[:, shown_neurons(prediction)]),
        "reading": [
            function_reading(step, names, function.varies[at].tolist(), *told[at])
            for at, step in enumerate(steps)
        ],
    }


def function_reading(
    step: int, names: Sequence[str], varies: Sequence[float], share: float, explained: str
) -> str:
    """Along which directions the network varies after a step, and how much of the target it has.

    ``share`` of the variance is explained, which the sentence ``explained`` says.
    """
    time = "At the start" if step == 0 else f"After step {step}"
    followed = [name for name, along in zip(names, varies, strict=True) if along >= FLAT]
    flat = [name for name, along in zip(names, varies, strict=True) if along < FLAT]
    if not followed:
        shape = "varies little" if share >= LITTLE else "is nearly flat"
        return f"{time} the network {shape} along {' and '.join(names)}. {explained}"
    if flat:
        return (
            f"{time} the network follows {followed[0]} only; along {flat[0]} it is flat. "
            f"{explained}"
        )
    return f"{time} the network follows {' and '.join(followed)}. {explained}"


def explained_sentences(
    prediction: Trajectory, function: FittedFunction, names: Sequence[str]
) -> list[tuple[float, str]]:
    """The share of the target's variance that is explained after each step, and a sentence.

    The share is 1 - test error / variance: it counts all inputs, as the plot of the errors does.
    Where the test error is not known, or contains noise of the labels, the share is that of the
    surface, which has less to explain.
    """
    setting, errors = prediction.setting, prediction.test_error
    variance = setting.target.series.variance + setting.target.series.tail
    others = " The drawing averages over the other directions of the target."
    averaged = others if setting.target.r > len(names) else ""
    known = np.full(len(function.places), np.nan)
    if errors is not None and not setting.label_noise:
        known = errors.mean(axis=0)[function.places]
    told = []
    for error, of_surface in zip(known.tolist(), function.explained.tolist(), strict=True):
        share = max(1.0 - error / variance if np.isfinite(error) else of_surface, 0.0)
        sentence = (
            f"The test error is {short(error)} and the target's variance {short(variance)}: "
            f"{share:.0%} of the variance is explained."
            if np.isfinite(error)
            else f"Averaged over all other inputs it explains {share:.0%} of what the target "
            f"varies by along {' and '.join(names)}."
        )
        told.append((share, sentence + averaged))
    return told


def _short(values: Float[np.ndarray, "..."], digits: int = 4) -> list[Any]:
    """Numbers with so many digits of the largest one: the page draws a few hundred pixels."""
    largest = float(np.max(np.abs(values), initial=0.0))
    places = digits - 1 - int(np.floor(np.log10(largest))) if largest > 0.0 else 0
    return np.round(values, places).tolist()
