"""Expressions: the syntax tree of targets and activations; build, substitute, print."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from giantstep.language.functions import FUNCTIONS, SCALAR, hermite_at, hermite_degree


@dataclass(frozen=True)
class Number:
    """An exact rational: a Python int where it is whole (fast), else a Fraction."""

    value: int | Fraction


@dataclass(frozen=True)
class Variable:
    """The projection on target direction ``index`` (counted from 0), or z in an activation."""

    index: int


@dataclass(frozen=True)
class Call:
    """``function(argument)``; Hermite polynomials are the functions He0 .. He32."""

    function: str
    argument: Expression


@dataclass(frozen=True)
class Sum:
    """``a + b + ...``; flat, so that a long sum is not a deep tree."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True)
class Product:
    """``a * b * ...``; a quotient is a product with a power -1."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True)
class Power:
    base: Expression
    exponent: int | Fraction


Expression = Number | Variable | Call | Sum | Product | Power

ZERO, ONE = Number(0), Number(1)


def _flat(parts: Sequence[Expression], kind: type[Sum | Product]) -> list[Expression]:
    if not any(isinstance(part, kind) for part in parts):
        return list(parts)
    inner: list[Expression] = []
    for part in parts:
        if isinstance(part, Sum) and kind is Sum:
            inner.extend(part.terms)
        elif isinstance(part, Product) and kind is Product:
            inner.extend(part.factors)
        else:
            inner.append(part)
    return inner


def add(*terms: Expression) -> Expression:
    """Sum with its numbers added up and zeros left out."""
    flat = _flat(terms, Sum)
    constant = sum((t.value for t in flat if isinstance(t, Number)), 0)
    others: list[Expression] = [t for t in flat if not isinstance(t, Number)]
    if constant:
        others.append(Number(constant))
    return ZERO if not others else others[0] if len(others) == 1 else Sum(tuple(others))


def multiply(*factors: Expression) -> Expression:
    """Product with its numbers multiplied up in front."""
    flat = _flat(factors, Product)
    constant = math.prod(f.value for f in flat if isinstance(f, Number))
    if not constant:
        return ZERO
    others: list[Expression] = [f for f in flat if not isinstance(f, Number)]
    if constant != 1 or not others:
        others.insert(0, Number(constant))
    return others[0] if len(others) == 1 else Product(tuple(others))


def negate(node: Expression) -> Expression:
    return multiply(Number(-1), node)


def raise_to(base: Expression, exponent: int | Fraction) -> Expression:
    if exponent == 1:
        return base
    if exponent == 0:
        return ONE
    if isinstance(base, Number):
        if exponent.denominator == 1:
            return Number(Fraction(base.value) ** exponent.numerator)
        return Number(Fraction(float(base.value) ** float(exponent)))
    return Power(base, exponent)


def hermite(degree: int, argument: Expression) -> Expression:
    if degree == 0:
        return ONE
    return argument if degree == 1 else Call(f"He{degree}", argument)


def call(function: str, argument: Expression) -> Expression:
    """``function(argument)``; a constant argument gives a constant where the value is finite."""
    degree = hermite_degree(function)
    if isinstance(argument, Number):
        if degree is not None:
            return Number(hermite_at(degree, argument.value))
        try:
            value = float(FUNCTIONS[function].value(SCALAR, float(argument.value)))
        except (ValueError, OverflowError, ZeroDivisionError):
            value = math.nan
        return Number(Fraction(value)) if math.isfinite(value) else Call(function, argument)
    return Call(function, argument) if degree is None else hermite(degree, argument)


def substitute(node: Expression, replacements: Sequence[Expression]) -> Expression:
    """The expression with variable k replaced by ``replacements[k]``."""
    match node:
        case Number():
            return node
        case Variable(index):
            return replacements[index]
        case Call(function, argument):
            return call(function, substitute(argument, replacements))
        case Sum(terms):
            return add(*(substitute(t, replacements) for t in terms))
        case Product(factors):
            return multiply(*(substitute(f, replacements) for f in factors))
        case Power(base, exponent):
            return raise_to(substitute(base, replacements), exponent)


def parts_of(node: Expression) -> tuple[Expression, ...]:
    """The expressions that a node is made of: none for a number or a variable."""
    match node:
        case Call(_, part) | Power(part, _):
            return (part,)
        case Sum(parts) | Product(parts):
            return parts
    return ()


def variables(node: Expression) -> frozenset[int]:
    """Indices of the variables an expression mentions."""
    if isinstance(node, Variable):
        return frozenset({node.index})
    return frozenset().union(*map(variables, parts_of(node)))


def brief(value: int | Fraction) -> str:
    """Shortest text of a number that reads back to the same float."""
    if value.denominator == 1 and -(10**16) < value < 10**16:
        return str(value.numerator)
    try:
        return repr(float(value))
    except OverflowError:
        return "out of range"


def format_expression(node: Expression, names: Callable[[int], str] | None = None) -> str:
    """Text of an expression, which ``parse`` reads back to the same function."""
    name = names or (lambda index: f"x{index + 1}")

    def bracket(text: str, needed: bool) -> str:
        return f"({text})" if needed else text

    # level: 0 inside a sum or parentheses, 1 inside a product, 2 the base of a power.
    def write(node: Expression, level: int) -> str:
        match node:
            case Number(value):
                return bracket(brief(value), value < 0 and level > 0)
            case Variable(index):
                return name(index)
            case Call(function, argument):
                return f"{function}({write(argument, 0)})"
            case Sum(terms):
                text = " + ".join(write(term, 0) for term in terms).replace("+ -", "- ")
                return bracket(text, level > 0)
            case Product((Number(value), *rest)) if value < 0:
                positive = write(multiply(Number(-value), *rest), 1)
                return bracket(f"-{positive}", level > 0)
            case Product(factors):
                text = "*".join(write(factor, 1) for factor in factors)
                return bracket(text.replace("*1/", "/"), level > 1)
            case Power(base, exponent) if exponent == -1:
                return bracket(f"1/{write(base, 2)}", level > 1)
            case Power(base, exponent):
                return bracket(f"{write(base, 2)}^{write(Number(exponent), 1)}", level > 1)

    return write(node, 0)
