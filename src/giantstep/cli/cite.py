"""``giantstep cite``: BibTeX of the project and of the papers behind a command or a result."""

from __future__ import annotations

import json as texts
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from giantstep import __version__
from giantstep.cli.claims import named_claims
from giantstep.cli.commands import COMMANDS
from giantstep.cli.compare import settings_asked
from giantstep.cli.fields import given_fields
from giantstep.cli.reproduce import named_figures
from giantstep.cli.sweep import asked
from giantstep.errors import InputError
from giantstep.papers.claims.from_file import claims_in_file
from giantstep.papers.references import (
    ANALYSIS,
    LAYER,
    REFERENCES,
    REQUIREMENTS,
    bibliography,
    papers_in,
    papers_of,
)
from giantstep.problem.files import check_file
from giantstep.problem.setting import Setting
from giantstep.store.folder import load
from giantstep.sweeps.grid import make_grid


def cite(*about: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> None:
    """Print the BibTeX of the project, and of the papers behind a command or a result.

    Parameters
    ----------
    about:
        A command with its arguments, such as learn "x1*x2" --batches reused. Or a folder with
        results, or a record such as learn.json. Without any: the project and its first paper.
    """
    print(bibliography(_papers(about), __version__))


def _papers(about: Sequence[str]) -> list[str]:
    if not about:
        return ["2305.18270"]
    name, *arguments = about
    path = Path(name)
    if name in {command.name for command in COMMANDS}:
        return _of_command(name, arguments)
    if len(about) > 1 or not path.exists():
        raise InputError(f"about must be a command or a file or folder of results, got {name!r}")
    settings = _settings(path)
    if not settings:
        raise InputError(f"about must hold results, got {name!r}")
    return _all_papers(settings)


def _of_command(name: str, arguments: Sequence[str]) -> list[str]:
    """The papers of a command as it would be run; of a grid, those of its setting."""
    given = _parsed(name, arguments)
    if name == "claims":
        file = given["file"]
        from_file = {} if file is None else claims_in_file(file)
        return _named_in(claim.source.citation for claim in named_claims(given["ids"], from_file))
    if name == "reproduce":
        return _named_in(figure.paper for figure in named_figures(given["figures"]))
    if name == "spectrum" and given["weights"] is not None:
        return list(LAYER)
    if name == "sweep":
        grid = make_grid(
            *asked(*(given[key] for key in ("file_or_target", "vary", "target", "fields")))
        )
        return _all_papers(cell.setting for cell in grid.cells)
    if name == "compare":
        asked_for = (given[key] for key in ("files_or_targets", "vary", "fields"))
        return _all_papers(settings_asked(*asked_for)[0])
    if "fields" in given:
        fields = given_fields(given["target"], given["fields"], given["file"])
        make = Setting.linear_width if name == "spectrum" else Setting
        return papers_of(make(**fields))
    return [*ANALYSIS, *(REQUIREMENTS if given.get("all") else ())]


def _parsed(name: str, arguments: Sequence[str]) -> dict[str, Any]:
    """The arguments of a command, by name, without calling it."""
    [command] = [each for each in COMMANDS if each.name == name]
    module, _, function = command.path.partition(":")
    called = getattr(import_module(module), function)
    _, bound, _ = App(name=name, default_command=called).parse_args(
        list(arguments), exit_on_error=False, print_error=False
    )
    bound.apply_defaults()
    return bound.arguments


def _named_in(sources: Iterable[str]) -> list[str]:
    """The papers that sources name, as far as the package has their BibTeX."""
    named = [paper for source in sources for paper in papers_in(source)]
    return [paper for paper in named if paper in REFERENCES]


def _all_papers(settings: Iterable[Setting]) -> list[str]:
    return [paper for setting in settings for paper in papers_of(setting)]


def _settings(path: Path) -> list[Setting]:
    """The settings of a record that a command wrote, or of every run in a folder."""
    if path.is_dir():
        return [trajectory.setting for trajectory in load(path).trajectories]
    check_file(path, "about cannot be read, got")
    try:
        record = texts.loads(path.read_text(encoding="utf-8"))
        return [Setting(**record["simulation"]["setting"])]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"about must be a record such as learn.json, got {str(path)!r}") from None
