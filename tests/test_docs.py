"""What the pages of the site say is so: names exist, commands parse, every block is one that runs.

``make docs`` runs the blocks themselves and checks the links of the built site.
"""

import re
import shlex
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from cyclopts import CycloptsError

import giantstep
from giantstep.cli.app import app
from giantstep.papers.glossary import BY_NAME, TERMS
from giantstep.problem.starts import READOUT_STARTS

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    str(path.relative_to(DOCS)): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if "_build" not in path.parts
}
FENCE = re.compile(r"^(`{3,})(\S*)[^\n]*\n(.*?)^\1\s*$", flags=re.DOTALL | re.MULTILINE)


def names(text: str) -> list[str]:
    """Dotted names of the package in inline code."""
    return re.findall(r"`(giantstep(?:\.\w+)+)`", text)


def resolve(name: str) -> object:
    """What a dotted name stands for: a module, or something in one."""
    found: object = giantstep
    parts = name.split(".")
    for depth, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            import_module(".".join(parts[:depth]))
        found = getattr(found, part)
    return found


def commands(text: str) -> list[list[str]]:
    """Every command of ours in a block for the shell, as arguments, without what it is piped to."""
    found = []
    for _, kind, block in FENCE.findall(text):
        if kind in ("{shell}", "bash", "console"):
            lines = re.sub(r"\\\n\s*", " ", block).splitlines()
            for line in (line.removeprefix("$ ") for line in lines):
                if line.startswith("giantstep "):
                    tokens = shlex.split(line, comments=True)
                    end = tokens.index("|") if "|" in tokens else len(tokens)
                    found.append(tokens[1:end])
    return found


def parse(command: list[str]) -> None:
    app.parse_args(command, exit_on_error=False, print_error=False)


def load(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


formulas = load(DOCS / "_ext" / "formulas.py")
terms = load(DOCS / "_ext" / "terms.py")
closed = load(DOCS / "closed.py")
ALL_NAMES = sorted({name for text in PAGES.values() for name in names(text)})
ALL_COMMANDS = [(page, command) for page, text in PAGES.items() for command in commands(text)]


@pytest.mark.parametrize("name", ALL_NAMES)
def test_name_exists(name: str) -> None:
    resolve(name)


def test_a_name_that_does_not_exist_is_seen() -> None:
    assert names("in `giantstep.spectra.bulk.Hulk`") == ["giantstep.spectra.bulk.Hulk"]
    with pytest.raises(ImportError):
        resolve("giantstep.spectra.bulk.Hulk")


def test_every_equation_of_the_theory_has_its_place() -> None:
    told = set(re.findall(r"\\tag\{(\d+)\}", PAGES["theory/index.md"]))
    placed = set(re.findall(r"^\| (?:covariance of )?\((\d+)\)", PAGES["theory/formulas.md"], re.M))
    placed |= {c.number for c in formulas.citations() if c.page == "theory/index"}
    assert told - placed == set()
    assert len(told) >= 10


def test_every_equation_that_a_docstring_names_exists() -> None:
    cited = formulas.citations()
    assert len(cited) >= 9
    for citation in cited:
        assert citation.number in formulas.equations(formulas.page_text(citation.page)), citation


def test_equations_citations_and_tests_are_found() -> None:
    """On a page and a docstring made here: a number that does not exist would be seen."""
    page = "So\n\n    a = b,\n    c = d    (1)\n\nand $$e = f\\tag{2'}$$ and (3).\n"
    assert formulas.equations(page) == {"1": "`a = b,`<br>`c = d`", "2'": "$e = f$"}
    text = "As in docs/derivations/floors.md, eq. (3) and (4'), and docs/derivations/bulk.md."
    assert formulas.CITED.findall(text) == [("derivations/floors", "(3) and (4')")]
    users = formulas.tests_by_name()["giantstep.analysis.floors.sampled_floor"]
    assert all(user.startswith("tests/analysis/test_") for user in users)


def test_every_formula_of_the_page_has_a_test() -> None:
    text = formulas.formulas_text()
    assert "`giantstep.analysis.staircase.staircase` | `tests/analysis/test_staircase.py::" in text
    assert "`-`" not in text


@pytest.mark.parametrize(("page", "command"), ALL_COMMANDS)
def test_command_parses(page: str, command: list[str]) -> None:
    if "--help" not in command:
        parse(command)


def test_a_command_that_does_not_parse_is_seen() -> None:
    [command] = commands("```{shell}\ngiantstep learn staircase \\\n    --widths 3 | head\n```\n")
    with pytest.raises(CycloptsError):
        parse(command)


def test_there_is_enough_to_check() -> None:
    assert len(ALL_NAMES) >= 40
    assert len(ALL_COMMANDS) >= 15


# Derivations hold equations, and what was measured on other machines is shown as it was.
SHOWN_AS_IT_WAS = ("derivations/", "reach.md")


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith(SHOWN_AS_IT_WAS)])
def test_every_block_is_one_that_runs(page: str) -> None:
    """Python and commands with output stand in blocks that the build executes."""
    kinds = {kind for _, kind, _ in FENCE.findall(PAGES[page])}
    assert not kinds & {"python", "py", "pycon", "console", "ipython"}
    if "{code-cell}" in kinds:
        assert PAGES[page].startswith("---\nfile_format: mystnb\n")


