"""``giantstep spectrum --weights``: a given matrix against its own bulk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from giantstep.cli.output import Output, as_json, write_json
from giantstep.problem.given_rows import load_array
from giantstep.show.tables.layer import layer_report
from giantstep.show.tables.parts import show
from giantstep.spectra.layer import LEVEL, layer_outliers


def layer_command(weights: Path, level: float | None, output: Output) -> None:
    """spectrum.json, .npz and .png into a folder; a table, or JSON, on standard output."""
    names = [f"spectrum.{kind}" for kind in ("json", "npz", "png")]
    files = output.reserve(*names)
    found = layer_outliers(load_array(str(weights), "weights"), LEVEL if level is None else level)
    if files is not None:
        from giantstep.show.plots.spectrum import layer_figure
        from giantstep.show.plots.style import save

        record, arrays, picture = files
        write_json(found.as_dict(), record)
        with arrays.open("wb") as file:
            np.savez(file, **found.arrays())  # type: ignore[arg-type]
        save(layer_figure(found, weights.name), picture)
    if output.json:
        print(as_json(found.as_dict()))
    elif not output.quiet:
        show(layer_report(found, weights.name))
        if files is not None:
            show(f"picture: {files[2]}")
