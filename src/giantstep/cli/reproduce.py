"""``giantstep reproduce``: the papers' figures."""

from __future__ import annotations

from pathlib import Path

from giantstep.cli.output import reserve
from giantstep.errors import InputError
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.show.plots.style import save
from giantstep.show.tables import show, spinner

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
    paths = {
        name: [path for kind in KINDS if (path := reserve(out, f"{name}.{kind}", overwrite))]
        for name in names
    }
    out.mkdir(parents=True, exist_ok=True)
    with spinner(quiet) as say:
        for index, name in enumerate(names, 1):
            say(f"{index} of {len(names)}: {name}")
            figure = REPRODUCTIONS[name].figure(full, seed)
            for path in paths[name]:
                save(figure, path)
    if not quiet:
        for name in names:
            show(f"{name}: {paths[name][0]}")
