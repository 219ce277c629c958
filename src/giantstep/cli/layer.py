"""``giantstep spectrum --weights``: a given matrix against its own bulk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from giantstep.cli.output import Output, picture_line, write_json
from giantstep.problem.given_rows import load_array
from giantstep.show.tables.layer import layer_report
from giantstep.spectra.layer import LEVEL, layer_outliers


def layer_command(weights: Path, level: float | None, output: Output) -> None:
    """spectrum.json, .npz and .png into a folder; a table, or JSON, on standard output."""
    names = [f"spectrum.{kind}" for kind in ("json", "npz", "png")]
    files = output.reserve(*names)
    outliers = layer_outliers(
        load_array(str(weights), "weights"), LEVEL if level is None else level
    )
    if files is not None:
        from giantstep.show.plots.spectrum import layer_figure
        from giantstep.show.plots.style import save

        record, arrays, picture = files
        write_json(outliers.as_dict(), record)
        with arrays.open("wb") as file:
            np.savez(file, **outliers.arrays())  # type: ignore[arg-type]
        save(layer_figure(outliers, weights.name), picture)
    output.present(
        outliers.as_dict,
        lambda: layer_report(outliers, weights.name),
        *picture_line(files),
    )
