"""``giantstep reproduce``: the papers' figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.padding import Padding

from giantstep.cli.output import OutAt, Overwrite, Quiet, Switch, Whole, reserve
from giantstep.errors import InputError, unknown_name
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.papers.figures.record import Reproduction
from giantstep.papers.figures.stored import computed, stored, write
from giantstep.show.plots.papers import paper_figure
from giantstep.show.plots.style import save
from giantstep.show.progress import spinner
from giantstep.show.tables.figures import figures_table
from giantstep.show.tables.parts import show
from giantstep.show.tex import plain_words

KINDS = ("png", "pdf", "json")


def reproduce(
    *figures: str,
    run: Switch = False,
    full: Switch = False,
    seed: Whole = 0,
    list_: Annotated[bool, Parameter("--list", negative="", show_default=False)] = False,
    out: OutAt = Path("results/figures"),
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draw the papers' figures, prediction and simulation together.

    By default the numbers are those stored in the package, from large runs.  --run computes them
    anew.

    Parameters
    ----------
    figures:
        Names of the figures; all of them if none is given.
    run:
        Simulate and predict anew, at small sizes.
    full:
        With run: at the sizes of the stored figures (made for many cores, or an accelerator).
    seed:
        With run: the seed of every simulation.
    list_:
        List the figures, and draw nothing.
    out:
        Folder for the figures, each as PNG and PDF, and as JSON: its caption, its numbers and what
        made them.
    """
    chosen = named_figures(figures)
    if seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    if not run and (full or seed):
        given = "full" if full else f"seed {seed}"
        raise InputError(f"stored figures are drawn as they are: {given} needs --run")
    if list_:
        show(figures_table(chosen))
        return
    files = [f"{figure.name}.{kind}" for figure in chosen for kind in KINDS]
    reserve(out, *files, overwrite=overwrite)
    drawn = _drawn(chosen, out, run=run, full=full, seed=seed, quiet=quiet)
    if not quiet:
        for name, words in drawn.items():
            show(f"{name}: {out / name}.png")
            show(Padding(words, (0, 0, 0, 4)))


def _drawn(
    chosen: Sequence[Reproduction], out: Path, *, run: bool, full: bool, seed: int, quiet: bool
) -> dict[str, str]:
    """Draw figures into a folder; name -> its caption and where its numbers come from."""
    said = {}
    with spinner(quiet) as say:
        for index, figure in enumerate(chosen, 1):
            name = figure.name
            say(f"{index} of {len(chosen)}: {name}")
            kept = None if run else stored(name)
            data = computed(figure, full, seed) if kept is None else kept
            drawn = paper_figure(figure, data)
            for kind in ("png", "pdf"):
                save(drawn, out / f"{name}.{kind}")
            caption = figure.caption_of(data.sizes)
            write(replace(data, caption=caption), out / f"{name}.json")
            origin = f"{'computed' if kept is None else 'stored'}, {data.origin}"
            said[name] = f"{plain_words(caption)}\n{origin}"
    return said


def named_figures(names: Sequence[str]) -> list[Reproduction]:
    """The figures of these names, all of them for none."""
    for name in names:
        if name not in REPRODUCTIONS:
            raise unknown_name("figure", name, REPRODUCTIONS, "giantstep reproduce --list")
    return [REPRODUCTIONS[name] for name in dict.fromkeys(names)] or list(REPRODUCTIONS.values())
