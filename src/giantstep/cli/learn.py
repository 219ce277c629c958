"""``giantstep learn``: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from giantstep.cli.experiment import run_command
from giantstep.cli.fields import Fields, File, Memory, given_fields
from giantstep.cli.output import PLAIN, Output, Typed
from giantstep.experiment import Experiment
from giantstep.problem.setting import Setting
from giantstep.show.tables.learn import learn_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def learn(
    target: Typed | None = None,
    /,
    *,
    fields: Annotated[Fields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    file: File = None,
    theory: bool = True,
    memory: Memory = "2 GiB",
    output: Output = PLAIN,
) -> None:
    """Predict and simulate giant steps, side by side, step by step.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)*x2", a name of the catalog (giantstep catalog), or
        column(NAME): the labels in that column of --inputs data(FILE) or whitened(FILE).
    file:
        A TOML file with fields of the setting; flags take precedence.
    theory:
        Predict beside the runs. With --no-theory only the simulation runs.
    memory:
        Bound on the arrays in memory, such as "512 MiB".
    output.out:
        Folder for learn.json, learn.png and runs/, which has a file for each run and for the
        prediction (giantstep.load reads them). Runs that are there are not computed again. The
        same command goes on where it was stopped, or with more --runs.
    """
    run_command(
        "learn",
        Setting(**given_fields(target, fields, file)),
        learn_report,
        _figure,
        memory=memory,
        output=output,
        theory=theory,
    )


def _figure(experiment: Experiment) -> Figure:
    from giantstep.show.plots.learn import learn_figure

    return learn_figure(experiment)
