"""``giantstep reproduce``: the papers' figures."""

from __future__ import annotations

from pathlib import Path

from giantstep.cli.output import reserve
from giantstep.errors import InputError
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.show.plots.papers import paper_figure
from giantstep.show.plots.style import save
from giantstep.show.progress import spinner
from giantstep.show.tables.parts import show

KINDS = ("png", "pdf")


def reproduce(
    *figures: str,
    full: bool = False,
    seed: int = 0,
    out: Path = Path("results/figures"),
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Draw the papers' figures, prediction and simulation together.

    Parameters
    ----------
    figures:
        Names of the figures; all of them if none is given.
    full:
        The sizes of the papers instead of small ones.
    seed:
        Seed of every simulation.
    out:
        Folder for the figures, each as PNG and PDF.
    overwrite:
        Replace files that are there already.
    quiet:
        No progress.
    """
    unknown = [name for name in figures if name not in REPRODUCTIONS]
    if unknown:
        expected = ", ".join(REPRODUCTIONS)
        raise InputError(f"unknown figure {unknown[0]!r}, expected one of {expected}")
    if seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    names = list(dict.fromkeys(figures)) or list(REPRODUCTIONS)
    files = [f"{name}.{kind}" for name in names for kind in KINDS]
    reserve(out, *files, overwrite=overwrite)
    with spinner(quiet) as say:
        for index, name in enumerate(names, 1):
            say(f"{index} of {len(names)}: {name}")
            figure = REPRODUCTIONS[name]
            drawn = paper_figure(figure, figure.panels(full, seed))
            for kind in KINDS:
                save(drawn, out / f"{name}.{kind}")
    if not quiet:
        for name in names:
            show(f"{name}: {out / name}.{KINDS[0]}")
