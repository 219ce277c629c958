"""The narrow pane's run: an experiment whose runs are sent as they are finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from giantstep.experiment import Experiment, run_experiment
from giantstep.explorer.limits import MEMORY, check_job, read_setting
from giantstep.explorer.tasks import Emit
from giantstep.explorer.tasks.analyze import analysis_of
from giantstep.explorer.views.trajectory import Frame, neurons_view, steps_view
from giantstep.problem.setting import Setting
from giantstep.records.table import make_table
from giantstep.records.trajectory import Trajectory, keeps_gram
from giantstep.show.tables.experiment import certainty, verdict
from giantstep.simulation.simulate import simulate_runs
from giantstep.store.folder import stacked


def run(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """``run`` events with the runs so far, then the whole experiment."""
    setting = read_setting(request.get("setting", {}))
    check_job(setting)
    frame = Frame(analysis_of(setting.target, setting.activation), setting)
    emit("frame", frame.as_dict() | {"setting": setting.as_dict()})
    experiment = run_experiment(
        setting,
        memory=MEMORY,
        progress=lambda share, samples: emit("progress", {"share": share, "samples": samples}),
        simulator=streaming(frame, emit),
    )
    emit("file", {"name": "table.csv", "text": _table(experiment)})
    comparison = experiment.comparison
    return frame.as_dict() | {
        "setting": setting.as_dict(),
        "runs": experiment.simulated.runs,
        "engine": experiment.simulated.engine,
        "seconds": experiment.simulated.seconds,
        "steps": steps_view(experiment.simulated, frame),
        "agrees": None if comparison is None else comparison.agrees,
        "record": experiment.as_dict(),
        **verdict_view(experiment),
    }


def verdict_view(experiment: Experiment) -> dict[str, str]:
    """Whether theory and runs agree, with the error that would be noticed, and the p-value.

    Each is on one line.
    """
    sure = certainty(experiment)
    whole = verdict(experiment).plain.strip().replace("\n", ". ")
    agree = whole.removesuffix(sure).strip()
    tested, of_runs, noticed = sure.partition(f" With {experiment.simulated.runs} runs ")
    return {"verdict": f"{agree}{of_runs}{noticed}", "sure": tested}


def streaming(frame: Frame, emit: Emit) -> Callable[..., Trajectory]:
    """A simulator that sends every run as it is finished, with the means of those so far."""

    def simulator(setting: Setting, *, partial: bool = False, **options: Any) -> Trajectory:
        finished: list[Trajectory] = []
        for number, trajectory in simulate_runs(setting, range(setting.runs), **options):
            finished.append(trajectory)
            so_far = stacked(setting, finished)
            emit(
                "run",
                {
                    "run": number,
                    "steps": steps_view(so_far, frame),
                    "neurons": neurons_view(trajectory, frame)[0],
                },
            )
        together = stacked(setting, finished)
        return replace(
            together, setting=setting, gram=together.gram if keeps_gram(setting) else None
        )

    return simulator


def _table(experiment: Experiment) -> str:
    return make_table([experiment.simulated], [experiment.predicted]).as_csv()
