"""The narrow pane before a run: what theory says, against floors, at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from giantstep.errors import InputError, NotConvergedError, NoTheoryError
from giantstep.explorer.limits import MEMORY, read_setting
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.analyze import analysis_of
from giantstep.explorer.views.function import function_view
from giantstep.explorer.views.network import network_view
from giantstep.explorer.views.reading import reading_view
from giantstep.explorer.views.trajectory import Frame, neurons_view, steps_view
from giantstep.prediction.predict import predict
from giantstep.prediction.theories import choose_theory, limits
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.estimate import estimate

DRAFT: dict[str, Any] = {"scrambles": 2, "log2_points": 11, "deviations": False, "draws": 4}
"""What is drawn first: a fifth of a second up to p = 50, cosines within a few hundredths."""

SEEN_AGAIN: dict[str, Any] = {"scrambles": 4, "log2_points": 13, "deviations": False}
"""What is drawn first where samples are seen again: some seconds, errors within a few hundredths.

Each step adds to the error of the points there.  With those of ``DRAFT`` and a single readout the
last error of four steps was 2.9 in place of 3.7, and cosines were missing."""

WEIGHTS_ALONE = {"readout_n": 0, "test_n": 0}
"""What is drawn first of wide networks, a tenth of the work of features and losses."""

ONE_READOUT = {"runs": 1}
"""What is drawn first of few neurons: theory repeats its work for the readout of every run."""


def frame(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """What is known of ``setting`` before its theory is computed: floors, sizes, what runs cost."""
    return _known(_frame(request))


def run(request: Mapping[str, Any], emit: Emit, **accuracy: Any) -> dict[str, Any]:
    """Prediction of ``setting``; ``complaint`` says why there is none, ``draft`` is a quick one.

    ``accuracy`` are options of ``predict`` for one that is no draft.  ``draft`` of the answer
    says whether a better one can be asked for.
    """
    against = _frame(request)
    draft, setting = bool(request.get("draft")), against.setting
    answer, notes = _known(against) | {"draft": draft}, against.analysis.notes
    try:
        predicted = _draft(setting) if draft else predict(setting, **accuracy)
    except (NoTheoryError, NotConvergedError) as error:
        return answer | {"complaint": str(error)}
    steps = steps_view(predicted, against)
    if not draft:  # a seventh of the time of a draft
        answer["nearest"] = nearest_limit(against.setting, predicted.theory)
    return answer | {
        "theory": predicted.theory,
        "reading": reading_view(steps, answer, against.setting.d),
        "notes": [*notes, *predicted.notes],
        "seconds": predicted.seconds,
        "steps": steps,
        "neurons": neurons_view(predicted, against),
        "network": network_view(predicted, against),
        "function": function_view(predicted, against, log2_points=12 if draft else 13),
    }


def nearest_limit(
    setting: Setting,
    theory: str | None,
    *,
    parts: tuple[str | None, ...] = (None, "readout errors"),
) -> dict[str, Any] | None:
    """The limit of a theory of whose bound the setting uses most: name, value, bound and share.

    Those of the theory itself count, and of the ``parts`` that the page draws.  None where no limit
    has a number at this setting.
    """
    near = [
        status
        for status in limits(setting)
        if status.theory == theory and status.part in parts and status.share
    ]
    if not near:
        return None
    status = max(near, key=lambda each: each.share or 0.0)
    upper = math.isfinite(status.limit.most)
    return {
        "name": status.limit.name,
        "part": status.part,
        "value": status.value,
        "bound": status.limit.most if upper else status.limit.least,
        "upper": upper,
        "share": status.share,
    }


def _draft(setting: Setting) -> Trajectory:
    """What a theory says soonest, to the accuracy of a plot."""
    theory = choose_theory(setting)
    if theory.many_neurons or theory.from_runs:
        return predict(setting.vary(**WEIGHTS_ALONE), **DRAFT)
    if setting.seen_again:
        return predict(setting, **SEEN_AGAIN)
    return predict(setting.vary(**ONE_READOUT), **DRAFT)


def _frame(request: Mapping[str, Any]) -> Frame:
    setting = read_setting(request.get("setting", {}))
    return Frame(analysis_of(setting.target, setting.activation), setting)


def _known(against: Frame) -> dict[str, Any]:
    setting = against.setting
    return against.as_dict() | {
        "setting": setting.as_dict(),
        "giant_shares": list(setting.giant_shares),
        "cost": cost_of(setting),
        "theory": None,
        "nearest": None,
        "reading": None,
        "function": None,
        "complaint": None,
        "notes": list(against.analysis.notes),
    }


def cost_of(setting: Setting) -> dict[str, Any]:
    """What the runs would take, or the sentence why no engine takes them."""
    try:
        return estimate(setting, memory=MEMORY, calibrate=False).as_dict()
    except InputError as error:
        return {"message": str(error)}
