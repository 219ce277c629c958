"""A file imports only from its own room and from the rooms above it."""

import ast
from pathlib import Path

import pytest

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
    "reports",
    "explorer",
    "cli",
]


def homes() -> dict[str, str]:
    """Public name of the package -> the module that it comes from, as type checkers read it."""
    stub = SOURCE / "__init__.pyi"
    front = stub if stub.exists() else SOURCE / "__init__.py"
    imports = [
        n for n in ast.walk(ast.parse(front.read_text("utf-8"))) if isinstance(n, ast.ImportFrom)
    ]
    return {
        alias.asname or alias.name: str(node.module).removeprefix("giantstep.")
        for node in imports
        if node.level or str(node.module).startswith("giantstep.")
        for alias in node.names
    }


HOMES = homes()


def modules_imported(tree: ast.Module) -> set[str]:
    """Modules of giantstep that a file imports, public names resolved to where they come from.

    ``from giantstep import X``, and ``giantstep.X`` after ``import giantstep``, import the module
    of X; ``__version__`` and ``__file__`` come from no room.
    """
    nodes = list(ast.walk(tree))
    modules = [str(n.module) for n in nodes if isinstance(n, ast.ImportFrom)]
    plain = [a for n in nodes if isinstance(n, ast.Import) for a in n.names]
    modules += [alias.name for alias in plain]
    packages = {alias.asname or alias.name for alias in plain if alias.name == "giantstep"}
    public = [
        a.name
        for n in nodes
        if isinstance(n, ast.ImportFrom) and n.module == "giantstep"
        for a in n.names
    ]
    public += [
        n.attr
        for n in nodes
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in packages
    ]
    inside = {name.removeprefix("giantstep.") for name in modules if name.startswith("giantstep.")}
    # A name that is not public is a room: ``from giantstep import show``.
    return inside | {HOMES.get(name, name) for name in public if not name.startswith("__")}


def rooms_imported(tree: ast.Module) -> set[str]:
    """Rooms of every import of giantstep in a file, wherever in it they stand."""
    return {module.split(".")[0] for module in modules_imported(tree)}


def looks_down(room: str, source: str) -> set[str]:
    """Rooms below ``room`` that a source text imports from."""
    return {r for r in rooms_imported(ast.parse(source)) if ROOMS.index(r) > ROOMS.index(room)}


def test_imports_only_look_up() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem in ROOMS]
    assert {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in files} == set(ROOMS)
    for path in files:
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        assert not looks_down(room, path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    from giantstep.show.plots.record import plot",
        "import giantstep.show.plots.record as drawn",
        "from giantstep import plot",
        "from giantstep import show",
        "def f(x):\n    import giantstep\n    return giantstep.plot(x)",
        "import giantstep as package\nfigure = package.plot(1)",
    ],
)
def test_an_import_from_below_is_seen(source: str) -> None:
    assert looks_down("records", source) == {"show"}


def test_an_import_from_above_is_allowed() -> None:
    assert looks_down("analysis", "from giantstep.problem.setting import Setting") == set()
    assert looks_down("analysis", "from giantstep import Setting, __version__") == set()
    assert looks_down("records", "import giantstep\nroot = giantstep.__file__") == set()
