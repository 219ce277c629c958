"""The linear-width pane: spectra and losses of theory, and runs that are laid over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from giantstep.errors import NotConvergedError, NoTheoryError
from giantstep.experiment import Experiment, run_experiment
from giantstep.explorer.limits import MEMORY, check_job, read_setting
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.analyze import analysis_of
from giantstep.explorer.tasks.learn import verdict_view
from giantstep.explorer.tasks.predict import WEIGHTS_ALONE, cost_of
from giantstep.explorer.views.reading import errors_reading
from giantstep.explorer.views.spectrum import MATRICES, spectra_reading, spectra_view
from giantstep.explorer.views.trajectory import Frame, steps_view
from giantstep.prediction.predict import predict as predict_setting
from giantstep.problem.setting import Setting
from giantstep.records.table import make_table
from giantstep.records.trajectory import Trajectory, keeps_gram
from giantstep.simulation.simulate import simulate_runs
from giantstep.store.folder import stacked


def predict(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """Prediction of ``setting`` for the readout of its first run; ``draft``: the weights alone."""
    setting = read_setting(request.get("setting", {}), wide=True)
    frame = Frame(analysis_of(setting.target, setting.activation), setting)
    answer = frame.as_dict() | {
        "setting": setting.as_dict(),
        "cost": cost_of(setting),
        "theory": None,
        "reading": None,
    }
    asked = setting.vary(**WEIGHTS_ALONE) if request.get("draft") else setting
    predicted, complaint = of_first_run(asked)
    if predicted is None:
        return answer | {"complaint": complaint, "notes": list(frame.analysis.notes)}
    steps, spectra = steps_view(predicted, frame), spectra_view(predicted, None)
    return answer | {
        "complaint": None,
        "theory": predicted.theory,
        "notes": [*frame.analysis.notes, *predicted.notes],
        "seconds": predicted.seconds,
        "steps": steps,
        "spectra": spectra,
        "reading": spectra_reading(spectra, predicted.steps.tolist())
        | {"losses": errors_reading(steps, answer["floors"])},
    }


def of_first_run(setting: Setting) -> tuple[Trajectory | None, str | None]:
    """What theory says for the readout of run 0, or why it says nothing."""
    try:
        return predict_setting(setting.vary(runs=1)), None
    except (NoTheoryError, NotConvergedError) as error:
        return None, str(error)


def run(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """``run`` events with the runs so far, then the comparison with each run's own prediction."""
    setting = read_setting(request.get("setting", {}), wide=True)
    check_job(setting)
    frame = Frame(analysis_of(setting.target, setting.activation), setting)
    emit("frame", frame.as_dict() | {"setting": setting.as_dict()})
    first, _ = of_first_run(setting)
    simulated = _simulated(setting, first, frame, emit)
    emit("comparing", {"runs": simulated.runs})
    experiment = run_experiment(setting, memory=MEMORY, simulator=lambda *_, **__: simulated)
    emit("file", {"name": "table.csv", "text": _table(experiment)})
    comparison = experiment.comparison
    return frame.as_dict() | {
        "setting": setting.as_dict(),
        "runs": simulated.runs,
        "engine": simulated.engine,
        "seconds": simulated.seconds,
        "steps": steps_view(experiment.simulated, frame),
        "spectra": spectra_view(experiment.predicted, experiment.simulated),
        "agrees": None if comparison is None else comparison.agrees,
        "record": experiment.as_dict(),
        **verdict_view(experiment),
    }


def _simulated(
    setting: Setting, predicted: Trajectory | None, frame: Frame, emit: Emit
) -> Trajectory:
    """All runs, each sent as it is finished with those before it."""
    finished: list[Trajectory] = []
    numbers = range(setting.runs)
    for number, trajectory in simulate_runs(
        setting, numbers, memory=MEMORY, progress=_progress(emit)
    ):
        finished.append(trajectory)
        so_far = _detected(stacked(setting, finished), predicted)
        emit(
            "run",
            {
                "run": number,
                "runs": len(finished),
                "steps": steps_view(so_far, frame),
                "spectra": spectra_view(predicted, so_far),
            },
        )
    together = stacked(setting, finished)
    return replace(together, setting=setting, gram=together.gram if keeps_gram(setting) else None)


def _progress(emit: Emit) -> Any:
    return lambda share, samples: emit("progress", {"share": share, "samples": samples})


def _detected(runs: Trajectory, predicted: Trajectory | None) -> Trajectory:
    """The runs with their spikes counted by the rule of the prediction."""
    spectra = {
        matrix: getattr(runs, matrix).detected(getattr(predicted, matrix, None))
        for matrix in MATRICES
        if getattr(runs, matrix) is not None
    }
    return replace(runs, **spectra)


def _table(experiment: Experiment) -> str:
    return make_table([experiment.simulated], [experiment.predicted]).as_csv()
