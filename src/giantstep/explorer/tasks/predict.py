"""The narrow pane before a run: what theory says, against floors, at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from giantstep.errors import NotConvergedError, NoTheoryError
from giantstep.explorer.limits import MEMORY, read_setting
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.analyze import analysis_of
from giantstep.explorer.views.trajectory import Frame, neurons_view, steps_view
from giantstep.prediction.predict import predict
from giantstep.simulation.estimate import estimate

DRAFT = {"scrambles": 2, "log2_points": 11}
"""What is drawn first: a fifth of a second up to p = 50, cosines within a few hundredths."""


def run(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """Prediction of ``setting``; ``complaint`` says why there is none, ``draft`` is a quick one."""
    setting = read_setting(request.get("setting", {}))
    frame = Frame(analysis_of(setting.target, setting.activation), setting)
    expected = estimate(setting, memory=MEMORY, calibrate=False)
    found = frame.as_dict() | {
        "setting": setting.as_dict(),
        "giant_shares": list(setting.giant_shares),
        "estimate": asdict(expected),
        "theory": None,
        "complaint": None,
        "notes": list(frame.analysis.notes),
    }
    try:
        predicted = predict(setting, **(DRAFT if request.get("draft") else {}))
    except (NoTheoryError, NotConvergedError) as error:
        return found | {"complaint": str(error)}
    return found | {
        "theory": predicted.theory,
        "notes": [*frame.analysis.notes, *predicted.notes],
        "seconds": predicted.seconds,
        "steps": steps_view(predicted, frame),
        "neurons": neurons_view(predicted, frame),
    }
