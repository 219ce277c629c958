"""Two settings side by side: what theory says of both at once, then runs of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer.limits import MEMORY, check_job, read_setting
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.analyze import analysis_of
from giantstep.explorer.tasks.learn import streaming, verdict_view
from giantstep.explorer.tasks.predict import SEEN_AGAIN
from giantstep.explorer.tasks.predict import run as predict_one
from giantstep.explorer.views.side_by_side import Side, difference_sentences
from giantstep.explorer.views.trajectory import Frame, steps_view
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.sweeps.side_by_side import compare_settings, setting_names

ACCURACY = SEEN_AGAIN
"""Accuracy of two predictions at once: errors within a few hundredths, without what differs from
run to run.  All of it would take half a minute where samples are seen again."""


def predict(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """The prediction of ``setting``, as ``predict`` gives it, with that of ``other`` beside it.

    Where one of them sees samples again there is no draft: a good one takes as long as the whole.
    """
    settings = _settings(request)
    names = setting_names(settings)
    draft = bool(request.get("draft")) and not any(setting.seen_again for setting in settings)
    answers = [
        predict_one({"setting": request[key], "draft": draft}, emit, **ACCURACY)
        for key in ("setting", "other")
    ]
    sides = [
        Side(_phrase(setting, name), _frame(setting), answer.get("steps") or [])
        for setting, name, answer in zip(settings, names, answers, strict=True)
    ]
    # A draft leaves cosines open that it cannot tell from chance: nothing is said of it.
    known = all(side.steps for side in sides) and not draft
    return answers[0] | {
        "names": [side.name for side in sides],
        "other": answers[1],
        "cost": _cost(*(answer["cost"] for answer in answers)),
        "difference": difference_sentences(*sides) if known else None,
    }


def _cost(*costs: dict[str, Any]) -> dict[str, Any]:
    """Seconds of both runs together, or the sentence why one of them cannot be run."""
    refused = [cost for cost in costs if "message" in cost]
    return refused[0] if refused else {"seconds": sum(cost["seconds"] for cost in costs)}


def run(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """``run`` events of both settings with their ``side``, then the comparison of the two."""
    settings = _settings(request)
    check_job(*settings)
    frames = [_frame(setting) for setting in settings]
    for side, frame in enumerate(frames):
        emit("frame", frame.as_dict() | {"side": side, "setting": frame.setting.as_dict()})
    both = compare_settings(
        *settings,
        memory=MEMORY,
        simulator=_streaming(frames, emit),
    )
    emit("file", {"name": "table.csv", "text": both.table.as_csv()})
    sides = [
        Side(_phrase(setting, name), frame, steps_view(experiment.simulated, frame))
        for setting, name, frame, experiment in zip(
            settings, both.names, frames, both.experiments, strict=True
        )
    ]
    views = [verdict_view(experiment) for experiment in both.experiments]
    agreements = [experiment.comparison for experiment in both.experiments]
    return {
        "sides": [
            side.frame.as_dict() | {"runs": experiment.simulated.runs, "steps": side.steps}
            for side, experiment in zip(sides, both.experiments, strict=True)
        ],
        **{key: _lines(sides, [view[key] for view in views]) for key in ("verdict", "sure")},
        "agrees": None
        if any(each is None for each in agreements)
        else all(each is not None and each.agrees for each in agreements),
        "difference": difference_sentences(*sides),
        "record": both.as_dict(),
    }


def _lines(sides: Sequence[Side], texts: Sequence[str]) -> str:
    """A text for each side on a line of its own, without those that are empty."""
    return "\n".join(
        f"{side.name}: {text}" for side, text in zip(sides, texts, strict=True) if text
    )


def _settings(request: Mapping[str, Any]) -> tuple[Setting, Setting]:
    first = read_setting(request.get("setting", {}))
    try:
        return first, read_setting(request.get("other", {}))
    except InputError as error:
        raise InputError(f"beside it: {error}") from None


def _frame(setting: Setting) -> Frame:
    return Frame(analysis_of(setting.target, setting.activation), setting)


def _phrase(setting: Setting, name: str) -> str:
    """What a setting is called in a sentence: reused batches, tanh, n = 4d."""
    return f"{name} batches" if name == str(setting.given.get("batches")) else name


def _streaming(frames: list[Frame], emit: Emit) -> Callable[..., Trajectory]:
    """A simulator of both settings, one after the other; progress counts both."""

    def simulator(setting: Setting, **options: Any) -> Trajectory:
        side = next(k for k, frame in enumerate(frames) if frame.setting == setting)

        def tell(name: str, value: Any) -> None:
            emit(name, value | {"side": side})

        def progress(share: float, samples: int) -> None:
            emit("progress", {"share": (side + share) / len(frames), "samples": samples})

        return streaming(frames[side], tell)(setting, **(options | {"progress": progress}))

    return simulator
