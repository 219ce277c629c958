"""What all figures share: colours and markers that survive greyscale, and saving."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from giantstep.records.file import write_whole
from giantstep.records.trajectory import Trajectory

# Luminance falls monotonically along the map: steps stay apart in print.
STEP_COLOURS = mpl.colormaps["viridis_r"]
STEP_MARKERS = "oDs^vPX*"


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or PDF, without a trace of when or by what it was made."""
    keys = ("Creator", "Producer", "CreationDate") if path.suffix == ".pdf" else ("Software",)
    content = io.BytesIO()
    kind = path.suffix.removeprefix(".")
    figure.savefig(content, format=kind, dpi=150, metadata=dict.fromkeys(keys))
    write_whole(path, content.getvalue())


def source_of(predicted: Trajectory) -> str:
    """Where a prediction comes from, for a legend: the theory by its name.

    Runs on Gaussian rows, which stand for a theory of data sets, are no theory.
    """
    if predicted.theory == "gaussian-runs":
        return "other runs, on Gaussian rows"
    return f"theory ({predicted.theory})"
