"""Derivatives of expressions in one variable."""

from __future__ import annotations

from giantstep.language.expression import (
    ONE,
    ZERO,
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
    add,
    hermite,
    multiply,
    raise_to,
    substitute,
)
from giantstep.language.functions import FUNCTIONS, hermite_degree
from giantstep.language.parser import parse


def differentiate(node: Expression) -> Expression:
    """Derivative of an expression in z, almost everywhere."""
    match node:
        case Number():
            return ZERO
        case Variable():
            return ONE
        case Call(function, argument):
            degree = hermite_degree(function)
            if degree is not None:
                # He_k' = k He_{k-1}
                outer = multiply(Number(degree), hermite(degree - 1, argument))
            else:
                rule = parse(FUNCTIONS[function].derivative, function, variable="z")
                outer = substitute(rule, (argument,))
            return multiply(outer, differentiate(argument))
        case Sum(terms):
            return add(*(differentiate(term) for term in terms))
        case Product(factors):
            return add(
                *(
                    multiply(*factors[:i], differentiate(factor), *factors[i + 1 :])
                    for i, factor in enumerate(factors)
                )
            )
        case Power(base, exponent):
            return multiply(Number(exponent), raise_to(base, exponent - 1), differentiate(base))
