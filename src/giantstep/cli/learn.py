"""``giantstep learn``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from giantstep.analysis.analyze import analyze
from giantstep.cli.fields import Fields, given_fields, memory_bytes
from giantstep.cli.output import Expression, emit, reserve
from giantstep.errors import InputError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.records.trajectory import Trajectory
from giantstep.show.tables import learn_report, progress_bar, show, verdict
from giantstep.simulation.simulate import simulate


def learn(
    target: Expression | None = None,
    /,
    *,
    fields: Annotated[Fields | None, Parameter(name="*")] = None,  # type: ignore[valid-type]
    file: Path | None = None,
    memory: str = "2 GiB",
    json: bool = False,
    out: Path | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Predict and simulate giant steps, side by side, step by step.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)*x2", or a name of the catalog (giantstep catalog).
    file:
        A TOML file with fields of the setting; flags take precedence.
    memory:
        Bound on the arrays of the engine, such as "512 MiB".
    json:
        Print trajectory, prediction and analysis as JSON instead of tables.
    out:
        Folder to write learn.json and learn.png into.
    overwrite:
        Replace files that are there already.
    quiet:
        No table and no progress bar.
    """
    setting, bound = Setting(**given_fields(target, fields, file)), memory_bytes(memory)
    record, picture = (reserve(out, name, overwrite) for name in ("learn.json", "learn.png"))
    analysis = analyze(setting.target, setting.activation)
    predicted, complaint = _prediction(setting)
    with progress_bar(quiet) as progress:
        trajectory = simulate(setting, memory=bound, progress=progress)
    compared = None
    if predicted is not None and trajectory.runs > 1:
        compared = compare(predicted, trajectory)
    stairs = analysis.reused if setting.batches == "reused" else analysis.fresh
    content = {
        "trajectory": trajectory.as_dict(),
        "prediction": predicted.as_dict() if predicted is not None else None,
        "no_prediction": complaint,
        "comparison": compared.as_dict() if compared is not None else None,
        "alignment": [trajectory.subspace_summary(basis) for basis in stairs.bases],
        "analysis": analysis.as_dict(),
    }
    emit(content, json, record, overwrite)
    if picture is not None:
        from giantstep.show.plots.learn import learn_figure
        from giantstep.show.plots.style import save

        save(learn_figure(trajectory, analysis, predicted), picture)
    if not json and not quiet:
        show(learn_report(trajectory, analysis, predicted))
        show(verdict(compared, complaint, predicted.regime if predicted else None))
        if picture is not None:
            show(f"picture: {picture}")


def _prediction(setting: Setting) -> tuple[Trajectory | None, str | None]:
    """The prediction, or why there is none: the simulation goes on without it."""
    try:
        return predict(setting), None
    except InputError as error:
        return None, str(error)
