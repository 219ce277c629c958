"""What the code lists itself, written into the pages that ask for it: ``<!-- drawn: NAME -->``.

Figures of the papers are drawn from their stored numbers; tables of fields, functions, targets
and commands and the words of ``giantstep explain`` come from the records that the program itself
reads.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from formulas import formulas_text
from sphinx.application import Sphinx
from terms import appearances, key, mathematics

import giantstep
from giantstep.cli.app import app as command_line
from giantstep.language.functions import FUNCTIONS
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.papers.figures.stored import stored
from giantstep.papers.glossary import BY_NAME, TERMS
from giantstep.papers.glossary.term import Term
from giantstep.prediction.limits import LimitStatus
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import LINEAR_WIDTH, Setting
from giantstep.show.plots.papers import paper_figure
from giantstep.show.plots.style import save
from giantstep.show.tables.limits import bound_words

MARK = re.compile(r"<!-- drawn: (\w+) -->")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars inside a cell are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines
    )


def code(value: object) -> str:
    return f"`{value}`" if value not in (None, "") else ""


def figures(source: Path) -> str:
    """Every figure of the papers: picture, caption, the command and the lines that make it."""
    folder = source / "_build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for name, figure in REPRODUCTIONS.items():
        data = stored(name)
        if data is None:
            raise ValueError(f"no stored numbers of {name}: make figures computes them")
        save(paper_figure(figure, data), folder / f"{name}.png")
        lines = inspect.getsource(figure.panels).rstrip()
        home = Path(str(inspect.getsourcefile(figure.panels))).name
        command, *remarks = data.command.split(", ")
        cost = ", ".join([f"{data.seconds:.0f} s on {data.device}", *remarks])
        parts.append(
            f"## {figure.title}\n\n*{figure.paper}*\n\n"
            f"![{figure.title}](/_build/pictures/{name}.png)\n\n"
            f"{figure.caption_of(data.sizes)}\n\n"
            f"```{{code-block}} console\n$ giantstep reproduce {name}\n$ {command}\n```\n\n"
            f"The numbers took {cost}.\n\n"
            f":::{{dropdown}} The lines that make it: `papers/figures/{home}`\n"
            f"```{{code-block}} python\n{lines}\n```\n:::"
        )
    return "\n\n".join(parts)


def fields(source: Path) -> str:
    """Every field of a setting: what it means and what it is unless given."""
    rows = [
        (
            code(name),
            field.sentence.replace("<", "&lt;").replace("*", r"\*"),
            field.default_words or code(field.default),
        )
        for name, field in Setting.fields.items()
    ]
    return table(("field", "meaning", "unless given"), rows)


def linear_width(source: Path) -> str:
    """What ``Setting.linear_width`` and ``giantstep spectrum`` start from."""
    return table(("field", "unless given"), [(code(k), code(v)) for k, v in LINEAR_WIDTH.items()])


def functions(source: Path) -> str:
    return ", ".join(code(name) for name in FUNCTIONS)


def catalog(source: Path) -> str:
    """The papers' targets by name; long expressions are shortened."""
    rows = [
        (
            code(name),
            code(e.expression if len(e.expression) < 90 else e.expression[:60] + " ..."),
            e.remark,
            e.source,
        )
        for name, e in CATALOG.items()
    ]
    return table(("name", "target", "why", "from"), rows)


def other_names(source: Path) -> str:
    """Public names that no group of the reference has, as one more group."""
    page = (source / "reference" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r":: giantstep\.(\w+)$", page, flags=re.MULTILINE))
    entries = [
        f".. autoclass:: giantstep.{name}\n   :members:"
        if inspect.isclass(getattr(giantstep, name))
        else f".. autofunction:: giantstep.{name}"
        for name in giantstep.__all__
        if name not in listed
    ]
    return "## More\n\n```{eval-rst}\n" + "\n".join(entries) + "\n```" if entries else ""


def limits(source: Path) -> str:
    """Every limit of the predictions, a table for each theory."""
    by_theory: dict[str, list[LimitStatus]] = {}
    for status in giantstep.limits():
        by_theory.setdefault(status.theory, []).append(status)
    head = ("of", "quantity", "bound", "kind", "evidence")
    return "\n\n".join(
        f"## {theory[0].upper()}{theory[1:]}\n\n"
        + table(
            head,
            (
                (
                    status.part or "the prediction",
                    status.limit.name,
                    bound_words(status),
                    status.limit.kind,
                    code(status.limit.evidence),
                )
                for status in statuses
            ),
        )
        for theory, statuses in by_theory.items()
    )


