"""``giantstep spectrum``: linear width, theory over the histogram."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from giantstep.cli.experiment import run_command
from giantstep.cli.fields import File, LinearWidthFields, Memory, given_fields
from giantstep.cli.layer import layer_command
from giantstep.cli.output import PLAIN, Output, Typed
from giantstep.errors import InputError
from giantstep.experiment import Experiment
from giantstep.problem.setting import Setting
from giantstep.show.tables.spectrum import spectrum_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def spectrum(
    target: Typed | None = None,
    /,
    *,
    fields: Annotated[LinearWidthFields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    file: File = None,
    weights: Path | None = None,
    level: float | None = None,
    memory: Memory = "2 GiB",
    output: Output = PLAIN,
) -> None:
    """Predict and simulate the singular values of weights and features at linear width.

    With --weights instead of a target it finds the outliers of a given matrix.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)/1.4", or a name of the catalog (giantstep catalog).
    file:
        A TOML file with fields of the setting; flags take precedence.
    weights:
        A .npy file with a weight matrix, a row for each neuron. The command says which of its
        singular values lie outside the bulk that is fitted to it.
    level:
        False-positive rate with --weights, the probability that noise of the same entries has an
        outlier. It is .01 by default.
    memory:
        Bound on the arrays in memory, such as "512 MiB".
    output.out:
        Folder for spectrum.json, spectrum.png and runs/, which has a file for each run and for the
        prediction (giantstep.load reads them). Runs that are there are not computed again. The
        same command goes on where it was stopped, or with more --runs.
    """
    given = given_fields(target, fields, file)
    if weights is not None:
        if given:
            raise InputError(f"weights are a matrix of their own, got {next(iter(given))} as well")
        layer_command(weights, level, output)
        return
    if level is not None:
        raise InputError(f"level goes with weights, got {level:g} without them")
    run_command(
        "spectrum",
        Setting.linear_width(**given),
        spectrum_report,
        _figure,
        memory=memory,
        output=output,
    )


def _figure(experiment: Experiment) -> Figure:
    from giantstep.show.plots.spectrum import spectrum_figure

    return spectrum_figure(experiment)
