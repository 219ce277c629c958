"""Equation -> function -> test, read from the derivations, the docstrings and the tests.

A docstring names the equation that its function computes as ``docs/derivations/floors.md, eq.
(3)``; several are ``eq. (3) and (4)``.  Numbers stand at the end of a line of an indented formula,
or in a ``\\tag`` of TeX.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    "theory/index",
    *(f"derivations/{p.stem}" for p in sorted((ROOT / "docs/derivations").glob("*"))),
)

NUMBER = r"\(\d+'?\)"
CITED = re.compile(
    rf"docs/((?:derivations|theory)/\w+)\.md, eqs?\. ({NUMBER}(?:(?:,| and) {NUMBER})*)"
)


@dataclass(frozen=True, order=True)
class Citation:
    """An equation that a docstring names: its page, its number, and the function or class."""

    page: str
    number: str
    function: str


def equations(text: str) -> dict[str, str]:
    """Number -> formula of a page, the formula as Markdown."""
    numbered = {}
    for block in re.findall(r"(?:^    .*\n)+", text, flags=re.MULTILINE):
        lines: list[str] = []
        for line in block.splitlines():
            match = re.fullmatch(rf"(.*\S)\s+({NUMBER})", line)
            lines.append(" ".join((match[1] if match else line).split()))
            if match:
                numbered[match[2][1:-1]] = "<br>".join(f"`{part}`" for part in lines)
                lines = []
    for formula in re.findall(r"\$\$(.*?)\$\$", text, flags=re.DOTALL):
        tag = re.search(r"\\tag\{(.*?)\}", formula)
        if tag:
            # On one line, for it goes into a row of a table.
            numbered[tag[1]] = f"${' '.join(formula.replace(tag[0], '').split())}$"
    return numbered


def page_text(page: str) -> str:
    """The source of a page by its name: ``derivations/floors``."""
    return (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Qualified name and docstring of a module and of all that it defines."""
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    module = ".".join(part for part in parts if part != "__init__")
    definition = ast.FunctionDef | ast.ClassDef

    def below(node: ast.Module | definition, name: str) -> Iterator[tuple[str, str]]:
        yield name, " ".join((ast.get_docstring(node) or "").split())
        for child in node.body:
            if isinstance(child, definition):
                yield from below(child, f"{name}.{child.name}")

    yield from below(ast.parse(path.read_text(encoding="utf-8")), module)


def citations() -> list[Citation]:
    """Every equation that a docstring of the package names, in the order of the pages."""
    return sorted(
        Citation(page, number[1:-1], name)
        for path in (ROOT / "src").rglob("*.py")
        for name, text in docstrings(path)
        for page, numbers in CITED.findall(text)
        for number in re.findall(NUMBER, numbers)
    )


def tests_by_name() -> dict[str, list[str]]:
    """Qualified name -> tests that use it, themselves or by a helper of their file.

    A file must import a function or a class from its module; a method is that of such a class.
    """
    users: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        names, attributes = (
            {
                function.name: {
                    getattr(n, field) for n in ast.walk(function) if isinstance(n, kind)
                }
                for function in tree.body
                if isinstance(function, ast.FunctionDef)
            }
            for kind, field in ((ast.Name, "id"), (ast.Attribute, "attr"))
        )
        for test in (name for name in names if name.startswith("test_")):
            reached = [test, *(name for name in names[test] if name in names)]
            used = {imported[n] for f in reached for n in names[f] if n in imported}
            used |= {f"{owner}.{a}" for owner in set(used) for f in reached for a in attributes[f]}
            for name in used:
                users.setdefault(name, []).append(f"{path.relative_to(ROOT).as_posix()}::{test}")
    return users


def rows(page: str, cited: list[Citation], users: Mapping[str, list[str]]) -> list[list[str]]:
    """Number, formula, functions and a test of each, for the equations of a page that are cited.

    A function that no test uses by itself is tested by the file that a derivation it names names
    last.
    """

    def test_of(function: str) -> str:
        pages = {page, *(c.page for c in cited if c.function == function)}
        # This page first where it is a derivation: "theory/index" tells many of them.
        derivations = sorted(pages, key=lambda other: (other == "theory/index", other != page))
        files = (re.findall(r"tests/[\w/]+\.py", page_text(other))[-1:] for other in derivations)
        return next(
            iter((*users.get(function, []), *(file for named in files for file in named), "-"))
        )

    table = []
    for number, formula in equations(page_text(page)).items():
        functions = [c.function for c in cited if (c.page, c.number) == (page, number)]
        if functions:
            tests = [test_of(function) for function in functions]
            joined = ("<br>".join(f"`{name}`" for name in names) for names in (functions, tests))
            table.append([f"({number})", formula, *joined])
    return table


def formulas_text() -> str:
    """A table for each page with equations that docstrings name."""
    cited, users = citations(), tests_by_name()
    head = "| | equation | computed by | tested by |\n|---|---|---|---|\n"
    parts = []
    for page in PAGES:
        lines = [
            "| " + " | ".join(c.replace("|", r"\|") for c in row) + " |"
            for row in rows(page, cited, users)
        ]
        if lines:
            title = page_text(page).partition("# ")[2].partition("\n")[0]
            parts.append(f"## {title}\n\n[The derivation](/{page})\n\n{head}" + "\n".join(lines))
    return "\n\n".join(parts)
