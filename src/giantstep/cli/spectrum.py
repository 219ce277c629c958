"""``giantstep spectrum``: linear width, theory over the histogram."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from giantstep.cli.fields import Fields, given_fields, memory_bytes
from giantstep.cli.output import Expression, emit, reserve
from giantstep.prediction.wide.comparison import spectra_record
from giantstep.prediction.wide.spectra import predict_spectra
from giantstep.problem.setting import Setting
from giantstep.show.spectrum_table import spectra_report
from giantstep.show.tables import progress_bar, show
from giantstep.simulation.spectra import measure_spectra

DEFAULTS = {
    "n": "2d",
    "p": "1.5d",
    "step_size": "n^0.3",
    "output_scale": "1",
    "start": "sphere",
    "readout_start": "gaussian",
    "ridge": 0.1,
    "test_n": 4000,
}
"""The papers' convention at linear width; the record's own defaults are for narrow networks."""


def spectrum(
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
    """Spectra of weights and features at linear width, predicted and measured.

    Unless given: n = 2d, p = 1.5d, step_size = n^0.3, output_scale = 1, start = sphere,
    readout_start = gaussian, ridge = 0.1, and as many steps as step sizes.

    Parameters
    ----------
    target:
        An expression such as "x1 + He2(x1)/1.4", or a name of the catalog (giantstep catalog).
    file:
        A TOML file with fields of the setting; flags take precedence.
    memory:
        Bound on the arrays of the engine, such as "512 MiB".
    json:
        Print the record as JSON instead of tables.
    out:
        Folder to write spectrum.json and spectrum.png into.
    overwrite:
        Replace files that are there already.
    quiet:
        No table and no progress bar.
    """
    given: dict[str, Any] = DEFAULTS | given_fields(target, fields, file)
    given.setdefault("steps", len(str(given["step_size"]).split(",")))
    setting, bound = Setting(**given), memory_bytes(memory)
    record, picture = (reserve(out, f"spectrum.{kind}", overwrite) for kind in ("json", "png"))
    predicted = predict_spectra(setting)
    with progress_bar(quiet) as progress:
        measured = measure_spectra(setting, memory=bound, progress=progress)
    content = spectra_record(predicted, measured)
    emit(content, json, record, overwrite)
    if picture is not None:
        from giantstep.show.plots.spectrum import spectrum_figure
        from giantstep.show.plots.style import save

        save(spectrum_figure(predicted, measured), picture)
    if not json and not quiet:
        show(spectra_report(content))
        if picture is not None:
            show(f"picture: {picture}")