def test_sizes_of_readout_conventions_are_those_of_the_program() -> None:
    """A step of the size that the table names is the giant one, for every output scale."""
    rows = re.findall(
        r"^\| `(\w+)` \|.*?((?:\| `[^`]+` ){3})\|$", PAGES["reference/setting.md"], re.M
    )
    assert [name for name, _ in rows] == list(READOUT_STARTS)
    for name, cells in rows:
        for scale, size in zip(
            ("1/p", "1/sqrt(p)", "1"), re.findall(r"`(.+?)`", cells), strict=True
        ):
            setting = giantstep.Setting("x1", p=6, steps=1, readout_start=name, output_scale=scale)
            typed = setting.vary(step_size=size)
            assert typed.step_size == pytest.approx(setting.step_size), (name, scale)


def test_reference_groups_public_names() -> None:
    """No name stands twice or is none of ours; those of no group the build puts into one."""
    pattern = r"^\.\. (?:auto\w+|py:data):: giantstep\.(\w+)$"
    grouped = re.findall(pattern, PAGES["reference/api.md"], re.M)
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= set(giantstep.__all__)
    assert "<!-- drawn: other_names -->" in PAGES["reference/api.md"]


def test_pins_of_the_site_stand_beside_those_of_the_tests() -> None:
    """No package is pinned twice, and no line names an index."""
    lines = [
        line
        for file in ("requirements.txt", "requirements-dev.txt", "docs/requirements.txt")
        for line in (DOCS.parent / file).read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    packages = [re.sub(r"[-_.]+", "-", line.split("==")[0].lower()) for line in lines]
    assert len(packages) == len(set(packages))


def test_a_closed_site_and_ones_that_are_not(tmp_path: Path) -> None:
    complaints = load(DOCS / "closed.py").complaints
    style = tmp_path / "style.css"
    style.write_text("p { background: url(dots.png) }")
    good = (
        '<link rel="stylesheet" href="style.css"><a href="b.html#there">b</a><a href="http://x.y">'
    )
    (tmp_path / "a.html").write_text(good)
    (tmp_path / "b.html").write_text('<p id="there"><img src="data:image/png;base64,x"></p>')
    assert list(complaints(tmp_path)) == []
    for wrong in (
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//cdn.example/x.css">',
        '<img src="gone.png">',
        '<a href="c.html">c</a>',
        '<a href="b.html#gone">b</a>',
    ):
        (tmp_path / "a.html").write_text(wrong)
        assert len(list(complaints(tmp_path))) >= 1, wrong
    (tmp_path / "a.html").write_text(good)
    style.write_text("@font-face { src: url('https://fonts.example/x.woff2') }")
    assert len(list(complaints(tmp_path))) == 1


def test_a_term_is_a_link_where_it_stands_first() -> None:
    remaining = dict(terms.LINKED)
    text = "Giant steps, then a giant step; the leap index and its information exponent."
    pieces = list(terms.first_uses(text, remaining))
    assert "".join(words for words, _ in pieces) == text
    assert [piece for piece in pieces if piece[1]] == [
        ("Giant steps", "giant"),
        ("leap index", "leap"),
    ]
    # The second name of an entry is no second link, and what is part of a word is none.
    assert not {"giant step", "information exponent"} & set(remaining)
    assert [
        entry for _, entry in terms.first_uses("spikes-make-the-features", remaining) if entry
    ] == []
    assert [
        entry for _, entry in terms.first_uses("Spikes leave the bulk.", remaining) if entry
    ] == [
        "spike",
        "bulk",
    ]


def test_linked_terms_are_names_that_pages_use() -> None:
    """Every linked name belongs to one entry, and some page uses each entry that is linked."""
    assert len(terms.LINKED) == sum(len(term.linked) for term in TERMS)
    assert set(terms.LINKED.values()) <= set(BY_NAME)
    used = terms.appearances({name: text for name, text in PAGES.items() if "glossary" not in name})
    assert set(used) == set(terms.LINKED.values())
    assert "introduction.md" in used["staircase"]
    code = "# Leap index\n\n`leap index` and $spike$\n\n```\nleap index\n```\n"
    assert terms.appearances({"page": code}) == {}


def test_the_search_must_find_what_readers_type() -> None:
    """On an index made here: a word that leads to another page, or to none, is told."""
    pages = '"docnames":["faq","reference/glossary","citing","pytorch"]'
    index = f'Search.setIndex({{{pages},"terms":{{"faq":0,"citation":[0,2]}},'
    index += '"titleterms":{"glossary":1,"pytorch":2}})'
    said = list(closed.not_found(index, str))
    assert said == ["the search for pytorch does not find pytorch"]


@pytest.mark.parametrize("word", ["faq", "glossary", "pytorch"])
def test_pages_have_the_words_in_their_titles_that_readers_type(word: str) -> None:
    title = PAGES[f"{closed.SEARCHED[word]}.md"].partition("# ")[2].partition("\n")[0]
    assert word in title.lower()


def test_explorer_and_tutorial_come_first() -> None:
    toctree = PAGES["index.md"].rpartition("```{toctree}")[2]
    assert re.findall(r"<(\S+)>", toctree)[:2] == ["explorer", "tutorial"]


def test_names_of_the_glossary_are_mathematics() -> None:
    assert terms.mathematics("T_k") == "$T_k$"
    assert terms.mathematics("can learn T_k") == "can learn $T_k$"
    assert terms.mathematics("order d^-1/2") == "order $d^{-1/2}$"
    assert terms.mathematics("principal_cosine_1") == "principal_cosine_1"
    assert terms.key("order d^-1/2") == "order d^{-1/2}"


def test_a_floor_is_no_bound_at_finite_sizes() -> None:
    """Errors may lie below a floor at a finite d, and no page says otherwise."""
    assert not any("No readout can do better" in text for text in PAGES.values())
