"""A file imports only from its own room and from the rooms above it."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "giantstep"

# From the top floor down; a room is a folder or a file.
ROOMS = [
    "errors",
    "language",
    "gaussian",
    "problem",
    "records",
    "analysis",
    "spectra",
    "simulation",
    "prediction",
    "experiment",
    "store",
    "sweeps",
    "papers",
    "show",
    "estimator",
    "explorer",
    "cli",
]


def rooms_imported(tree: ast.Module) -> set[str]:
    """Rooms of every import of giantstep in a file, wherever in it they stand."""
    modules = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
    modules += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    return {name.split(".")[1] for name in modules if name.startswith("giantstep.")}


def looks_down(room: str, source: str) -> set[str]:
    """Rooms below ``room`` that a source text imports from."""
    return {r for r in rooms_imported(ast.parse(source)) if ROOMS.index(r) > ROOMS.index(room)}


def test_imports_only_look_up() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem in ROOMS]
    assert {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in files} == set(ROOMS)
    for path in files:
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        assert not looks_down(room, path.read_text(encoding="utf-8")), path


def test_an_import_from_below_is_seen() -> None:
    assert looks_down("problem", "def f():\n    from giantstep.analysis.floors import floor") == {
        "analysis"
    }
    assert looks_down("analysis", "from giantstep.problem.setting import Setting") == set()
