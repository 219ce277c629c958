"""Technical terms of a page: where it uses one for the first time, and which pages use it.

Which terms are technical the records of the glossary say (``Term.linked``).
"""

import re
from collections.abc import Iterator, Mapping

from giantstep.papers.glossary import TERMS

LINKED = {name: term.name for term in TERMS for name in term.linked}
"""Name in a text -> the entry of the glossary that explains it."""

SYMBOL = re.compile(r"(?<!\w)(?:He|[A-Za-z])_\w(?!\w)")
"""A letter with an index, such as T_k."""


def mathematics(name: str) -> str:
    """A name of the glossary as Markdown, its symbols and powers of d set as mathematics."""
    name = name.replace("~ d^-1/2", r"$\sim d^{-1/2}$").replace(" d^-1/2", " $d^{-1/2}$")
    return SYMBOL.sub(lambda found: "$" + found[0].replace("He", r"\mathrm{He}") + "$", name)


def key(name: str) -> str:
    """The text of such a name, by which Sphinx knows the entry."""
    return mathematics(name).replace("$", "")


NO_PROSE = re.compile(
    r"\A---\n.*?\n---\n|^(`{3,}|:{3,}).*?^\1|<!--.*?-->|`[^`\n]+`|\$[^$]+\$|^#.*?$", re.S | re.M
)
"""Front matter, blocks, comments, code, formulas and titles of Markdown."""


def first_uses(text: str, remaining: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The pieces of a text in order, each with the entry it is a link to, or with "".

    A name is also found as plural and at the start of a sentence, long names first.  Entries that a
    piece links to are taken out of ``remaining``.
    """
    place = 0
    while remaining:
        names = sorted(remaining, key=len, reverse=True)
        choice = "|".join(f"({re.escape(name)})" for name in names)
        found = re.compile(rf"(?<![\w-])(?:{choice})(?:e?s)?(?![\w-])", re.I).search(text, place)
        if found is None or found.lastindex is None:
            break
        entry = remaining[names[found.lastindex - 1]]
        for name in [name for name in names if remaining[name] == entry]:
            del remaining[name]
        yield text[place : found.start()], ""
        yield found[0], entry
        place = found.end()
    yield text[place:], ""


def appearances(pages: Mapping[str, str]) -> dict[str, list[str]]:
    """Entry -> the pages, given as name -> Markdown, that use one of its names."""
    found: dict[str, list[str]] = {}
    for page, text in pages.items():
        for _, entry in first_uses(NO_PROSE.sub(" ", text), dict(LINKED)):
            if entry:
                found.setdefault(entry, []).append(page)
    return found
