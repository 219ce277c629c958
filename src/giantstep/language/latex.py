"""Expressions and sizes as formulas of LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction

from giantstep.language.closed_form import closed_form
from giantstep.language.expression import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
    brief,
    multiply,
    raise_to,
)
from giantstep.language.functions import hermite_degree

PI = Fraction(repr(math.pi))
"""What the parser reads pi as."""

Precedence = int
"""What surrounds a part: 0 a sum or nothing, 1 a product, 2 a power or an index."""


def latex(node: Expression, *, variable: str | None = None) -> str:
    r"""The formula of an expression in x1, x2, ... or in one ``variable``.

    >>> from giantstep.language.latex import latex
    >>> from giantstep.language.parser import parse
    >>> print(latex(parse("x1^2/2 - He3(x2)")))
    \frac{1}{2}\,x_{1}^{2} - \mathrm{He}_{3}(x_{2})
    """
    return _write(node, variable, 0)


def _write(node: Expression, variable: str | None, around: Precedence) -> str:
    match node:
        case Number(value):
            return _bracketed(_number(value), value < 0 and around > 0)
        case Variable(index):
            return variable or f"x_{{{index + 1}}}"
        case Call(function, argument):
            return _call(function, argument, variable)
        case Sum(terms):
            text = " + ".join(_write(term, variable, 0) for term in terms).replace("+ -", "- ")
            return _bracketed(text, around > 0)
        case Product(factors):
            return _bracketed(_product(factors, variable), around > 1)
        case Power(base, exponent) if exponent < 0:
            return _fraction("1", _write(raise_to(base, -exponent), variable, 0))
        case Power(base, exponent) if exponent == Fraction(1, 2):
            return rf"\sqrt{{{_write(base, variable, 0)}}}"
        case Power(base, exponent):
            raised = _number(exponent)
            return f"{_grouped(base, variable)}^{{{raised}}}"


def _grouped(base: Expression, variable: str | None) -> str:
    """The base of a power, in brackets unless it is one sign."""
    text = _write(base, variable, 2)
    return text if isinstance(base, Variable | Sum | Product) else _bracketed(text, True)


def _product(factors: tuple[Expression, ...], variable: str | None) -> str:
    first = factors[0]
    if isinstance(first, Number) and first.value < 0:
        return f"-{_write(multiply(Number(-first.value), *factors[1:]), variable, 1)}"
    below = [f for f in factors if isinstance(f, Power) and f.exponent < 0]
    above = [f for f in factors if f not in below]
    text = r"\,".join(_write(factor, variable, 1) for factor in above) or "1"
    if not below:
        return text
    lower = multiply(*(raise_to(f.base, -f.exponent) for f in below))
    return _fraction(text, _write(lower, variable, 0))


def _call(function: str, argument: Expression, variable: str | None) -> str:
    inside = _write(argument, variable, 0)
    degree = hermite_degree(function)
    if function == "sqrt":
        return rf"\sqrt{{{inside}}}"
    if function == "abs":
        return f"|{inside}|"
    name = rf"\mathrm{{{function}}}" if degree is None else rf"\mathrm{{He}}_{{{degree}}}"
    return f"{name}({inside})"


def latex_number(value: float) -> str:
    r"""A computed number: its closed form where one is known, else six digits.

    >>> from giantstep.language.latex import latex_number
    >>> print(latex_number(-0.3989422804014327), latex_number(0.125))
    -\frac{1}{\sqrt{2\,\pi}} \frac{1}{8}
    """
    known = closed_form(value)
    if known is None:
        return _decimal(value)
    above, below = known.square.numerator, known.square.denominator
    text = _root(above, max(known.pi_power, 0))
    if below > 1 or known.pi_power < 0:
        text = _fraction(text, _root(below, max(-known.pi_power, 0)))
    return f"{'-' if known.sign < 0 else ''}{text}"


def _root(square: int, pi_power: int) -> str:
    """sqrt(square * pi^pi_power), what is a whole square written before the root."""
    outside = math.isqrt(square)
    while square % (outside * outside):
        outside -= 1
    inside = square // outside**2
    under = [str(inside)] * (inside > 1) + [r"\pi"] * (pi_power % 2)
    root = [rf"\sqrt{{{join_factors(under)}}}"] * bool(under)
    parts = [str(outside)] * (outside > 1) + [r"\pi"] * (pi_power // 2) + root
    return join_factors(parts)


def join_factors(parts: Sequence[str]) -> str:
    """Factors with a thin space between them; one for an empty product."""
    return r"\,".join(parts) or "1"


def _decimal(value: float) -> str:
    """A decimal number of six digits."""
    mantissa, _, power = f"{value:.6g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(power)}}}" if power else mantissa


def _number(value: int | Fraction, *, most: int = 100) -> str:
    """A whole number, a small fraction, a multiple of pi, a root, or a decimal of six digits."""
    turns = Fraction(value) / PI
    if value != 0 and turns.denominator <= most:
        times = "" if abs(turns) == 1 else rf"{_number(abs(turns))}\,"
        return rf"{'-' if value < 0 else ''}{times}\pi"
    if value.denominator == 1:
        return brief(value)
    if value.denominator > most:
        return _decimal(float(value)) if _is_decimal(value) else latex_number(float(value))
    sign = "-" if value < 0 else ""
    return sign + _fraction(str(abs(value.numerator)), str(value.denominator))


def _is_decimal(value: int | Fraction, digits: int = 9) -> bool:
    """Whether a number has been typed with so many digits, and was not computed."""
    return 10**digits % value.denominator == 0


def _fraction(above: str, below: str) -> str:
    return rf"\frac{{{above}}}{{{below}}}"


def _bracketed(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


_RULES = (
    (r"\s+", ""),
    (r"\b1e\+?(-?)0*(\d+)", r"10^\1\2"),
    (r"(\d)e\+?(-?)0*(\d+)", r"\1*10^\2\3"),
    (r"sqrt\(([^()]*)\)", r"\\sqrt{\1}"),
    (r"He(\d+)", r"\\mathrm{He}_{\1}"),
    (r"x(\d+)", r"x_{\1}"),
    (r"\^\(([^()]*)\)", r"^{\1}"),
    (r"\^1(?![\d.])", ""),
    (r"\^(-?\d[\d.]*)", r"^{\1}"),
    (r"\{(\d)\}", r"\1"),
    (r"\\sqrt(\d)", r"\\sqrt{\1}"),
    (r"(?<=\d)\*(?=\d)", r"\\cdot"),
    (r"\*", ""),
)
"""Patterns and what takes their place, in order."""


def in_latex(text: str) -> str:
    r"""An expression as LaTeX, without spaces.

    >>> from giantstep.language.latex import in_latex
    >>> print(in_latex("He2(x1)/sqrt(2) + 4*p*d^0.5"))
    \mathrm{He}_2(x_1)/\sqrt{2}+4pd^{0.5}
    """
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    return text
