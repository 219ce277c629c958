"""Expressions as formulas of sympy, which is loaded when the first of them is asked for.

A formula is built node by node from the syntax tree: no text is ever handed to sympy to be read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

from giantstep.language.closed_form import closed_form
from giantstep.language.expression import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
)
from giantstep.language.functions import FUNCTIONS, hermite_degree


def sympy_library() -> Any:
    """The module sympy, or one sentence where it is not installed."""
    try:
        return import_module("sympy")
    except ImportError:
        raise ImportError(
            "to_sympy needs sympy, which is not installed: pip install 'giantstep[sympy]'"
        ) from None


def real_symbols(*names: str) -> list[Any]:
    """Symbols of sympy that stand for real numbers."""
    sympy = sympy_library()
    return [sympy.Symbol(name, real=True) for name in names]


def exact_number(value: float | Fraction, *, most: int = 10**9) -> Any:
    """A number as sympy writes it: a fraction, its closed form where one is known, else a decimal.

    Fractions with a denominator above ``most`` are floats that the parser has computed.
    """
    sympy = sympy_library()
    if isinstance(value, int | Fraction) and value.denominator <= most:
        return sympy.Rational(value.numerator, value.denominator)
    if value == 0:
        return sympy.Integer(0)
    known = closed_form(float(value))
    if known is None:
        return sympy.Float(float(value))
    under = sympy.Rational(known.square.numerator, known.square.denominator)
    return known.sign * sympy.sqrt(under * sympy.pi**known.pi_power)


class _SympyNamespace:
    """The functions of a Namespace (``giantstep.language.functions``) on formulas of sympy."""

    def __init__(self) -> None:
        sympy = sympy_library()
        self.sympy = sympy
        self.maximum, self.abs, self.arctan = sympy.Max, sympy.Abs, sympy.atan

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sympy, name)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return self.sympy.Piecewise((x, condition), (y, True))

    def step(self, z: Any) -> Any:
        """1{z > 0}, with the value 0 at 0."""
        return self.sympy.Heaviside(z, 0)

    def log1p(self, z: Any) -> Any:
        return self.sympy.log(1 + z)


def as_sympy(node: Expression, symbols: Sequence[Any]) -> Any:
    """The formula of an expression, ``symbols[k]`` standing for variable k."""
    sympy = sympy_library()
    match node:
        case Number(value):
            return exact_number(value)
        case Variable(index):
            return symbols[index]
        case Sum(terms):
            return sympy.Add(*(as_sympy(term, symbols) for term in terms))
        case Product(factors):
            return sympy.Mul(*(as_sympy(factor, symbols) for factor in factors))
        case Power(base, exponent):
            return sympy.Pow(as_sympy(base, symbols), exact_number(exponent))
        case Call(function, argument):
            inner, degree = as_sympy(argument, symbols), hermite_degree(function)
            if degree is not None:
                return _hermite(degree, inner)
            formula = FUNCTIONS[function].value(_SympyNamespace(), inner)
            # Functions are written with floats: 0.5 becomes 1/2.
            return formula.replace(lambda part: part.is_Float, lambda f: exact_number(float(f)))


def _hermite(degree: int, x: Any) -> Any:
    """He_k(x) = sum_j (-1)^j k!/(2^j j! (k - 2j)!) x^(k - 2j), a polynomial in the argument."""
    factorial = math.factorial
    return sympy_library().Add(
        *(
            (-1) ** j
            * (factorial(degree) // (2**j * factorial(j) * factorial(degree - 2 * j)))
            * x ** (degree - 2 * j)
            for j in range(degree // 2 + 1)
        )
    )
