"""What ``learn``, ``spectrum`` and ``compare`` do alike: run an experiment, write it, show it."""

from __future__ import annotations

import json as texts
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from giantstep.cli.fields import memory_bytes
from giantstep.cli.output import Output, picture_line, write_json
from giantstep.errors import InputError, NoTheoryError, shown
from giantstep.experiment import Experiment, run_experiment
from giantstep.language.units import duration
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.labels import FittedLabels
from giantstep.records.trajectory import Trajectory
from giantstep.show.progress import progress_bar
from giantstep.simulation.estimate import estimate
from giantstep.simulation.simulate import simulate
from giantstep.store.folder import Store
from giantstep.store.identity import different_fields, stored_fields
from giantstep.store.prediction import predict_stored
from giantstep.store.simulation import simulate_stored

if TYPE_CHECKING:  # a figure is drawn only where there is a folder for it
    from matplotlib.figure import Figure


def run_command(
    name: str,
    setting: Setting,
    report: Callable[[Experiment], RenderableType],
    figure: Callable[[Experiment], Figure],
    *,
    memory: str,
    output: Output,
    theory: bool = True,
) -> None:
    """NAME.json, NAME.png and runs/ into a folder; a table, or JSON, on standard output.

    ``theory`` -> whether the setting is predicted beside its runs.
    """
    bound = memory_bytes(memory)
    files = files_of(name, [setting], output)
    labels = fitted_labels(setting)
    warn_of_hours(setting, bound, output.quiet)
    kept = kept_in(output.out, bound)
    if not theory:
        kept["predictor"] = _not_asked
    with progress_bar(output.quiet) as progress:
        experiment = run_experiment(setting, labels=labels, memory=bound, progress=progress, **kept)
    if files is not None:
        from giantstep.show.plots.style import save

        record, picture = files
        write_json(experiment.as_dict(), record)
        save(figure(experiment), picture)
    output.present(experiment.as_dict, lambda: report(experiment), *picture_line(files))
    if experiment.simulated.interrupted:
        sys.exit(128 + signal.SIGINT)


def _not_asked(*_: Any, **__: Any) -> Trajectory:
    """No prediction, where none was asked for."""
    raise NoTheoryError("no prediction: --no-theory was given")


def kept_in(out: Path | None, memory: int) -> dict[str, Any]:
    """What simulates and predicts: a folder is asked first, and keeps what is new."""
    if out is None:
        return {"simulator": simulate, "predictor": predict}
    store = Store(out / "runs")
    return {
        "simulator": partial(simulate_stored, store=store),
        "predictor": partial(predict_stored, store=store, memory=memory),
    }


def files_of(name: str, settings: Sequence[Setting], output: Output) -> list[Path] | None:
    """NAME.json and NAME.png in a folder: new, or to go on with the same settings."""
    again = not output.overwrite and goes_on(output.out, f"{name}.json", settings)
    return output.reserve(f"{name}.json", f"{name}.png", replace=again)


def goes_on(out: Path | None, name: str, settings: Sequence[Setting]) -> bool:
    """Whether a folder holds the record of these settings; that of others is refused."""
    if out is None or not (out / name).is_file():
        return False
    asked = [stored_fields(setting) for setting in settings]
    try:
        record = texts.loads((out / name).read_text(encoding="utf-8"))
        parts = record.get("settings", [record])
        held = [part["simulation"]["setting"] for part in parts]
        others = [different_fields(*pair) for pair in zip(asked, held, strict=False)]
    except (ValueError, LookupError, TypeError, AttributeError):  # not a record of ours
        return False
    replaced = f"got {str(out)!r}; --overwrite replaces it"
    if len(held) != len(asked):
        raise InputError(
            f"out already holds {name} of {len(held)} settings, not {len(asked)}, {replaced}"
        )
    for fields, wanted, there in zip(others, asked, held, strict=True):
        for field in fields:
            raise InputError(
                f"out already holds {name} of {field} = {shown(there.get(field))}, not "
                f"{shown(wanted[field])}, {replaced}"
            )
    return True


def warn_of_hours(
    setting: Setting, memory: int, quiet: bool, *, least_seconds: float = 3600.0
) -> None:
    """Say on standard error how long a run would take that takes hours."""
    expected = estimate(setting, memory=memory, calibrate=False)
    if not quiet and expected.seconds > least_seconds:
        print(
            f"giantstep: this will take about {duration(expected.seconds)} on a typical machine "
            f"with the {expected.engine} engine",
            file=sys.stderr,
        )


def fitted_labels(setting: Setting) -> FittedLabels | None:
    """What the regressor finds in the labels of a data set; where it is missing, a sentence."""
    if not setting.target.column:
        return None
    if find_spec("sklearn") is None:
        print(
            "giantstep: tests of the labels against noise need scikit-learn: "
            "pip install 'giantstep[sklearn]'",
            file=sys.stderr,
        )
        return None
    from giantstep.estimator.labels import fit_labels

    return fit_labels(setting)
