"""Sentences that a user meets are short: at most 30 words from one full stop to the next.

All texts in the source are read, not only those that some test happens to print: string literals
of the package, an inserted value counted as one word, and the docstrings that become help texts.
Texts of records that are put together from several literals are read as a whole, too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import giantstep
from giantstep.papers.claims import CLAIMS
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.papers.glossary import TERMS
from giantstep.problem.setting import Setting

PACKAGE = Path(giantstep.__file__).parent
ROOT = Path(__file__).parents[1]
MOST = 30

ELSEWHERE = ("papers/references.py",)
"""Titles of papers, which are quotations."""

HELP = ("cli",)
"""Rooms whose docstrings are read by a user, as help texts."""


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text: a blank line, a full stop or a question mark ends one."""
    for paragraph in re.split(r"\n\s*\n|\n\s*-+\n|\n(?=\s*[\w.]+:\n)", text):
        yield from re.split(r"(?<=[.!?])[\"')]*\s+", " ".join(paragraph.split()))


def words(sentence: str) -> int:
    """Words with a letter or a digit in them: signs of a formula are none."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def too_long(texts: dict[str, str]) -> list[str]:
    """The offenders with their places."""
    return [
        f"{place}: {words(sentence)} words: {sentence}"
        for place, text in texts.items()
        for sentence in sentences(text)
        if words(sentence) > MOST
    ]


def written(node: ast.AST) -> str | None:
    """A string literal; the values of a formatted one are a word each."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values
        )
    return None


def literals(source: str, *, docstrings: bool) -> Iterator[tuple[int, str]]:
    """Line and text of the string literals of a module, those of docstrings where asked for."""
    tree = ast.parse(source)
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and written(node.value) is not None
    }
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        text = written(node)
        if text is None or id(node) in parts or (id(node) in documentation and not docstrings):
            continue
        if "{ font" in text:  # a style sheet
            continue
        yield node.lineno, text


def texts_of_the_package() -> dict[str, str]:
    texts = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        if name.startswith(ELSEWHERE):
            continue
        listed = literals(path.read_text(encoding="utf-8"), docstrings=name.startswith(HELP))
        texts |= {f"{name}:{line}": text for line, text in listed}
    return texts


def texts_of_records() -> dict[str, str]:
    """What claims and figures of the papers say, put together."""
    texts = {f"caption {name}": figure.caption for name, figure in REPRODUCTIONS.items()}
    for name, claim in CLAIMS.items():
        source = {
            f"{name} {field}": getattr(claim.source, field) for field in ("assumptions", "place")
        }
        words = ("statement", "regime", "rule", "measured_instead")
        texts |= source | {f"{name} {field}": getattr(claim, field) for field in words}
    return texts


def test_no_sentence_of_the_interface_is_long() -> None:
    texts = texts_of_the_package() | texts_of_records()
    texts |= {f"explain {term.name}": term.text for term in TERMS}
    texts |= {f"--{name}": field.in_words() for name, field in Setting.fields.items()}
    assert len(texts) > 1000
    offenders = too_long(texts)
    assert not offenders, "\n".join(offenders)


def test_a_long_sentence_is_noticed() -> None:
    """The check can fail: one word more is too many, also across the pieces of a literal."""
    fits, too_many = (" ".join(["word"] * count) + "." for count in (MOST, MOST + 1))
    assert not too_long({"here": f"{fits} {fits}"})
    assert len(too_long({"here": f"{fits} {too_many}"})) == 1
    source = f'def note(value):\n    yield (\n        f"{{value}} "\n        "{fits}"\n    )\n'
    assert [line for line, _ in literals(source, docstrings=False)] == [3]
    assert too_long({str(line): text for line, text in literals(source, docstrings=False)})
    documented = f'def command():\n    """{too_many}"""\n'
    assert not list(literals(documented, docstrings=False))
    assert too_long({str(line): text for line, text in literals(documented, docstrings=True)})


LISTS = ("claims.md", "findings.md", "differences.md", "changelog.md")
"""Pages that are made of the claims, and the history of changes."""

FOLDERS = ("docs", "docs/howto", "docs/reference")
"""Folders of pages; derivations and theory have formulas in their sentences."""

