"""What all figures share: colours and markers that survive greyscale, and saving."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from giantstep.problem.setting import Setting
from giantstep.records.file import write_whole
from giantstep.show.tables.setting import steps_text

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


def setting_title(setting: Setting) -> str:
    """The setting in one line."""
    return (
        f"{setting.target.name}, {setting.activation.name}: d = {setting.d:,}, n = {setting.n:,}, "
        f"p = {setting.p:,}, {steps_text(setting)}, {setting.batches} batches"
    )
