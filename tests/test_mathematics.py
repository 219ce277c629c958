"""Formulas of the derivations and of the theory are LaTeX: balanced, numbered once, not too wide.

What the docs write as $...$ or $$...$$ MathJax draws; a formula in plain text it does not.
"""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    f"{path.parent.name}/{path.name}": path.read_text(encoding="utf-8")
    for folder in ("derivations", "theory")
    for path in sorted((DOCS / folder).glob("*.md"))
}

WIDEST = 55
"""Symbols in one line of a displayed formula, without brackets that group and without spaces: some
90 characters of LaTeX.  A longer line does not fit a page, and not a phone turned on its side."""

CODE = re.compile(r"\A---\n.*?\n---\n|^(`{3,}).*?^\1[^\n]*$|<!--.*?-->|`[^`\n]+`", re.S | re.M)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.S)
INLINE = re.compile(r"\$[^$]+\$")
LINK = re.compile(r"\]\([^)\s]*\)")
GREEK = (
    "alpha|beta|gamma|delta|eps|zeta|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|psi|omega"
)
PLAIN = re.compile(
    r"^ {4,}\S"  # a block of formulas
    r"|\^|_\{|\b[A-Za-z]+_[A-Za-z0-9*]"  # powers and indices
    r"|\bsqrt\b|\bE\[|\bE_|\bsum\b[^.]*=|\bint_"  # roots, expectations, sums
    r"|<=|>=|->|\+-|!=|\\\*"  # relations in keyboard characters
    rf"|\b(?:{GREEK})\b"  # names of letters
    r"|(?<![\w.])[A-Za-z]'?(?:\([a-z]\))? = ",  # x = 1
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
    prose = INLINE.sub("", DISPLAY.sub("", without_code(text)))
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
