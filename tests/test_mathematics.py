"""Formulas of the docs and of the records are LaTeX: balanced, numbered once, not too wide.

What the docs write as $...$ or $$...$$ MathJax draws, in pictures mathtext does; a formula in plain
text neither does.  Terminals get the formulas of records in plain characters.
"""

import re
from pathlib import Path

import pytest
from matplotlib.mathtext import MathTextParser

from giantstep.language.functions import FUNCTIONS
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.stored import stored_records
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.papers.figures.stored import stored
from giantstep.papers.glossary import TERMS
from giantstep.show.tex import plain_words

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if "_build" not in path.parts
}

WIDEST = 55
"""Symbols in one line of a displayed formula, without brackets that group and without spaces: some
90 characters of LaTeX.  A longer line does not fit a page, and not a phone turned on its side."""

CODE = re.compile(r"\A---\n.*?\n---\n|^(`{3,}).*?^\1[^\n]*$|<!--.*?-->|`[^`\n]+`", re.S | re.M)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.S)
INLINE = re.compile(r"\$[^$]+\$")
LINK = re.compile(r"\]\([^)\s]*\)")
IDENTIFIER = re.compile(rf"^## [a-z0-9-]+$|^\| (?:{'|'.join(CLAIMS)}) \|", re.M)
"""Names of claims, as titles and in the first column of tables: they are what a command takes."""
GREEK = (
    "alpha|beta|gamma|delta|eps|zeta|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|psi|omega"
)
PLAIN = re.compile(
    r"^ {4,}\S"  # a block of formulas
    r"|\^|_\{|\b[A-Za-z]+_[A-Za-z0-9*]"  # powers and indices
    r"|\bsqrt\b|\bE\[|\bE_|\bsum\b[^.]*=|\bint_"  # roots, expectations, sums
    r"|<=|>=|->|\+-|!=|\\\*"  # relations in keyboard characters
    rf"|\b(?:{GREEK})\b"  # names of letters
    r"|(?<![\w.])[A-Za-z]'?(?:\([a-z]\))? = "  # x = 1
    r"|(?<![\w`'./-])[dnpW](?![\w'.-]*\w)(?!-)|\b[dnp]/[dnp\d]|\b\d[dnp]\b",  # sizes: d, n/d, 4d
    re.M,
)


def without_code(text: str) -> str:
    """A page without its front matter, fenced blocks, comments and inline code."""
    return CODE.sub("", text)


def displays(text: str) -> list[str]:
    """Displayed formulas of a page."""
    return DISPLAY.findall(without_code(text))


def plain_formulas(text: str) -> list[str]:
    """Lines that have formulas in plain text, outside of dollars and code."""
    prose = INLINE.sub("", DISPLAY.sub("", IDENTIFIER.sub("", without_code(text))))
    lines = LINK.sub("]", prose).splitlines()
    return [line for line in lines if PLAIN.search(line)]


def faults(text: str) -> list[str]:
    """Dollars without partner, brackets that do not close and numbers given twice."""
    page = without_code(text)
    blocks = re.split(r"\n\s*\n", page)
    found = [f"dollars: {block}" for block in blocks if block.count("$") % 2]
    found += [f"dollars: {block}" for block in blocks if block.count("$$") % 2]
    rest = DISPLAY.sub("", page)
    for formula in (*DISPLAY.findall(page), *INLINE.findall(rest)):
        plain = re.sub(r"\\[{}]", "", formula)
        pairs = (("{", "}"), (r"\left", r"\right"), (r"\begin{", r"\end{"))
        words = re.sub(r"\\(?:left|right)[a-z]\w*", "", plain)  # arrows are no brackets
        if any(words.count(opening) != words.count(closing) for opening, closing in pairs):
            found.append(f"brackets: {formula}")
        if formula.count(r"\tag{") > 1:
            found.append(f"two numbers: {formula}")
    tags = re.findall(r"\\tag\{(.+?)\}", page)
    return found + [f"number twice: {tag}" for tag in set(tags) if tags.count(tag) > 1]


def width(line: str) -> int:
    """About how many symbols a line of LaTeX shows."""
    shown = re.sub(
        r"\\tag\{.*?\}|\\(?:begin|end)\{.*?\}|\\(?:text|mathrm|mathbb|mathcal)\b", "", line
    )
    shown = re.sub(r"\\(?:[Bb]igg?[lrm]?|tfrac|frac|left|right|sqrt|phantom)\b|\\[,;!:]", "", shown)
    return len(re.sub(r"[{}&$\s^_]", "", re.sub(r"\\[A-Za-z]+", "x", shown)))


def texts_of_claims() -> dict[str, str]:
    """What claims say, and the names of the quantities and curves of their stored records."""
    texts = {}
    for name, claim in CLAIMS.items():
        said = {"statement": claim.statement, "regime": claim.regime, "rule": claim.rule}
        said |= {"assumptions": claim.source.assumptions, "place": claim.source.place}
        said |= {"measured": claim.measured_instead, "controls": "\n".join(claim.controls)}
        record = stored_records()[name]
        plot = record["plot"] or {"curves": [], "levels": {}, "marks": {}}
        labels = [curve["label"] for curve in plot["curves"]]
        names = [*record["measured"], *labels, *plot["levels"], *plot["marks"]]
        # An activation goes by the name that is typed, as in leaky_relu.
        typed = "|".join(function for function in FUNCTIONS if "_" in function)
        said["names"] = re.sub(rf"\b(?:{typed})\b", "", "\n".join(names))
        texts |= {f"{name}: {part}": text for part, text in said.items()}
    return texts


