"""Evaluation of expressions."""

import gc
import math
import weakref
from collections.abc import Sequence

import numpy as np
import pytest

from giantstep.language.expression import Call, Expression, Number, Power, Product, Sum, Variable
from giantstep.language.functions import FUNCTIONS, NUMPY, hermite_at, hermite_degree
from giantstep.language.parser import parse
from giantstep.language.program import Program, evaluate


def test_an_evaluation_lets_go_of_its_arrays() -> None:
    """Without a collection of cycles: large arrays must not wait for one."""
    x = np.linspace(0.0, 1.0, 3)
    alive, node = weakref.ref(x), parse("tanh(x1)^2 + x1*He2(x1)")
    gc.disable()
    try:
        values = evaluate(node, [x])
        np.testing.assert_allclose(values, np.tanh(x) ** 2 + x * (x**2 - 1))
        del x
        assert alive() is None
    finally:
        gc.enable()


def read_off(node: Expression, x: Sequence[np.ndarray]) -> np.ndarray:
    """The value of an expression straight from its tree."""
    match node:
        case Number(value):
            return np.float64(value)
        case Variable(index):
            return x[index]
        case Call(function, argument):
            inner, degree = read_off(argument, x), hermite_degree(function)
            return (
                FUNCTIONS[function].value(NUMPY, inner)
                if degree is None
                else hermite_at(degree, inner)
            )
        case Sum(terms):
            return sum(read_off(term, x) for term in terms)
        case Product(factors):
            return math.prod(read_off(factor, x) for factor in factors)
        case Power(base, exponent):
            return read_off(base, x) ** float(exponent)


@pytest.mark.parametrize(
    "text",
    [
        "x1",
        "3",
        "x1 + x2/2 - 3*x1*x2",
        "tanh(x1)^2*x2 + tanh(x1)",
        "He3(x1 - x2)",
        "exp(x1)^0.5/x2",
    ],
)
def test_a_program_gives_what_the_tree_says(text: str) -> None:
    node, other = parse(text), parse("x1*x2 + tanh(x1)")
    x = [np.linspace(0.1, 2.0, 7), np.linspace(1.0, 3.0, 7)]
    np.testing.assert_allclose(evaluate(node, x), read_off(node, x), rtol=1e-13)
    both = Program(node, other)(x)
    np.testing.assert_allclose(both[0], read_off(node, x), rtol=1e-13)
    np.testing.assert_allclose(both[1], read_off(other, x), rtol=1e-13)
