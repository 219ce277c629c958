"""Sentences that a user meets are short: at most 30 words from one full stop to the next.

All texts in the source are read, not only those that some test happens to print: string literals
of the package, an inserted value counted as one word, and the docstrings that become help texts.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import giantstep
from giantstep.papers.glossary import TERMS
from giantstep.problem.setting import Setting

PACKAGE = Path(giantstep.__file__).parent
MOST = 30

ELSEWHERE = ("papers/claims", "papers/figures", "papers/references.py", "problem/catalog.py")
"""Statements of papers and captions of their figures, which quote their sources."""

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


def test_no_sentence_of_the_interface_is_long() -> None:
    texts = texts_of_the_package()
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
