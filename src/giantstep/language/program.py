"""Expressions as a list of operations, each subexpression once: read once, evaluated often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import add, mul
from typing import Any

from giantstep.language.expression import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
)
from giantstep.language.functions import FUNCTIONS, NUMPY, Namespace, hermite_at, hermite_degree

Operation = Callable[[list[Any], Sequence[Any], Namespace], Any]
"""What an operation makes of the results so far, the variables and the namespace."""


class Program:
    """Some expressions, evaluated together on arrays (or numbers) for the variables.

    The reading of the tree is done once, which for small arrays takes longer than the arithmetic.
    """

    def __init__(self, *expressions: Expression) -> None:
        self.expressions = expressions
        self.places: dict[Expression, int] = {}
        self.constants: list[Any] = []
        self.operations: list[tuple[int, Operation]] = []
        self.results = [self._place(expression) for expression in expressions]

    def __reduce__(self) -> tuple[type[Program], tuple[Expression, ...]]:
        return Program, self.expressions

    def __call__(self, values: Sequence[Any], namespace: Namespace = NUMPY) -> list[Any]:
        results = self.constants.copy()
        for place, operation in self.operations:
            results[place] = operation(results, values, namespace)
        return [results[place] for place in self.results]

    def _place(self, node: Expression) -> int:
        """Where the results hold a subexpression, its operations being added if they are new."""
        if node not in self.places:
            operation = self._operation(node)
            self.places[node] = len(self.constants)
            if operation is None:
                assert isinstance(node, Number)
                self.constants.append(float(node.value))
            else:
                self.operations.append((len(self.constants), operation))
                self.constants.append(None)
        return self.places[node]

    def _operation(self, node: Expression) -> Operation | None:
        match node:
            case Number():
                return None
            case Variable(index):
                return lambda results, values, m: values[index]
            case Call(function, argument):
                inner, degree = self._place(argument), hermite_degree(function)
                if degree is not None:
                    return lambda results, values, m: hermite_at(degree, results[inner])
                value_of = FUNCTIONS[function].value
                return lambda results, values, m: value_of(m, results[inner])
            case Sum(parts):
                return self._folded(add, parts)
            case Product(parts):
                return self._folded(mul, parts)
            case Power(base, exponent):
                inner = self._place(base)
                # An integer power stays one: pow with a float exponent is slow, and NaN below 0.
                integer = exponent.denominator == 1
                power = int(exponent) if integer else float(exponent)
                return lambda results, values, m: results[inner] ** power

    def _folded(self, combine: Callable[[Any, Any], Any], parts: Sequence[Expression]) -> Operation:
        first, second, *others = [self._place(part) for part in parts]
        if not others:
            return lambda results, values, m: combine(results[first], results[second])

        def folded(results: list[Any], values: Sequence[Any], m: Namespace) -> Any:
            result = combine(results[first], results[second])
            for place in others:
                result = combine(result, results[place])
            return result

        return folded


@lru_cache(maxsize=256)
def _program(node: Expression) -> Program:
    return Program(node)


def evaluate(node: Expression, values: Sequence[Any], namespace: Namespace = NUMPY) -> Any:
    """Value of an expression, ``values[k]`` being the array (or number) of variable k."""
    return _program(node)(values, namespace)[0]