PRIVATE = {
    "stored numbers made at sizes where they speak": "say which sizes",
    "eight cores of 2023 as fast as six": "say what is counted",
    "Names under one another are the same word": "say that they are other names",
    "Theory, and what to keep": "Download",
    "in pairs that begin as opposites": "pairs with the same start and opposite output weights",
    "pale where": "say what the colour means",
    "exact in law": "same statistics as a full simulation",
    "would have shown": "would be noticed",
    "least likely": "largest deviation",
    "theory (narrow)": "theory",
    "leaves the finite numbers": "becomes infinite or too large",
    "cry wolf": "raise a false alarm",
    "compared from two runs on": "use two runs or more",
    "likewise": "say it again",
    "stray": "deviate",
}
"""Words of the authors that readers did not understand, and what to say instead."""


def private_words(texts: dict[str, str]) -> list[str]:
    """Where a private word is used, with the word to use."""
    return [
        f"{place}: {word!r}, better: {instead}"
        for place, text in texts.items()
        for word, instead in PRIVATE.items()
        if re.search(rf"(?<!\w){re.escape(word)}s?(?!\w)", " ".join(text.split()), re.IGNORECASE)
    ]


def prose(page: str) -> str:
    """The sentences of a page: no code, no links, a formula as one word, a cell as a paragraph."""
    page = re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.DOTALL)
    page = re.sub(r"^(```|~~~).*?^\1\s*$", "\n", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"<!--.*?-->|^:::.*$", "", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "F", page, flags=re.DOTALL)
    page = re.sub(r"\]\([^)]*\)", "]", page)
    return re.sub(r"^(\s*[-*] |\s*\d+\. |#+ )|\|", "\n\n", page, flags=re.MULTILINE)


def pages() -> dict[str, str]:
    """The pages of the documentation and the README, without code."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))]
    read = [ROOT / "README.md", *(path for path in paths if path.name not in LISTS)]
    return {str(path.relative_to(ROOT)): prose(path.read_text(encoding="utf-8")) for path in read}


def scripts() -> dict[str, str]:
    """The strings of the explorer's JavaScript; pieces that are added to each other are one."""
    texts = {}
    for path in sorted((PACKAGE / "explorer" / "static").rglob("*.js")):
        source = path.read_text(encoding="utf-8")
        for number, text in enumerate(strings_of(source)):
            texts[f"{path.name}, string {number}"] = text
    return texts


def strings_of(source: str) -> Iterator[str]:
    """The strings of a script, comments left out; an inserted value is one word."""
    source = re.sub(r"^\s*(//|/?\*).*$", "", source, flags=re.MULTILINE)
    source = re.sub(r"[\"`]\s*\+\s*[\"`]", "", source)
    for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', source):
        yield re.sub(r"\$\{[^}]*\}", "0", found[1] if found[1] is not None else found[2])


SYMBOLS = "maths.js"
"""The script whose strings are lists of symbols, not sentences."""


def test_no_sentence_of_the_pages_is_long() -> None:
    found = pages()
    assert len(found) > 25
    offenders = too_long(found)
    assert not offenders, "\n".join(offenders)


def test_no_sentence_of_the_explorer_is_long() -> None:
    texts = {place: text for place, text in scripts().items() if not place.startswith(SYMBOLS)}
    assert len(texts) > 500
    offenders = too_long(texts)
    assert not offenders, "\n".join(offenders)


def test_no_private_words() -> None:
    texts = texts_of_the_package() | pages() | scripts()
    texts |= {f"--{name}": field.in_words() for name, field in Setting.fields.items()}
    offenders = private_words(texts)
    assert not offenders, "\n".join(offenders)


@pytest.mark.parametrize("word", PRIVATE)
def test_a_private_word_is_noticed(word: str) -> None:
    """The check can fail, also where a line ends inside the words; a part of a word is none."""
    broken = word.replace(" ", "\n    ", 1)
    assert private_words({"here": f"Some text, {broken}."})
    assert not private_words({"here": f"Some{word}thing else."})


def test_a_long_sentence_of_a_page_or_a_script_is_noticed() -> None:
    """Across lines and pieces; code, formulas and links are not counted."""
    many = " ".join(["word"] * MOST)
    assert too_long({"page": prose(f"# Title\n\n{many}\nmore.")})
    assert not too_long({"page": prose(f"{many} [](a b c d).\n\n```\n{many} more\n```\n")})
    assert not too_long({"page": prose(f"{many[5:]} $a + b + c$.")})
    assert too_long(dict(enumerate(strings_of(f'say("{many} " +\n  "more.");'))))
    assert not list(strings_of(f'// say "{many} more."'))
