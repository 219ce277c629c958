"""What ``learn`` and ``spectrum`` do alike: run an experiment, write it, show it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import RenderableType

from giantstep.cli.fields import memory_bytes
from giantstep.cli.output import as_json, reserve, write_json
from giantstep.experiment import Experiment, run_experiment
from giantstep.problem.setting import Setting
from giantstep.records.labels import FittedLabels
from giantstep.show.progress import progress_bar
from giantstep.show.tables.parts import show

if TYPE_CHECKING:  # a figure is drawn only where there is a folder for it
    from matplotlib.figure import Figure


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
    """NAME.json, NAME.npz and NAME.png into ``out``; a table, or JSON, on standard output."""
    bound = memory_bytes(memory)
    names = [f"{name}.{kind}" for kind in ("json", "npz", "png")]
    files = reserve(out, *names, overwrite=overwrite)
    labels = fitted_labels(setting)
    with progress_bar(quiet) as progress:
        experiment = run_experiment(setting, labels=labels, memory=bound, progress=progress)
    if files is not None:
        from giantstep.show.plots.style import save

        record, arrays, picture = files
        write_json(experiment.as_dict(), record)
        with arrays.open("wb") as file:
            np.savez(file, **experiment.arrays())  # type: ignore[arg-type]
        save(figure(experiment), picture)
    if json:
        print(as_json(experiment.as_dict()))
    elif not quiet:
        show(report(experiment))
        if files is not None:
            show(f"picture: {files[2]}")
    if experiment.simulated.interrupted:
        sys.exit(128 + signal.SIGINT)


def fitted_labels(setting: Setting) -> FittedLabels | None:
    """What the regressor finds in the labels of a data set; nothing where it is not installed."""
    if not setting.target.column or find_spec("sklearn") is None:
        return None
    from giantstep.estimator.labels import fit_labels

    return fit_labels(setting)
