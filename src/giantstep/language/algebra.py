"""Expressions multiplied out: exact sums of monomials times products of functions.

A polynomial is the case without functions; its Hermite series is exact.  Coefficients are ints and
Fractions throughout.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from giantstep.language.expression import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
    call,
    multiply,
    raise_to,
)
from giantstep.language.functions import FUNCTIONS, SCALAR, hermite_degree

# One product: powers of the variables, and functions with their powers.
Key = tuple[tuple[int, ...], frozenset[tuple[Expression, int]]]
Terms = dict[Key, int | Fraction]


def multiplied_out(node: Expression, r: int) -> Terms:
    """The expression as a sum of products in r variables."""
    none: frozenset[tuple[Expression, int]] = frozenset()
    match node:
        case Number(value):
            return {((0,) * r, none): value} if value else {}
        case Variable(index):
            return {(tuple(int(k == index) for k in range(r)), none): 1}
        case Sum(parts):
            return _collect(item for part in parts for item in multiplied_out(part, r).items())
        case Product(factors):
            result = multiplied_out(factors[0], r)
            for factor in factors[1:]:
                result = times(result, multiplied_out(factor, r))
            return result
        case Power(base, exponent) if exponent.denominator == 1 and exponent > 0:
            return to_power(multiplied_out(base, r), int(exponent), r)
        case Call(function, argument):
            degree = hermite_degree(function)
            if degree is not None:
                return _hermite_of(degree, multiplied_out(argument, r), r)
            # sign(ab) = sign(a) sign(b) and |ab| = |a| |b| separate the variables.
            if function in ("sign", "abs") and isinstance(argument, Product):
                split = multiply(*(call(function, factor) for factor in argument.factors))
                return multiplied_out(split, r)
            if function in ("sign", "abs") and isinstance(argument, Power):
                inner = call(function, argument.base)
                return multiplied_out(raise_to(inner, argument.exponent), r)
            constant = _constant_call(function, multiplied_out(argument, r))
            if constant is not None:
                return {((0,) * r, none): constant} if constant else {}
    return {((0,) * r, frozenset({(node, 1)})): 1}


def _constant_call(function: str, argument: Terms) -> Fraction | None:
    """The value of a function whose argument has cancelled to a constant, None for any other."""
    if any(functions or any(powers) for powers, functions in argument):
        return None
    try:
        value = FUNCTIONS[function].value(SCALAR, float(sum(argument.values())))
    except (ArithmeticError, ValueError):  # outside its domain: left to whoever evaluates it
        return None
    return Fraction(value) if math.isfinite(value) else None


def _collect(items: Iterable[tuple[Key, int | Fraction]]) -> Terms:
    total: Terms = {}
    for key, value in items:
        total[key] = total.get(key, 0) + value
    return {key: value for key, value in total.items() if value}


def _merge_keys(a: Key, b: Key) -> Key:
    powers = tuple(map(int.__add__, a[0], b[0]))
    if not a[1] or not b[1]:
        return powers, a[1] or b[1]
    functions = dict(a[1])
    for function, power in b[1]:
        functions[function] = functions.get(function, 0) + power
    return powers, frozenset(functions.items())


def times(a: Terms, b: Terms) -> Terms:
    """Product of two sums of products."""
    return _collect((_merge_keys(ka, kb), va * vb) for ka, va in a.items() for kb, vb in b.items())


def to_power(terms: Terms, exponent: int, r: int) -> Terms:
    result: Terms = {((0,) * r, frozenset()): 1}
    for _ in range(exponent):
        result = times(result, terms)
    return result


def _hermite_of(degree: int, x: Terms, r: int) -> Terms:
    # He_{k+1}(x) = x He_k(x) - k He_{k-1}(x)
    previous: Terms = {}
    current: Terms = {((0,) * r, frozenset()): 1}
    for k in range(degree):
        lowered = [(key, -k * value) for key, value in previous.items()]
        previous, current = current, _collect([*times(x, current).items(), *lowered])
    return current