def texts_of_figures() -> dict[str, str]:
    """Titles and captions of the papers' figures, at their stored sizes."""
    drawn = {name: (figure, stored(name)) for name, figure in REPRODUCTIONS.items()}
    captions = {n: f.caption.format(**data.sizes) for n, (f, data) in drawn.items() if data}
    return captions | {f"{name}: title": figure.title for name, (figure, _) in drawn.items()}


TEXTS = {
    "claims": texts_of_claims(),
    "figures": texts_of_figures(),
    "glossary": {term.name: f"{term.text}\n\n{term.formula}" for term in TERMS},
}


def broken_formulas(text: str) -> list[str]:
    """Formulas of a record that mathtext does not read or that a line break may divide."""
    read, broken = MathTextParser("path"), []
    for formula in INLINE.findall(text):
        try:
            read.parse(formula)
        except ValueError:
            broken.append(formula)
    return broken + [formula for formula in INLINE.findall(text) if " " in formula]


@pytest.mark.parametrize("records", TEXTS)
def test_formulas_of_records_are_latex(records: str) -> None:
    texts = TEXTS[records]
    assert len(texts) > 30
    assert {
        name: plain_formulas(text) for name, text in texts.items() if plain_formulas(text)
    } == {}
    assert [fault for text in texts.values() for fault in faults(text)] == []
    lines = {name: text for name, text in texts.items() if not name.endswith(": title")}
    assert [formula for text in lines.values() for formula in broken_formulas(text)] == []


@pytest.mark.parametrize("records", TEXTS)
def test_terminals_get_no_latex(records: str) -> None:
    for text in TEXTS[records].values():
        assert not set(plain_words(text)) & set("\\$`")


def test_a_formula_that_cannot_be_drawn_or_may_be_divided_is_seen() -> None:
    assert broken_formulas(r"With $\sqrt{p}$ and $\|w_i\|$ it is.") == []
    assert broken_formulas(r"With $\sqrt{p$ it is.")
    assert broken_formulas(r"With $\unknown{p}$ it is.")
    assert broken_formulas("With $n = 4d$ it is.")


@pytest.mark.parametrize("page", PAGES)
def test_formulas_are_latex(page: str) -> None:
    assert plain_formulas(PAGES[page]) == []


@pytest.mark.parametrize("page", PAGES)
def test_formulas_are_well_formed(page: str) -> None:
    assert faults(PAGES[page]) == []


@pytest.mark.parametrize("page", PAGES)
def test_formulas_fit_a_page(page: str) -> None:
    lines = [line for formula in displays(PAGES[page]) for line in formula.split(r"\\")]
    assert [line for line in lines if width(line) > WIDEST] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("derivations/")])
def test_numbers_start_from_one_without_gaps(page: str) -> None:
    tags = re.findall(r"\\tag\{(.+?)\}", PAGES[page])
    assert sorted(tags, key=int) == [str(number) for number in range(1, len(tags) + 1)]


@pytest.mark.parametrize(
    "text",
    [
        "So\n\n    C' = C + (eta/n) c^T Z\n\nholds.",
        "Here Q = W W^T holds.",
        "It is of order sqrt(p) here.",
        "With E[y z] it is 1.",
        "Here c_{>1} counts.",
        "The sum over k of b is = 1 and a sum of squares = 2.",
        "The length of w_i grows.",
        "It falls as kappa grows.",
        "For n >= d it holds.",
        "The number of samples is 4d.",
        "As d grows it falls.",
        "At fixed n/d it holds.",
        "The rows of W are longer.",
    ],
)
def test_a_formula_in_plain_text_is_seen(text: str) -> None:
    assert plain_formulas(text)
    assert not plain_formulas(f"```\n{text}\n```\n")


def test_latex_and_code_are_no_plain_text() -> None:
    prose = "With $Q=WW^\\top$ and `step_size = 2` ([see](closed_system.md)) it is"
    text = f"{prose}\n\n$$a_i=1.\\tag{{1}}$$\n"
    assert plain_formulas(text) == []
    assert faults(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "With $a and b.",
        "$$a=b\n\nand $c$.",
        "With $\\frac{1}{2$ it is.",
        "$$\\begin{aligned}a&=b$$",
        "$$a=1\\tag{1}$$ and\n\n$$b=2\\tag{1}$$",
        "$$\\begin{aligned}a&=1\\tag{1}\\\\b&=2\\tag{2}\\end{aligned}$$",
    ],
)
def test_a_fault_in_latex_is_seen(text: str) -> None:
    assert faults(text)


def test_a_formula_that_is_too_wide_is_seen() -> None:
    assert width(r"\sum_k\frac{b_{k+1}}{k!}\,T_{k+1}[m^{\otimes k}]\tag{1}") < 30
    assert width("x" * (WIDEST + 1)) > WIDEST
