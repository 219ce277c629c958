"""What ``learn`` and ``spectrum`` do alike: run an experiment, write it, show it."""

from __future__ import annotations

import json as texts
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from giantstep.cli.fields import memory_bytes
from giantstep.cli.output import as_json, reserve, write_json
from giantstep.errors import InputError, shown
from giantstep.experiment import Experiment, run_experiment
from giantstep.language.units import duration
from giantstep.problem.setting import Setting
from giantstep.records.labels import FittedLabels
from giantstep.show.progress import progress_bar
from giantstep.show.tables.parts import show
from giantstep.simulation.estimate import estimate
from giantstep.simulation.simulate import simulate
from giantstep.store.folder import Store, prediction_bytes
from giantstep.store.identity import different_fields, prediction_name, resolved, stored_fields
from giantstep.store.simulation import simulate_stored

if TYPE_CHECKING:  # a figure is drawn only where there is a folder for it
    from matplotlib.figure import Figure


LONG = 3600.0
"""Seconds from which on a run is worth a warning."""


def run_command(
    name: str,
    setting: Setting,
    report: Callable[[Experiment], RenderableType],
    figure: Callable[[Experiment], Figure],
    *,
    memory: str,
    json: bool,
    out: Path | None,
    overwrite: bool,
    quiet: bool,
) -> None:
    """NAME.json, NAME.png and runs/ into ``out``; a table, or JSON, on standard output."""
    bound = memory_bytes(memory)
    replace = overwrite or goes_on(out, f"{name}.json", setting)
    files = reserve(out, f"{name}.json", f"{name}.png", overwrite=replace)
    labels = fitted_labels(setting)
    warn_of_hours(setting, bound, quiet)
    store = None if out is None else Store(out / "runs")
    simulator = simulate if store is None else partial(simulate_stored, store=store)
    with progress_bar(quiet) as progress:
        experiment = run_experiment(
            setting, labels=labels, memory=bound, progress=progress, simulator=simulator
        )
    if files is not None and store is not None:
        from giantstep.show.plots.style import save

        record, picture = files
        write_json(experiment.as_dict(), record)
        keep_prediction(store, experiment, bound)
        save(figure(experiment), picture)
    if json:
        print(as_json(experiment.as_dict()))
    elif not quiet:
        show(report(experiment))
        if files is not None:
            show(f"picture: {files[1]}")
    if experiment.simulated.interrupted:
        sys.exit(128 + signal.SIGINT)


def goes_on(out: Path | None, name: str, setting: Setting) -> bool:
    """Whether a folder holds the record of this setting; that of another one is refused."""
    if out is None or not (out / name).is_file():
        return False
    try:
        held = texts.loads((out / name).read_text(encoding="utf-8"))["simulation"]["setting"]
        asked = stored_fields(setting)
        others = different_fields(asked, held)
    except (ValueError, LookupError, TypeError):  # not a record of ours
        return False
    for field in others:
        raise InputError(
            f"out already holds {name} of {field} = {shown(held.get(field))}, not "
            f"{shown(asked[field])}, got {str(out)!r}; --overwrite replaces it"
        )
    return True


def warn_of_hours(setting: Setting, memory: int, quiet: bool) -> None:
    """Say on standard error how long a run would take that takes hours."""
    expected = estimate(setting, memory=memory, calibrate=False)
    if not quiet and expected.seconds > LONG:
        on = "this" if expected.measured else "a typical"
        print(
            f"giantstep: this will take about {duration(expected.seconds)} on {on} machine with "
            f"the {expected.engine} engine",
            file=sys.stderr,
        )


def keep_prediction(store: Store, experiment: Experiment, memory: int) -> None:
    """Write the prediction of an experiment, if it has one, beside its runs."""
    if experiment.predicted is not None:
        model = resolved(experiment.model, memory)
        store.write(prediction_name(model), prediction_bytes(model, experiment.predicted, None))


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
