"""Labels with TeX as plain characters, for pages and tables that do not set mathematics."""

from __future__ import annotations

import re

SIGNS = {
    r"\alpha": "\N{GREEK SMALL LETTER ALPHA}",
    r"\beta": "\N{GREEK SMALL LETTER BETA}",
    r"\eta": "\N{GREEK SMALL LETTER ETA}",
    r"\kappa": "\N{GREEK SMALL LETTER KAPPA}",
    r"\sigma": "\N{GREEK SMALL LETTER SIGMA}",
    r"\ell": "\N{SCRIPT SMALL L}",
    r"\langle ": "\N{MATHEMATICAL LEFT ANGLE BRACKET}",
    r"\rangle": "\N{MATHEMATICAL RIGHT ANGLE BRACKET}",
    r"\sqrt": "\N{SQUARE ROOT}",
    r"\top": "T",
    r"\cos": "cos",
}
"""What the labels of the papers' figures use of TeX."""

_MATHS = re.compile(r"\$([^$]*)\$")
_INDEX = re.compile(r"([_^])(?:\{([^}]*)\}|(.))")


LOWERED = dict(zip("0123456789ik\N{SCRIPT SMALL L}", "₀₁₂₃₄₅₆₇₈₉ᵢₖₗ", strict=True))
RAISED = dict(zip("0123456789kT*", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵏᵀ*", strict=True))
"""Indices that are characters of their own: markup would need a style inside the page."""


def plain_words(text: str) -> str:
    """A label with the signs of TeX as characters."""
    return _MATHS.sub(lambda found: _maths(found[1]), text)


def _maths(text: str) -> str:
    for sign, character in SIGNS.items():
        text = text.replace(sign, character)
    text = _INDEX.sub(lambda found: _index(found[1], found[2] or found[3]), text)
    return text.replace("{", "").replace("}", "")


def _index(kind: str, text: str) -> str:
    table = LOWERED if kind == "_" else RAISED
    if any(letter not in table for letter in text):
        return f"{kind}{text}"
    return "".join(table[letter] for letter in text)
