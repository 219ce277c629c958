"""The words of tables and messages, each in a few lines: what it is, its formula, its paper."""

from __future__ import annotations

import re

from giantstep.errors import unknown_name
from giantstep.papers.glossary import comparison, network, options, spectra, steps, target, verdicts
from giantstep.papers.glossary.term import Term
from giantstep.problem.setting import DEFAULTS, Setting

TERMS = tuple(
    term
    for words in (steps, target, network, options, spectra, comparison, verdicts)
    for term in words.TERMS
)

BY_NAME = {name: term for term in TERMS for name in term.names}


def _folded(name: str) -> str:
    """A name as it is compared: T_2, t2 and T 2 are the same."""
    return "".join(letter for letter in name.lower() if letter not in " _-/|")


def look_up(name: str) -> Term:
    """The term of that name, however it is written; InputError with the nearest ones.

    What follows in brackets is left out where the whole is no term: theory (narrow); so is the s of
    a plural.  The fields of a setting are terms too.
    """
    folded = {_folded(title): term for title, term in BY_NAME.items()}
    for asked in (name, re.sub(r"\s*\([^()]*\)$", "", name), name.removesuffix("s")):
        if _folded(asked) in folded:
            return folded[_folded(asked)]
    fields = {_folded(field): field for field in DEFAULTS}
    if (field := fields.get(_folded(name))) is not None:
        text = Setting.fields[field].in_words()
        return Term((field,), f"A field of a setting: {text}.", see=("setting",))
    raise unknown_name("term", name, [*BY_NAME, *DEFAULTS], "giantstep explain")
