r"""Formulas of LaTeX as MathML, which browsers and notebooks draw by themselves.

Every element is made here, and every character of a formula is escaped: no markup comes from a
text.
"""

from __future__ import annotations

import re
from html import escape

from giantstep.show.tex import ACCENTS, ELL, FUNCTIONS, GREEK, NOTHING, RELATIONS, SIGNS

SPACES = {",": "0.17em", ":": "0.22em", ";": "0.28em", " ": "0.3em", "quad": "1em", "qquad": "2em"}
UPRIGHT = {"mathrm", "text", "operatorname", "mathbf"}
LETTERS = {"mathbb": "\U0001d538", "mathcal": "\U0001d49c"}
"""The letter A of these alphabets."""

ELSEWHERE = {
    "mathbb P": "\u2119",
    "mathbb R": "\u211d",
    "mathbb N": "\u2115",
    "mathcal E": "\u2130",
}
"""Letters of these alphabets that Unicode has in another place than the others."""

ABOVE = {"bar": "¯", "hat": "^", "tilde": "~"}

_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\d+(?:\.\d+)?|\S", re.DOTALL)


def mathml(latex: str) -> str:
    r"""A formula as an element of MathML.

    >>> from giantstep.show.mathml import mathml
    >>> mathml("x_1^2")
    '<math><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math>'
    """
    return f"<math>{_Reader(latex).row()}</math>"


def _node(tag: str, text: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>"


class _Reader:
    """The tokens of a formula, read from left to right."""

    def __init__(self, latex: str) -> None:
        self.tokens = _TOKEN.findall(latex)[::-1]

    def row(self) -> str:
        """All nodes up to the end or a closing brace, as one."""
        nodes: list[str] = []
        while self.tokens and self.tokens[-1] != "}":
            if self.tokens[-1] in "^_":
                nodes.append(self._scripted(nodes.pop() if nodes else "<mrow></mrow>"))
            elif node := self._next():
                nodes.append(node)
        return nodes[0] if len(nodes) == 1 else f"<mrow>{''.join(nodes)}</mrow>"

    def _scripted(self, base: str) -> str:
        """A base with what is lowered and raised after it."""
        scripts: dict[str, str] = {}
        while self.tokens and self.tokens[-1] in "^_" and self.tokens[-1] not in scripts:
            kind = self.tokens.pop()
            scripts[kind] = self._argument()
        tag = {"_": "msub", "^": "msup"}.get("".join(scripts), "msubsup")
        return f"<{tag}>{base}{scripts.get('_', '')}{scripts.get('^', '')}</{tag}>"

    def _argument(self) -> str:
        return (self._next() if self.tokens else "") or "<mrow></mrow>"

    def _next(self) -> str:
        """The next node, empty where a token sets nothing."""
        token = self.tokens.pop()
        if token == "{":
            inside = self.row()
            self.tokens = self.tokens[:-1]
            return inside
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return _node("mn", token)
        if token.isalpha():
            return _node("mi", token)
        # Brackets are as high as a letter: formulas stand in lines of text.
        tight = ' lspace="0" rspace="0"' * (token in "[](){}|/")
        sign = {"-": "\N{MINUS SIGN}", "'": "\N{PRIME}"}.get(token, token)
        return f'<mo stretchy="false"{tight}>{escape(sign)}</mo>'

    def _words(self) -> str:
        """The text of the group that follows, as it stands."""
        if not self.tokens or self.tokens[-1] != "{":
            return self.tokens.pop() if self.tokens else ""
        self.tokens.pop()
        words = ""
        while self.tokens and (token := self.tokens.pop()) != "}":
            words += token
        return words

    def _command(self, name: str) -> str:
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"></mspace>'
        if name == "frac":
            return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._argument()}</msqrt>"
        if name in ACCENTS:
            accent = _node("mo", ABOVE[name])
            return f'<mover accent="true">{self._argument()}{accent}</mover>'
        if name in LETTERS:
            return f'<mi mathvariant="normal">{escape(_lettered(name, self._words()))}</mi>'
        if name in UPRIGHT:
            return f'<mi mathvariant="normal">{escape(self._words())}</mi>'
        if name in NOTHING:
            return ""
        if name in GREEK or name in FUNCTIONS or name == "ell":
            return _node("mi", GREEK.get(name, ELL if name == "ell" else name))
        sign = RELATIONS.get(name) or SIGNS.get(name) or name
        return f'<mo stretchy="false">{escape(sign)}</mo>'


def _lettered(alphabet: str, text: str) -> str:
    """Capital letters of another alphabet: E as a letter with a double line."""
    first = ord(LETTERS[alphabet]) - ord("A")
    return "".join(
        ELSEWHERE.get(f"{alphabet} {sign}", chr(first + ord(sign)) if "A" <= sign <= "Z" else sign)
        for sign in text
    )
