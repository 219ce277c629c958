"""Formulas as they are typed, set as mathematics for the titles and axes of figures."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|[A-Za-z_]\w*|[-+*/^(),])")
_SUM = re.compile(r" (?=[+-] )")
_SIZE = re.compile(r"\b([dnpk])\b(?= = )")


def formula(text: str) -> str:
    """A formula such as x1 + He2(x1)*x2 as mathematics, term by term; other texts as they are."""
    terms = [_set(term) for term in _terms(text)]
    known = [term for term in terms if term is not None]
    if len(known) < len(terms):
        return text.replace("$", r"\$")
    # The sign of a later term stands between two formulas, with its space on both sides.
    return " ".join(f"${re.sub(r'^([+-])', _signed, term)}$" for term in known)


def sizes(text: str) -> str:
    """The letters of sizes as mathematics: d = 1000."""
    return _SIZE.sub(r"$\1$", text)


def power(text: str) -> str:
    """A size such as d^1.5 or 4d as mathematics, and with it the letters d, n and p."""
    return re.sub(
        r"\b[ak](?= in )|(?<![A-Za-z$_])(\d*\.?\d*)([dnp])(?:\^(-?[\d.]+|k))?(?![A-Za-z$])",
        _powered,
        text,
    )


def _powered(found: re.Match[str]) -> str:
    if found[2] is None:
        return f"${found[0]}$"
    exponent = f"^{{{found[3]}}}" if found[3] else ""
    return f"${found[1]}{found[2]}{exponent}$"


def _signed(found: re.Match[str]) -> str:
    return found[1] + r"\;"


def _terms(text: str) -> list[str]:
    """The terms of a sum, each with its sign; a sum within brackets stays whole."""
    terms = [""]
    for part in _SUM.split(text):
        opened = terms[-1].count("(") > terms[-1].count(")")
        if opened or not terms[-1]:
            terms[-1] = f"{terms[-1]} {part}".strip()
        else:
            terms.append(part)
    return terms


def _set(term: str) -> str | None:
    """One term as TeX, None where it has signs that no formula has."""
    tokens, place = [], 0
    while term[place:].strip():
        found = _TOKEN.match(term, place)
        if found is None:
            return None
        tokens.append(found[1])
        place = found.end()
    written = [_sign(token) for token in tokens]
    # An exponent in brackets is one group; a number or a name is one already.
    text = "".join(written)
    return re.sub(r"\^(-?(?:\d+\.?\d*|[A-Za-z]))", r"^{\1}", text)


def _sign(token: str) -> str:
    if token == "*":
        return r"\,"
    indexed = re.fullmatch(r"(x|z|He)(\d*)", token)
    if indexed is not None:
        letter = r"\mathrm{He}" if indexed[1] == "He" else indexed[1]
        return letter + (f"_{{{indexed[2]}}}" if indexed[2] else "")
    return rf"\mathrm{{{token}}}" if token[0].isalpha() else token
