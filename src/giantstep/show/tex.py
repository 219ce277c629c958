r"""Formulas of LaTeX as plain characters, for terminals and pages that do not set mathematics.

Texts of records carry formulas between dollar signs.  ``plain_words`` writes them with the
characters of Unicode: ``$\sqrt{p}\,\|w_1\|^2$`` becomes ``√p ‖w₁‖²``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

GREEK = dict(
    zip(
        (
            *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta"),
            *("theta", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau"),
            *("phi", "varphi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda"),
            *("Sigma", "Phi", "Psi", "Omega"),
        ),
        "αβγδεεζηθκλμνξπρστφφχψωΓΔΘΛΣΦΨΩ",
        strict=True,
    )
)

ELL = "\N{SCRIPT SMALL L}"

RELATIONS = {
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "ne": "≠",
    "sim": "~",
    "approx": "≈",
    "to": "→",
    "mapsto": "↦",
    "in": "∈",
    "mid": "|",
    "propto": "∝",
    "gg": "≫",
    "ll": "≪",
    "times": "\N{MULTIPLICATION SIGN}",
    "oplus": "⊕",
}
"""Signs that have a space on either side."""

SIGNS = {
    "ell": ELL,
    "langle": "⟨",
    "rangle": "⟩",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "|": "‖",
    "lVert": "‖",
    "rVert": "‖",
    "{": "{",
    "}": "}",
    "top": "T",
    "perp": "⊥",
    "circ": "∘",
    "cdot": "·",
    "cdots": "…",
    "ldots": "…",
    "dots": "…",
    "pm": "±",
    "infty": "∞",
    "nabla": "∇",
    "sum": "∑",
    "prod": "∏",
    "int": "∫",
    "otimes": "⊗",
    ",": " ",
    ";": " ",
    ":": " ",
    " ": " ",
    "quad": "  ",
    "qquad": "  ",
    "%": "%",
}

FUNCTIONS = {"cos", "sin", "tanh", "exp", "log", "max", "min"}
"""Names that stand apart from a letter after them."""

ACCENTS = {"bar": "\u0304", "hat": "\u0302", "tilde": "\u0303"}
"""Characters that stand above the letter before them."""

NOTHING = {
    *("left", "right", "mathrm", "mathbb", "mathcal", "mathbf", "text", "operatorname"),
    *("bigl", "bigr", "Bigl", "Bigr", "big", "Big", "!", "displaystyle"),
}
"""What sets the size or the face of what follows."""

LOWERED = dict(
    zip(
        f"0123456789+-=()aehijklmnoprstuvx{ELL}β", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓₗᵦ", strict=True
    )
)
RAISED = dict(zip("0123456789+-=()ijklnTprt*'", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱʲᵏˡⁿᵀᵖʳᵗ*'", strict=True))
"""Indices that are characters of their own: markup would need a style inside the page."""

_MATHS = re.compile(r"\$([^$]*)\$")
_CODE = re.compile(r"`([^`]*)`")
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\s+|.", re.DOTALL)
_SYMBOL = re.compile(r"[\d.]+|\w[₀-ₜᵢᵣᵤᵥⱼ⁰-ⁿ²³*']*|\([^()]*\)|‖[^‖]*‖")
_PRODUCT = re.compile(r"[^-+=<>/]*")

# Marks that are gone at the end: a fraction begins and ends, a power or an index is over.
_OPEN, _CLOSE, _OVER = "\x01", "\x02", "\x03"
_FRACTION = re.compile(f"([\\w)\\]]?){_OPEN}([^{_CLOSE}]*){_CLOSE}(?=([\\w(√∑‖⟨]?))")
_APART = re.compile(rf"{_OVER}(?=[\w√‖⟨])")


def plain_words(text: str) -> str:
    """A text whose formulas are written in plain characters, and code without its backticks."""
    return _CODE.sub(r"\1", _MATHS.sub(lambda found: plain_formula(found[1]), text))


def plain_formula(latex: str) -> str:
    r"""A formula of LaTeX in plain characters.

    >>> from giantstep.show.tex import plain_formula
    >>> plain_formula(r"n\leq{d^{1.5}}/\sqrt{p+1}")
    'n ≤ d^1.5/√(p + 1)'
    """
    tokens = iter([token for token in _TOKEN.findall(latex) if not token.isspace()])
    return re.sub(r"(?<=\S) +", " ", _settled(_read(tokens, ""))).strip()


def _settled(text: str) -> str:
    """A text without marks: brackets around a fraction that is a factor, a space after a script."""

    def fraction(found: re.Match[str]) -> str:
        before, inside, after = found.groups()
        return f"{before}({inside})" if before or after else inside

    return _APART.sub(" ", _FRACTION.sub(fraction, text)).replace(_OVER, "")


def _read(tokens: Iterator[str], end: str) -> str:
    """What stands before the token ``end``, as characters."""
    text = ""
    for token in tokens:
        if token == end:
            break
        text = _joined(text, *_piece(token, tokens))
    return text


def _piece(token: str, tokens: Iterator[str]) -> tuple[str, str]:
    """A token, with the arguments that it takes, as characters, and what kind of piece it is."""
    name = token[1:] if token.startswith("\\") and len(token) > 1 else ""
    if token == "{":
        return _read(tokens, "}"), "group"
    if token in ("_", "^"):
        return _script(token, _argument(tokens)), "script"
    if token in "=<>" or name in RELATIONS:
        return RELATIONS.get(name, token), "relation"
    if token in "+-":
        return token, "sum"
    if name in ("frac", "tfrac", "dfrac"):
        upper, lower = _argument(tokens), _argument(tokens)
        upper = upper if _PRODUCT.fullmatch(upper) else f"({upper})"
        return f"{_OPEN}{upper}/{_bracketed(lower)}{_CLOSE}", "group"
    if name == "sqrt":
        return f"√{_bracketed(_argument(tokens))}", "group"
    if name in ACCENTS:
        return f"{_argument(tokens)}{ACCENTS[name]}", "group"
    if name in FUNCTIONS:
        return name, "function"
    if name in NOTHING:
        return "", "group"
    if token == ",":
        return ", ", "group"
    return GREEK.get(name) or SIGNS.get(name) or name or token, "group"


def _argument(tokens: Iterator[str]) -> str:
    """The group or the single token that comes next."""
    token = next(tokens, "")
    return _settled(_piece(token, tokens)[0]) if token else ""


def _joined(text: str, piece: str, kind: str) -> str:
    """The text with one more piece: a space around relations, sums and names of functions."""
    if kind == "relation":
        return f"{text} {piece} " if text else piece
    if kind == "sum":
        # A sign at the start, after a bracket or after another sign belongs to what follows.
        return (
            f"{text} {piece} " if text and text.rstrip()[-1] not in "(=<>≤≥,[/·⌊" else text + piece
        )
    if kind == "script" and (text.endswith(("∑", "∏", "∫")) or _ends_in_function(text)):
        return f"{text}{piece.removesuffix(_OVER)} "
    if kind == "function" and text and text[-1].isalnum():
        return f"{text} {piece}"
    if kind == "group" and piece[:1].isalpha() and _ends_in_function(text):
        return f"{text} {piece}"
    return text + piece


def _ends_in_function(text: str) -> bool:
    return any(text.endswith(name) for name in FUNCTIONS)


def _bracketed(text: str) -> str:
    """A text as denominator or below a root: in brackets where it is more than one symbol."""
    return text if _SYMBOL.fullmatch(text) else f"({text})"


def _script(kind: str, text: str) -> str:
    """An index or a power, as small characters where they all exist."""
    table = LOWERED if kind == "_" else RAISED
    tight = text.replace(" ", "")
    if tight and all(letter in table for letter in tight):
        return "".join(table[letter] for letter in tight)
    shown = tight if re.fullmatch(r"[\w.]+|\([^()]*\)", tight) else f"({tight})"
    return f"{kind}{shown}{_OVER}"