def examples(source: Path) -> str:
    """The scripts and grids of ``examples/``, each with its title and its text."""
    parts = []
    # Stories first, then grids.
    for path in sorted((source.parent / "examples").glob("*.*"), key=lambda path: path.suffix):
        text = path.read_text(encoding="utf-8").rstrip()
        language = path.suffix.removeprefix(".")
        # Of a notebook its first heading, of a grid its first line.
        head = r"^# # (.+)$" if path.suffix == ".py" else r"^# (.+)$"
        title = re.search(head, text, flags=re.MULTILINE)
        run = f"python examples/{path.name}"
        if path.suffix == ".toml":
            run = f"giantstep sweep examples/{path.name} --out results/{path.stem}"
        words = title[1].rstrip(".") if title else path.stem
        # Sizes such as n = d^k and k = 2 are set as mathematics.
        words = re.sub(r"\b[a-z] = (?:[a-z]\^)?\w\b", r"$\g<0>$", words)
        parts.append(
            f"## {words}\n\n"
            f"```{{code-block}} console\n$ {run}\n```\n\n"
            f":::{{dropdown}} `examples/{path.name}`\n"
            f"```{{code-block}} {language}\n{text}\n```\n:::"
        )
    return "\n\n".join(parts)


def commands(source: Path) -> str:
    """What every command says of itself."""
    names = [name for name in command_line if not name.startswith("-")]
    return "\n\n".join(
        f"## giantstep {name}\n\n```{{shell}}\ngiantstep {name} --help\n```" for name in names
    )


SIGNS = re.compile(r"[_^|~]|[a-z] =")
"""Names of the glossary that are formulas or code as tables print them."""


MOST_PAGES = 8
"""Pages that an entry of the glossary lists."""


def entry(term: Term, pages: Sequence[str]) -> str:
    """A word as ``{glossary}`` takes it: definition, formula, explanation, where it appears."""
    names = [
        code(name) if SIGNS.search(name) and mathematics(name) == name else mathematics(name)
        for name in term.names
    ]
    shown = ", ".join(f"{{doc}}`/{page}`" for page in pages[:MOST_PAGES])
    more = f" and {len(pages) - MOST_PAGES} more pages" if len(pages) > MOST_PAGES else ""
    after = [f"appears in {shown}{more}"] * bool(pages)
    after += [f"paper: {term.paper}"] * bool(term.paper)
    if term.see:
        after.append(
            "see also " + ", ".join(f"{{term}}`{key(name)}`" for name in map(readable, term.see))
        )
    last = "; ".join(after)
    parts = (term.definition, term.formula, term.explanation, last[:1].upper() + last[1:])
    return "\n".join(names) + "\n" + "\n\n".join(f"  {part}" for part in parts if part)


def readable(name: str) -> str:
    """A name of the same entry without signs, where there is one: links show no formulas."""
    return next((other for other in BY_NAME[name].names if not SIGNS.search(other)), name)


def glossary(source: Path) -> str:
    """Every word of ``giantstep explain``, with links to others and to pages that use it."""
    pages = {
        path.relative_to(source).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(source.rglob("*.md"))
        if "_build" not in path.parts and path.stem not in ("glossary", "changelog")
    }
    used = appearances(pages)
    entries = "\n\n".join(entry(term, used.get(term.name, ())) for term in TERMS)
    return f"```{{glossary}}\n{entries}\n```"


def formulas(source: Path) -> str:
    """Equations that docstrings name, with the functions and their tests."""
    return formulas_text()


DRAWN: dict[str, Callable[[Path], str]] = {
    function.__name__: function
    for function in (
        figures,
        fields,
        linear_width,
        functions,
        limits,
        catalog,
        other_names,
        examples,
        commands,
        glossary,
        formulas,
    )
}


def fill(app: Sphinx, name: str, source: list[str]) -> None:
    """Put what the code lists in the place of its marks."""
    source[0] = MARK.sub(lambda mark: DRAWN[mark[1]](Path(app.srcdir)), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
